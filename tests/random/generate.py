#!/usr/bin/env python3
"""Writes random programs of Eigen expressions (see grammar.py) as C++: generate.py FOLDER [--seed N] [--programs N]
[--files N] [--only NUMBER...].

Program NUMBER of a seed is the same however many others there are. A program has inputs of sizes that are known at
compile time, or when it runs, and some statements, each compared with the reference (see program.hpp).
"""
import argparse
import os
import random
import re

import grammar

FORMATS = re.findall(r"FORMAT\((formats::\w+)\)", open(os.path.join(os.path.dirname(__file__), "formats.hpp")).read())


class Production:
    def __init__(self, line, columns):
        cells = [cell.strip() for cell in re.split(r" \| ", line)]
        assert len(cells) == columns, line
        gives, where, weight = cells[:3]
        self.kinds, self.domain = gives.rstrip("*MA"), gives[len(gives.rstrip("*MA")):]
        self.where = [word for word in where.split() if word != "-"]
        self.weight = int(weight)
        self.type = cells[3] if columns == 7 else None
        self.text, self.reference = cells[-3:-1]
        self.adds_floats = self.text.startswith("SUM ")
        self.text = self.text.removeprefix("SUM ")
        self.operands = []
        for operand in cells[-1].split(", ") if cells[-1] != "-" else []:
            name, rest = operand.split(":", 1)
            what, rows, cols = rest.split() if len(rest.split()) == 3 else ("", *rest.split())
            self.operands.append((name, what, rows, cols))


def table(text, columns=6):
    return [Production(line, columns) for line in text.strip().splitlines()]


PLACES, VIEWS = table(grammar.PLACES), table(grammar.VIEWS)
COEFFICIENTS, CONDITIONS = table(grammar.COEFFICIENTS), table(grammar.CONDITIONS)
PRODUCTS, NUMBERS = table(grammar.PRODUCTS), table(grammar.NUMBERS, 7)
STATEMENTS, SHIFTS = table(grammar.STATEMENTS), table(grammar.SHIFTS)
# What is no operation of its own as the last one of an operand: of products, factors, which they take over; of sums of fixed
# point, products, which they add up exactly; of compound assignments the cast to what they store.
TAKEN_OVER = {"product": ("({k} *", "({x} * {k}", "(-{x}"),
              "exact sum": ("({x} * {y})", "{x}.cwiseProduct(", "{x}.cwiseAbs2("),
              "assignment": ("{x}.template cast<S>",), "": ("none",)}


class Input:
    def __init__(self, name, kind, domain, rows, cols, is_strided):
        self.name, self.kind, self.domain, self.rows, self.cols = name, kind, domain, rows, cols
        self.is_strided = is_strided


