"""The tables of TensorFlow's RFC 431, transcribed in data/rfc431, in its own short names."""

from __future__ import annotations

import csv
from pathlib import Path

from castwise.vocab.dtypes import DType, dtype

TABLES = Path(__file__).parent / "data" / "rfc431"
SCALARS = {"i*": "1", "f*": "1.5", "c*": "1+1j"}


def read_table(name: str) -> dict[str, dict[str, str]]:
    """A table of the RFC: row -> column -> cell, as written there."""
    with (TABLES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return {row.pop(""): row for row in csv.DictReader(file)}


def meant(short: str) -> DType:
    """The dtype of one of the RFC's short terms. castwise refuses three of them, which NumPy reads
    otherwise."""
    return dtype({"b": "bool", "u8": "uint8", "i8": "int8"}.get(short, short))


def operand(short: str, tensor: str = "{}[3]") -> str:
    """The notation of a row or column: i8 is a tensor of int8, i* a Python int."""
    return SCALARS.get(short) or tensor.format(meant(short))
