#!/usr/bin/env python3
"""Makes a Markdown table, and with gnuplot bars in SVG, of the matrix products that narrow_bench measured.

    report.py RESULTS.json [BARS.svg]
"""
import json
import shutil
import subprocess
import sys

SIZES = ("64", "256", "1024")
PEERS = ("Eigen", "oneDNN")  # how the names of what is not narrow begin


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


def draw(formats, caption, path):
    """Bars from 0: how many times as fast as Eigen's float."""
    bars_of = {name: " ".join(str(rows[size]["x_float"]) for size in SIZES) for name, rows in formats.items()}
    groups = [[f'"{name}" {values}' for name, values in bars_of.items() if name.startswith(PEERS) == peers]
              for peers in (True, False)]
    highest = max(row["x_float"] for rows in formats.values() for row in rows.values())
    gap = '"" ' + "0 " * len(SIZES)
    data = "\n".join([*groups[0], gap, *groups[1]])
    bars = ", ".join(f"$data using {i + 2}{':xtic(1)' if i == 0 else ''} title 'n = {size}'"
                     for i, size in enumerate(SIZES))
    script = f"""
$data << EOD
{data}
EOD
set terminal svg size 1000,480 font 'sans-serif,13' background 'white' noenhanced
set output '{path}'
set title "Square matrix products on one core, times as fast as Eigen's float product"
set style data histograms
set style histogram clustered gap 1
set style fill solid noborder
set linetype 1 lc rgb '#a6bddb'
set linetype 2 lc rgb '#3690c0'
set linetype 3 lc rgb '#034e7b'
set xtics rotate by 35 right nomirror scale 0
set ytics nomirror
set grid ytics lc rgb '#dddddd'
set border 3
set key top right reverse Left
set bmargin 8
set label 1 "{caption}" at screen 0.5, screen 0.03 center font ',11' tc rgb '#555555'
set label 2 "others" at first {(len(groups[0]) - 1) / 2}, graph 0.95 center
set label 3 "narrow" at first {len(groups[0]) + (len(groups[1]) + 1) / 2}, graph 0.95 center
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead lc rgb '#222222' dt 2
plot [] [0:{1.2 * highest}] {bars}
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        results = json.load(file)
    context = results["context"]
    caption = ", ".join([processor(context), context["isa"], context["compiler"], context["flags"],
                         f"commit {commit()}"])
    formats = measured(results)
    print(f"\nOne core: {caption}.\n\nGFLOP/s (times Eigen's float product, share of the limit), and at n = {SIZES[-1]} "
          "the largest error relative to sum |a||b|, of which most is rounding to the format of the result.\n")
    print(table(formats))
    if len(sys.argv) > 2 and shutil.which("gnuplot"):
        draw(formats, caption, sys.argv[2])
        print(f"\nBars: {sys.argv[2]}")


if __name__ == "__main__":
    main()