class Program:
    def __init__(self, seed, number):
        self.random = random.Random(f"{seed} {number}")
        self.number = number
        self.format = self.random.choice(FORMATS)
        self.is_fixed_point = "fixed" in self.format
        self.has_fixed_sizes = self.random.random() < 0.3
        if self.has_fixed_sizes:
            self.sizes = [self.random.choice([1, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9]) for _ in range(3)]
        else:
            self.sizes = ["m", "n", "k", "l"]
        self.inputs, self.declarations, self.body = [], [], []
        self.adds_floats = False
        self.forbidden = None  # the destination that a statement writes
        for statement in range(1, self.random.randint(2, 4)):
            self.statement(statement)

    # ---- sizes: an int is known at compile time, a text when the program runs
    def size(self):
        return 1 if self.random.random() < 0.25 else self.random.choice(self.sizes)

    def sum_of(self, text, known):
        known_at_compile_time, others = 0, []
        for term in text.split("+"):
            value = known[term] if term in known else int(term)
            if isinstance(value, int):
                known_at_compile_time += value
            else:
                others.append(value)
        if not others:
            return known_at_compile_time
        return " + ".join(others + ([str(known_at_compile_time)] if known_at_compile_time else []))

    @staticmethod
    def argument(size):
        return str(size) if isinstance(size, int) else "Dynamic"

    # ---- expressions: a pair of texts, for Eigen and for the reference
    def matches(self, production, kind, domain, rows, cols):
        static = isinstance(rows, int), isinstance(cols, int)
        holds = {
            "row": rows == 1, "tall": rows != 1, "col": cols == 1, "run": not any(static), "fix": all(static), "open": not static[1], "closed": static[1],
            "float": not self.is_fixed_point, "fixed": self.is_fixed_point,
            "drawn": "stochastic" in self.format, "steady": "stochastic" not in self.format,
        }
        return (kind in production.kinds and production.domain in ("", "*", domain) and
                all(holds[word] for word in production.where))

    def pick(self, productions):
        return self.random.choices(productions, [p.weight for p in productions])[0]

    def fill(self, production, kind, domain, rows, cols, operand, more=()):
        """The two texts of a production, with operand(name, kind, domain, rows, cols) for each operand."""
        known = {name: self.random.randint(0, 2) for name in "ijpq"}
        known.update(r=rows, c=cols, k=self.size())
        scalar = {"N": "S", "F": "float", "B": "bool"}[kind]
        values = {
            "r": rows, "c": cols, "R": self.argument(rows), "C": self.argument(cols),
            "k": self.random.choice(grammar.LITERALS), "T": scalar,
            "f": "format_of<bool>()" if kind == "B" else f"reference::format_of<{scalar}>()",
            "n": "reference::format_of<S>()", **{name: known[name] for name in "ijpq"},
        }
        eigen, reference = dict(values), dict(values)
        for name, what, height, width in production.operands:
            if name == "d":
                continue
            of_kind = kind if what[0] == "?" else what[0]
            of_domain = domain if what[1] == "*" else what[1]
            while True:
                eigen[name], reference[name] = operand(of_kind, of_domain, self.sum_of(height, known),
                                                       self.sum_of(width, known))
                if not (production.reference.startswith("part(") and self.is_strided_diagonal(eigen[name])):
                    break
        self.adds_floats |= production.adds_floats and not self.is_fixed_point
        for name, (e, r) in dict(more).items():
            eigen[name], reference[name] = e, r
        write = lambda text, of: re.sub(r"\{([\w.]+)\}", lambda m: str(of[m.group(1)]), text)
        return write(production.text, eigen), write(production.reference, reference)

    def is_strided_diagonal(self, text):
        """Whether an operand is the diagonal of numbers that have no neighbours in memory: Eigen 3.4 finds parts of it in
        other places (Core/Diagonal.h, innerStride() is outerStride() + 1), of floats, too."""
        return (re.search(r"\.diagonal\(\)(\.(array|matrix|transpose)\(\))*$", text) is not None and
                any(i.is_strided for i in self.inputs if re.search(rf"\b{i.name}\.", text)))

    def expression(self, kind, domain, rows, cols, depth, within=""):
        tables = [(VIEWS + PLACES[1:], 3), (COEFFICIENTS, 6), (CONDITIONS, 8), (PRODUCTS, 3)]
        choices = []
        for productions, weight in tables:
            some = [p for p in productions if self.matches(p, kind, domain, rows, cols)
                    and not p.text.startswith(TAKEN_OVER[within])
                    # One coefficient of a product is a number, which is rounded.
                    and not ((rows, cols) == (1, 1) and ("product(" in p.reference or "asDiagonal" in p.text))]
            if some:
                choices.append((some, weight))
        if depth <= 0 or self.random.random() < 0.12 or not choices:
            return self.leaf(kind, domain, rows, cols)
        production = self.pick(self.random.choices([c for c, _ in choices], [w for _, w in choices])[0])
        within = self.operation(production)
        loss = 2 if within == "product" and depth > 2 else 1
        return self.fill(production, kind, domain, rows, cols, lambda *what: self.expression(*what, depth - loss, within))

    def operation(self, production):
        """What takes over some last operations of its operands, or nothing."""
        sums = self.is_fixed_point and re.search(r"\bsums\(", production.reference)
        return "product" if "product(" in production.reference else "exact sum" if sums else ""

    def leaf(self, kind, domain, rows, cols):
        if kind == "B":
            a, b = (self.leaf("N", "A", rows, cols) for _ in "ab")
            text = f"({a[0]} < {b[0]})"
            return (text if domain == "A" else text + ".matrix()",
                    f"compared({a[1]}, reference::relation::less, {b[1]})")
        known = [i for i in self.inputs if (i.kind, i.rows, i.cols) == (kind, rows, cols) and i is not self.forbidden]
        if known and self.random.random() < 0.5:
            chosen = self.random.choice(known)
        else:
            chosen = self.new_input("a", kind, domain, rows, cols)
        return self.seen_as(chosen, domain), f"{chosen.name}.r"

    def seen_as(self, an_input, domain):
        conversion = "" if an_input.domain == domain else ".array()" if domain == "A" else ".matrix()"
        return f"{an_input.name}.x{conversion}"

    def new_input(self, letter, kind, domain, rows, cols):
        name = f"{letter}{len(self.inputs)}"
        if self.random.random() < 0.2:
            domain = "A" if domain == "M" else "M"
        order = "RowMajor" if rows == 1 and cols != 1 else "ColMajor" if cols == 1 and rows != 1 else \
            self.random.choice(["RowMajor", "ColMajor"])
        scalar = {"N": "S", "F": "float", "B": "bool"}[kind]
        matrix = f"{'Matrix' if domain == 'M' else 'Array'}<{scalar}, {self.argument(rows)}, {self.argument(cols)}, {order}>"
        where, stride = self.random.random(), 1
        if kind == "B" or where < 0.65:
            holder = f"plain<{matrix}>"
        elif where < 0.85 or rows == 1 or cols == 1 or self.has_fixed_sizes:
            stride = self.random.choice([1, 1, 2, 3])
            holder = f"mapped<{matrix}, {stride}, {self.random.choice([0, 3])}>"
        else:
            holder = f"referred<{matrix}>"
        self.declarations.append(f"{holder} {name}(s, {rows}, {cols});")
        self.inputs.append(Input(name, kind, domain, rows, cols, stride != 1))
        return self.inputs[-1]

    # ---- statements
    def place(self, kind, domain, rows, cols, depth):
        """A view to write to: its two texts; of the latter, of places. Sets self.forbidden to what it is of."""
        some = [p for p in PLACES[1:] if self.matches(p, kind, domain, rows, cols)
                and not (kind == "F" and "wise().reverse()" in p.text)]  # Eigen 3.4 writes its vectors of floats elsewhere
        if depth <= 0 or not some:
            self.forbidden = self.new_input("d", kind, domain, rows, cols)
            return self.seen_as(self.forbidden, domain), f"places({self.forbidden.name}.r)"
        return self.fill(self.pick(some), kind, domain, rows, cols, lambda *what: self.place(*what, depth - 1))

    def statement(self, number):
        rows, cols = self.size(), self.size()
        depth = self.random.choice([1, 2, 2, 3, 3, 4])

        def operand_of(production, otherwise=""):
            within = self.operation(production)
            return lambda *what: self.expression(*what, min(depth, 2) if within == "product" else depth, within or otherwise)

        kind = self.random.choices("NFB", [6, 2, 1])[0]
        domain = self.random.choice("MA")
        sort = self.random.random()
        if sort < 0.25:
            kind = self.random.choice("NNNB")
            production = self.pick([p for p in NUMBERS if self.matches(p, kind, domain, rows, cols)])
            eigen, reference = self.fill(production, kind, domain, rows, cols, operand_of(production))
            self.body += [f"const {production.type} t{number} = {eigen};",
                          f"check_number(s, {number}, t{number}, {reference}.numbers.at(0));"]
            return
        if sort < 0.35:
            kind = "N" if kind == "B" else kind
            production = self.pick([p for p in SHIFTS if self.matches(p, kind, domain, rows, cols)])
            if "transposeInPlace" in production.text:
                kind = "N"  # Eigen 3.4 takes floats with gaps between them for neighbours
            known = {name: self.random.randint(0, 2) for name in "ijpq"}
            known.update(r=rows, c=cols)
            height, width = next((h, w) for name, _, h, w in production.operands if name == "d")
            if height == "1+i+p" and width == "c":
                known["p"] = 2
            self.forbidden = self.new_input("d", kind, domain, self.sum_of(height, known), self.sum_of(width, known))
            more = {"d.x": (self.seen_as(self.forbidden, domain),) * 2, "d.r": (f"{self.forbidden.name}.r",) * 2,
                    "i": (known["i"],) * 2}
            if "transposeInPlace" in production.text:
                more["d.x"] = (f"{self.forbidden.name}.x",) * 2
        else:
            production = self.pick([p for p in STATEMENTS if self.matches(p, kind, domain, rows, cols)])
            to, at = self.place(kind, domain, rows, cols, self.random.choice([0, 0, 0, 1, 1, 2]))
            more = {"to": (to, to), "at": (at, at), "d.r": (f"{self.forbidden.name}.r",) * 2}
        combines = re.search(r"[-+*/]= ", production.text)
        eigen, reference = self.fill(production, kind, domain, rows, cols,
                                     operand_of(production, "assignment" if combines else ""), more)
        self.body += [f"{eigen};", f"check(s, {number}, {self.forbidden.name}, {reference});"]
        self.forbidden = None

    def source(self):
        sizes = "" if self.has_fixed_sizes else "".join(
            f"  [[maybe_unused]] const Index {name} = s.size({i});\n" for i, name in enumerate(self.sizes))
        lines = "".join(f"  {line}\n" for line in self.declarations + self.body)
        note = "  // sums of floats\n" if self.adds_floats else ""
        text = f"  using S [[maybe_unused]] = scalar<{self.format}>;\n{note}{sizes}{lines}"
        fixed = str(self.has_fixed_sizes).lower()
        return (f"void program_{self.number}(trial& s) {{\n{text}}}\n"
                f"const program entry_{self.number}({self.number}, R\"~(\n{text})~\", program_{self.number}, {fixed});\n\n")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--programs", type=int, default=40)
    options.add_argument("--files", type=int, default=1)
    options.add_argument("--only", type=int, nargs="+")
    given = options.parse_args()
    os.makedirs(given.folder, exist_ok=True)
    numbers = given.only or list(range(given.programs))
    for i in range(given.files):
        programs = "".join(Program(given.seed, number).source() for number in numbers[i::given.files])
        with open(os.path.join(given.folder, f"programs_{i}.cpp"), "w") as file:
            file.write(f"// Seed {given.seed}.\n#include \"random/program.hpp\"\n\nnamespace random_programs {{\n"
                       "using namespace reference;\nusing Eigen::Array, Eigen::Dynamic, Eigen::Matrix;\n"
                       "using Eigen::ColMajor, Eigen::RowMajor, reference::number;\nusing enum reference::relation;\n"
                       f"namespace {{\n\n{programs}}}  // namespace\n}}  // namespace random_programs\n")


if __name__ == "__main__":
    main()
