#!/usr/bin/env python3
"""Makes Markdown tables of what narrow_bench measured, of the matrix products and of the worst and the best of every
group, and with matplotlib a picture of all: how many times as fast as Eigen's float.

    report.py RESULTS.json [PICTURE.svg]
"""
import importlib.util
import json
import re
import subprocess
import sys

SIZES = ("64", "256", "1024")
PEERS = ("Eigen", "oneDNN")  # how the names of what is not narrow begin

# What is drawn as points: a colour for each format, a marker for each kind of them.
FORMATS = {"fp16": ("#0072b2", "o"), "bf16": ("#56b4e9", "o"), "fp8_e4m3fn": ("#e69f00", "o"),
           "fp8_e5m2": ("#d55e00", "o"), "fixed<8,4>": ("#009e73", "s"), "fixed<16,8>": ("#66c2a5", "s"),
           "int8": ("#cc79a7", "D"), "bfp<8>": ("#882255", "D")}
# The panels, column by column: title, names of the rows (what is measured is a, of the size z), and the counter.
FORMAT = "(?P<format>[^/ ]+)"
PANELS = (
    (("programs, float -O3 -march=native", f"program/(?P<a>[^/]+)/{FORMAT}", "x_float"),
     ("programs, both -O2", f"program/(?P<a>[^/]+)/{FORMAT}", "x_float_alike"),
     ("programs, both -O2 -march=native", f"program/(?P<a>[^/]+)/{FORMAT}", "x_float_native"),
     ("products of matrices, n =", f"(?:small|gemm)/{FORMAT}/(?P<z>[0-9]+)", "x_float"),
     ("products with few columns or rows", f"skinny/{FORMAT}/(?P<z>[0-9x]+)", "x_float")),
    (("coefficient by coefficient", f"elementwise/(?P<a>[^/]+)/{FORMAT}/(?P<z>L.)", "x_float"),
     ("functions", f"function/(?P<a>[^/]+)/{FORMAT}/(?P<z>L.)", "x_float"),
     ("conversions, beside copying the floats",
      f"(?P<a>convert/float to|convert/to float from|stochastic|quantize|dequantize)(?:/float to)?[/ ]{FORMAT}"
      "(?: to float)?/(?P<z>L.)",
      "x_float")),
    (("fixed sizes", f"fixed_size/(?P<a>[^/]+)/{FORMAT}/(?P<z>[0-9]+)", "x_float"),
     ("matrix times vector", f"gemv/(?P<a>[^/]+)/{FORMAT}/(?P<z>[0-9]+)", "x_float"),
     ("single numbers", f"scalar/(?P<a>[^/]+)/{FORMAT}/(?P<z>[a-z]+)", "x_float"),
     ("inner products and sums", f"(?P<a>dot|sum)/{FORMAT}/(?P<z>[0-9]+)", "x_float"),
     ("products, beside those of oneDNN", f"(?P<a>small|gemm|skinny)/{FORMAT}/(?P<z>[0-9x]+)", "x_onednn")),
)


def measured(results):
    """The rows gemm/FORMAT/SIZE as {format: {size: row}}, of the formats that have every size."""
    formats = {}
    for row in results["benchmarks"]:
        group, name, size = row["name"].split("/")[:3]
        if group == "gemm" and row.get("run_type") == "iteration" and not row.get("error_occurred"):
            formats.setdefault(name, {})[size] = row
    return {name: rows for name, rows in formats.items() if all(size in rows for size in SIZES)}


def digits(x):
    """Two or three significant digits, never in scientific notation."""
    return f"{x:.0f}" if x >= 99.5 else f"{x:.1f}" if x >= 9.95 else f"{x:.2f}" if x >= 0.0995 else f"{x:.1g}"


def cell(row):
    return (f"{digits(row['FLOP/s'] * 1e-9)} ({digits(row['x_float'])}x, "
            f"{row['percent_of_limit']:.{0 if row['percent_of_limit'] >= 0.95 else 1}f} %)")


def table(formats):
    head = ["product of", *(f"n = {size}" for size in SIZES), "limit", "error"]
    lines = [head, ["---"] * len(head)]
    for name, rows in formats.items():
        last = rows[SIZES[-1]]
        lines.append([f"`{name}`", *(cell(rows[size]) for size in SIZES),
                      last["label"].removeprefix("limit: "), f"{last['error']:.0e}" if last["error"] else "0"])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def processor(context):
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = f"{context['mhz_per_cpu']} MHz processor"
    return model


def commit():
    run = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return run.stdout.strip() or "unknown"


def ratios(results):
    """What is drawn as points: {panel: {operation and size: {format: ratio}}}, in the order of PANELS."""
    panels = {title: {} for column in PANELS for title, *_ in column}
    for row in results["benchmarks"]:
        if row.get("run_type") != "iteration" or row.get("error_occurred"):
            continue
        name = row["run_name"].removesuffix("/iterations:1/manual_time")
        for column in PANELS:
            for title, pattern, counter in column:
                match = re.fullmatch(pattern, name)
                if match and match["format"] in FORMATS and counter in row:
                    line = " ".join(part for key, part in match.groupdict().items() if key != "format" and part)
                    panels[title].setdefault(line, {})[match["format"]] = row[counter]
    return panels


