"""Shows narrow's scalars as numbers in gdb: `fp16 x` as 0.0999755859 (0x2e66), fixed<8,4> as -2.0625 (0xdf).

In gdb, or in ~/.gdbinit:

    source PREFIX/share/cmake/narrow/narrow_gdb.py       where it is installed, or this file

Elements of Eigen's matrices, of std::vector and of narrow's own structs are shown so, too.
"""
import math
import re

import gdb
import gdb.printing

IEEE, FN, FNUZ, NONE = range(4)  # narrow::specials


def floating_value(code, exponent_bits, mantissa_bits, specials):
    """The number that a code of floating<E, M, specials> stands for."""
    sign_bit = 1 << (exponent_bits + mantissa_bits)
    magnitude = code & (sign_bit - 1)
    top = sign_bit - 1
    infinity = top - ((1 << mantissa_bits) - 1)
    sign = -1.0 if code & sign_bit else 1.0
    if specials == IEEE and magnitude >= infinity:
        return math.copysign(math.inf if magnitude == infinity else math.nan, sign)
    if (specials == FN and magnitude == top) or (specials == FNUZ and code == sign_bit):
        return math.copysign(math.nan, sign)
    bias = (1 << (exponent_bits - 1)) - (0 if specials == FNUZ else 1)
    field, mantissa = divmod(magnitude, 1 << mantissa_bits)
    if field:
        mantissa += 1 << mantissa_bits
    return sign * math.ldexp(mantissa, max(field, 1) - bias - mantissa_bits)


def text(value, code, bits):
    return f"{value:.9g} ({code & ((1 << bits) - 1):#0{2 + (bits + 3) // 4}x})"


class FloatingPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        exponent_bits, mantissa_bits, specials = (int(self.value.type.template_argument(i)) for i in range(3))
        code = int(self.value["bits_"])
        return text(floating_value(code, exponent_bits, mantissa_bits, specials), code, 1 + exponent_bits + mantissa_bits)


class FixedPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        word_length, fraction_length = (int(self.value.type.template_argument(i)) for i in range(2))
        mantissa = int(self.value["mantissa_"])
        return text(math.ldexp(mantissa, -fraction_length), mantissa, word_length)


PRINTERS = gdb.printing.RegexpCollectionPrettyPrinter("narrow")
for name, printer in (("floating", FloatingPrinter), ("fixed", FixedPrinter)):
    PRINTERS.add_printer(name, rf"^narrow::(?:\w+::)?{name}<", printer)  # the namespace between is that of the version
gdb.printing.register_pretty_printer(gdb.current_objfile(), PRINTERS, replace=True)
