#!/ usr / bin / env python3
"""Reads and writes files as Python does, for the tests of files: peer.py COMMANDS, a text of lines

    dump FILE.npy                            prints DESCR SHAPE HEX
    make FILE.npy DESCR SHAPE ORDER HEX      ORDER is C or F
    tensors FILE                             prints NAME DTYPE SHAPE HEX for each tensor, and the metadata
    write FILE [NAME DTYPE SHAPE HEX]...

SHAPE is like 2,3 (- for no dimension), HEX the bytes of the elements, the last index running fastest, in the byte order
of DESCR; for safetensors little-endian (- for none). .npy files by numpy, safetensors by the published layout: eight
bytes of the header's length, a header of JSON, bytes.
"""
import json
import struct
import sys

import numpy


def shape_of(text):
    return () if text == "-" else tuple(int(n) for n in text.split(","))


def text_of(shape):
    return ",".join(str(n) for n in shape) or "-"


def dump(path):
    array = numpy.load(path, allow_pickle=False)
    print(array.dtype.str, text_of(array.shape), array.tobytes("C").hex() or "-")


def make(path, descr, shape, order, data):
    array = numpy.frombuffer(bytes.fromhex(data.strip("-")), dtype=descr).reshape(shape_of(shape))
    numpy.save(path, numpy.asarray(array, order=order))


def tensors(path):
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    metadata = header.pop("__metadata__", {})
    for name in sorted(header):
        entry = header[name]
        begin, end = entry["data_offsets"]
        print(json.dumps(name), entry["dtype"], text_of(entry["shape"]), data[begin:end].hex() or "-")
    print(json.dumps(metadata, sort_keys=True))
    assert (8 + length) % 8 == 0 and len(data) == sum(e["data_offsets"][1] - e["data_offsets"][0] for e in header.values())


def write(path, *words):
    header, data = {}, b""
    for name, dtype, shape, text in zip(*[iter(words)] * 4):
        content = bytes.fromhex(text.strip("-"))
        header[json.loads(name)] = {"dtype": dtype, "shape": list(shape_of(shape)),
                                    "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


if __name__ == "__main__":
    with open(sys.argv[1]) as commands:
        for line in commands:
            command, *arguments = line.split()
            {"dump": dump, "make": make, "tensors": tensors, "write": write}[command](*arguments)