def extremes(panels):
    """The worst and the best ratio of every panel and format, and of what."""
    head = ["times as fast as float", *(f"`{name}`" for name in FORMATS)]
    lines = [head, ["---"] * len(head)]
    for title, operations in panels.items():
        cells = []
        for name in FORMATS:
            points = sorted((formats[name], line) for line, formats in operations.items() if name in formats)
            cells.append(" to ".join(f"{digits(ratio)} ({line})" for ratio, line in (points[0], points[-1]))
                         if points else "")
        if any(cells):
            lines.append([title, *cells])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def draw_products(axes, formats):
    """Bars, clustered: how many times as fast as Eigen's float product."""
    ordered = sorted(formats, key=lambda name: not name.startswith(PEERS))
    width = 0.8 / len(SIZES)
    for i, (size, shade) in enumerate(zip(SIZES, ("#a6bddb", "#3690c0", "#034e7b"))):
        axes.bar([x + (i - 1) * width for x in range(len(ordered))],
                 [formats[name][size]["x_float"] for name in ordered], width, color=shade, label=f"n = {size}")
    axes.axhline(1, color="#222222", linewidth=0.8, linestyle="--")
    axes.set_xticks(range(len(ordered)), ordered, rotation=30, ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.7, len(ordered) - 0.3)
    axes.set_title("square products")
    axes.grid(axis="y", color="#dddddd")
    axes.legend(frameon=False)


def draw_points(axes, title, lines, limits):
    """A line for each operation, on it a point for each format; beyond 1, faster than float."""
    for y, points in enumerate(lines.values()):
        axes.plot([min(points.values()), max(points.values())], [y, y], color="#cccccc", linewidth=1, zorder=1)
        for name, ratio in points.items():
            color, marker = FORMATS[name]
            axes.plot(ratio, y, marker, color=color, markersize=5, markeredgewidth=0, zorder=2)
    axes.axvline(1, color="#222222", linewidth=0.8, linestyle="--", zorder=1)
    axes.set_xscale("log")
    axes.set_xlim(*limits)
    ticks = [tick for exponent in range(-4, 4) if limits[0] < (tick := 10.0 ** exponent) < limits[1]]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(lines)), lines)
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.grid(axis="x", color="#dddddd")
    axes.set_title(title)


def draw(panels, formats, caption, path):
    """Every group in one picture: how many times as fast as Eigen's float."""
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    pyplot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "narrow", "font.size": 8, "axes.titlesize": 9,
                            "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False})
    columns = [[(title, panels[title]) for title, *_ in column if panels[title]] for column in PANELS]
    columns = [column for column in columns if column]
    heading = 3.5  # lines that a panel takes beside those of its operations
    height = max((sum(len(lines) + heading for _, lines in column) for column in columns), default=0)
    drawn = [ratio for lines in panels.values() for points in lines.values() for ratio in points.values()]
    limits = (0.7 * min(drawn, default=1), 1.4 * max(drawn, default=1))  # of all panels, so that they compare
    per_line, bars = 0.16, 3.4 if formats else 0.2  # inches
    figure = pyplot.figure(figsize=(13, bars + height * per_line + 0.9))
    whole = figure.get_figheight()
    if formats:
        draw_products(figure.add_axes((0.045, 1 - (bars - 0.6) / whole, 0.945, (bars - 1.2) / whole)), formats)
    width = 1 / max(len(columns), 1)
    for x, column in enumerate(columns):
        top = whole - bars - 0.3
        for title, lines in column:
            tall = len(lines) * per_line
            draw_points(figure.add_axes(((x + 0.38) * width, (top - tall) / whole, 0.59 * width, tall / whole)),
                        title, lines, limits)
            top -= tall + heading * per_line
    handles = [pyplot.Line2D([], [], color=color, marker=marker, linestyle="", label=name)
               for name, (color, marker) in FORMATS.items()]
    figure.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 0.25 / whole),
                  ncol=len(handles), frameon=False)
    figure.text(0.5, 0.12 / whole, caption, ha="center", color="#555555")
    figure.text(0.5, 1 - 0.2 / whole, "Times as fast as Eigen's float, on one core", ha="center", size=11)
    figure.savefig(path, metadata={"Date": None})


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        results = json.load(file)
    context = results["context"]
    caption = ", ".join([processor(context), context["isa"], context["compiler"], f"commit {commit()}"])
    formats = measured(results)
    print(f"\nOne core: {caption}, {context['flags']}.\n\nGFLOP/s (times Eigen's float product, share of the limit), and at n = {SIZES[-1]} "
          "the largest error relative to sum |a||b|, of which most is rounding to the format of the result.\n")
    print(table(formats))
    panels = ratios(results)
    print("\nThe worst and the best of each group; float is -O3 -march=native, where nothing else is said.\n")
    print(extremes(panels))
    if len(sys.argv) > 2:
        if importlib.util.find_spec("matplotlib"):
            draw(panels, formats, caption, sys.argv[2])
            print(f"\nPicture: {sys.argv[2]}")
        else:
            print(f"\nNo picture: {sys.executable} has no matplotlib.")


if __name__ == "__main__":
    main()
