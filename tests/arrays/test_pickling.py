"""What is pickled here computes the same in a process that has never seen its dialect."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

import castwise as cw
from processes import finished

OWN = """
name = "pocket"
about = "Three dtypes for a small device."
order = "bool int8 int16 float16"
reaches = "bool -> int8; int8 -> int16; int16 -> float16"
casts = "safe"
becomes.lifts = "int -> float16"

[python]
bool = "bool"
int = "int16"
float = "float16"

[ops."*"]
scalars = "weak"
writes.into = "same dtype"

[ops."pow"]
numbers.dtypes_by_array = {int8 = {int = "int16"}}
"""
THERE = """
import pickle, sys
t, v, g, both = pickle.load(open(sys.argv[1], "rb"))
assert t.dialect is v.dialect is g.dialect is both[0].dialect, "one dialect, sent once"
print(t + v, v.assign_add(t), g(t), both[0] + both[1], sep="\\n")
"""


@pytest.fixture
def pocket(tmp_path: Path) -> cw.Dialect:
    path = tmp_path / "pocket.toml"
    path.write_text(OWN, encoding="utf-8")
    dialect = cw.load_dialect(path)
    path.unlink()  # the definition travels, not the name of its file
    return dialect


def twice(x: Any) -> Any:
    return x * 2.5 + x


def test_tensors_variables_and_graphs_take_their_dialect_to_another_process(
    pocket: cw.Dialect, tmp_path: Path
) -> None:
    t = cw.asarray([1, 2, 3], dtype="int8", dialect=pocket)
    v = cw.Variable([1, 2, 3], dtype="int16", dialect=pocket)
    g = cw.trace(twice, "int8[3]", dialect=pocket)
    varied = cw.asarray([1, 2], dtype="int8", dialect=pocket.vary(safe=True))
    (tmp_path / "sent").write_bytes(pickle.dumps((t, v, g, (t, t))))
    done = finished([sys.executable, "-c", THERE, str(tmp_path / "sent")])
    assert done.stdout.splitlines() == [
        "Tensor([2, 4, 6], dtype=int16, dialect=pocket, backend=numpy)",
        "Variable([2, 4, 6], dtype=int16, dialect=pocket, backend=numpy)",
        "Tensor([ 3.5,  7. , 10.5], dtype=float16, dialect=pocket, backend=numpy)",
        "Tensor([2, 4, 6], dtype=int8, dialect=pocket, backend=numpy)",
    ], done.stderr
    assert pickle.loads(pickle.dumps(varied)).dialect is varied.dialect


def test_what_comes_back_computes_with_what_stayed(pocket: cw.Dialect) -> None:
    t = cw.asarray([1, 2, 3], dtype="int8", dialect=pocket)
    back = pickle.loads(pickle.dumps(t))
    assert back._kind is t._kind
    assert (back + t).tolist() == [2, 4, 6]
    graph = cw.trace(twice, t, dialect=pocket)
    assert pickle.loads(pickle.dumps(graph))(t).tolist() == graph(t).tolist() == [3.5, 7, 10.5]


WORKERS = """
import sys
import dask, dask.array as da
import castwise as cw

if __name__ == "__main__":
    pocket = cw.load_dialect(sys.argv[1])
    x = cw.asarray(da.ones(6, dtype="int8", chunks=2), dialect=pocket)
    later = dask.delayed(lambda t: t * 2.5 + t)(cw.asarray([1, 2], dtype="int8", dialect=pocket))
    with dask.config.set(scheduler="processes", num_workers=2):
        print((x * 2.5).tolist())
        (found,) = dask.compute(later)
    assert found.dialect is pocket
    print(found.tolist())
"""


def test_dask_workers_compute_under_a_dialect_they_do_not_know(tmp_path: Path) -> None:
    pytest.importorskip("dask.array")
    script, own = tmp_path / "script.py", tmp_path / "pocket.toml"
    script.write_text(WORKERS, encoding="utf-8")
    own.write_text(OWN, encoding="utf-8")
    done = finished([sys.executable, script, own])
    assert done.stdout == "[2.5, 2.5, 2.5, 2.5, 2.5, 2.5]\n[3.5, 7.0]\n", done.stderr
