"""Random ops on random arrays, computed by kernels and by the plain path.

    python tests/kernels/random_ops.py --cases 1000000 --seed 3 [--backend torch] [--device cuda:0]

prints each case whose bits differ, and ends with status 1 if there is one.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

import castwise as cw
from castwise.arrays import fusing
from castwise.arrays.apply import Prepared, prepare
from castwise.arrays.calls import raw
from castwise.catalog import use
from castwise.errors import CastwiseError

DIALECTS = (
    "torch",
    "numpy",
    "jax",
    "jax:x64",
    "tensorflow",
    "paddle",
    "mlx",
    "array-api",
    "oneflow",
)
DTYPES = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
    "bfloat16", "float32", "float64", "int4", "uint4", "float8_e4m3fn", "float8_e5m2",
    "float8_e4m3fnuz", "float8_e3m4", "float4_e2m1fn", "float6_e2m3fn", "float8_e8m0fnu",
)  # fmt: skip
TWO = (
    "add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "maximum", "minimum", "eq",
    "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor", "bitwise_and",
    "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "copysign",
    "clamp_min", "clamp_max", "rsub",
)  # fmt: skip
ONE = (
    "abs", "neg", "square", "sign", "floor", "ceil", "trunc", "round", "relu", "reciprocal", "sqrt",
    "isnan", "isinf", "isfinite", "signbit", "logical_not", "bitwise_not",
)  # fmt: skip
THREE = ("where", "clamp")
# Which of two zeros is larger depends on the place of an element in a library's own loop.
_ZEROS_ALIKE = frozenset({"maximum", "minimum", "clamp", "clamp_min", "clamp_max", "relu"})
NUMBERS = (2, -3, 0.5, 1e-3, -0.0, 7.25, 3, 1)
SHAPES = ((), (1,), (7,), (33,), (130,), (3, 5), (4, 1, 6), (2, 3, 4), (2, 1, 3, 2, 2, 3), (0, 3))


class Signature(NamedTuple):
    """An op with its operands: dtypes, or Python numbers."""

    dialect: str
    op: str
    operands: tuple[Any, ...]
    form: str


def signatures(pick: random.Random) -> Iterator[Signature]:
    """Random questions, without end."""
    while True:
        op = pick.choice((*TWO, *TWO, *ONE, *THREE))
        count = 2 if op in TWO else 3 if op in THREE else 1
        operands: list[Any] = [pick.choice(DTYPES) for _ in range(count)]
        if op == "where":
            operands[0] = "bool"
        if count > 1 and pick.random() < 0.25:
            operands[pick.randrange(1, count)] = pick.choice(NUMBERS)
        form = "operator" if pick.random() < 0.5 and op not in THREE else "function"
        yield Signature(pick.choice(DIALECTS), op, tuple(operands), form)


def elements(dtype: str, count: int, rng: np.random.Generator) -> Any:
    """Random elements: any bits, or small numbers, so that ops do something with them."""
    native = np.dtype(getattr(ml_dtypes, dtype, dtype))
    if native.kind == "b":
        return rng.integers(0, 2, count).astype(bool)
    if native.kind in "iu" or dtype.endswith("int4"):
        small = rng.integers(0 if dtype.startswith("u") else -4, 5, count)
    else:
        small = np.round(rng.normal(0, 3, count), 1)
    small = small.astype(np.float32 if dtype.endswith("int4") else small.dtype).astype(native)
    bits = f"u{native.itemsize}"
    width = {"int4": 4, "uint4": 4, "float4": 4, "float6": 6}.get(dtype.partition("_")[0])
    if width:
        wild = rng.integers(0, 1 << width, count, dtype=np.uint8).view(native)
    else:
        wild = rng.integers(0, np.iinfo(bits).max, count, dtype=bits, endpoint=True).view(native)
    return np.where(rng.random(count) < 0.5, small, wild)


def strided(dtype: str, shape: tuple[int, ...], pick: random.Random, rng: Any) -> Any:
    """A random array of a shape: contiguous, transposed, reversed, with gaps, or broadcast."""
    kind = pick.randrange(6)
    if kind == 0 and shape:
        thin = tuple([1 if pick.random() < 0.5 else n for n in shape])
        made = elements(dtype, int(np.prod(thin)), rng).reshape(thin)
        return np.broadcast_to(made, shape) if pick.random() < 0.5 else made
    if kind == 1:
        made = elements(dtype, int(np.prod(shape)), rng).reshape(shape[::-1])
        return made.T
    if kind == 2 and shape:
        wide = (*shape[:-1], shape[-1] * 2 + 1)
        return elements(dtype, int(np.prod(wide)), rng).reshape(wide)[..., 1::2]
    made = elements(dtype, int(np.prod(shape)), rng).reshape(shape)
    if kind == 3 and shape:
        return made[::-1]
    if kind == 4 and shape:  # not aligned
        held = np.empty(made.nbytes + 1, np.uint8)[1:].view(made.dtype).reshape(shape)
        held[...] = made
        return held
    return made


def same_bits(op: str, one: Any, other: Any) -> bool:
    """Whether two arrays are alike in every bit; one NaN is like another."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    one, other = (np.ascontiguousarray(array).reshape(-1) for array in (one, other))
    bits = f"u{one.dtype.itemsize}"
    differ = one.view(bits) != other.view(bits)
    if not differ.any():
        return True
    if one.dtype.kind in "biu":
        return False
    with np.errstate(all="ignore"):
        x, y = (array[differ].astype(np.float64) for array in (one, other))
    is_alike = (np.isnan(x) & np.isnan(y)) | ((x == y) & (op in _ZEROS_ALIKE))
    return bool(is_alike.all())


def on_device(array: Any, device: str, pick: random.Random) -> Any:
    """A tensor of torch on a device: in its order, in the opposite one, or with gaps."""
    kind, order = pick.randrange(3), tuple(range(array.ndim))[::-1]
    moved = array.to(device)
    if kind == 1:
        return moved.permute(order).contiguous().permute(order)
    return moved.unsqueeze(-1).repeat_interleave(2, -1)[..., 0] if kind == 2 else moved


def prepared_for(signature: Signature, backend: str, device: str) -> Prepared | None:
    """The op with a kernel; None if the dialect refuses, or there is no kernel."""
    rng = np.random.default_rng(0)
    try:
        with use(signature.dialect):
            given = [
                cw.asarray(elements(o, 2, rng), backend=backend) if isinstance(o, str) else o
                for o in signature.operands
            ]
            found = prepare(signature.op, tuple(given), signature.form)
    except (CastwiseError, TypeError):
        return None
    return found if found._fused and found._fused.program.on(device) else None


def compare(
    signature: Signature, prepared: Prepared, device: str, pick: random.Random, rng: Any
) -> str | None:
    """What differs for one random case; None if nothing does."""
    shape = pick.choice(SHAPES)
    backend, seen = prepared.backend, prepared.decision.question.operands
    arrays = [
        strided(o, shape[pick.randrange(2) and len(shape) // 2 :], pick, rng)
        if isinstance(o, str) else o
        for o in signature.operands
    ]  # fmt: skip
    with use(signature.dialect):  # which may truncate dtypes
        arrays = [cw.asarray(a, backend=backend.name) if hasattr(a, "dtype") else a for a in arrays]
    given = [raw(a, backend, s) for a, s in zip(arrays, seen, strict=True)]
    if device != "cpu" and backend.name == "torch":
        given = [
            a if s.is_scalar else on_device(a, device, pick)
            for a, s in zip(given, seen, strict=True)
        ]
    fused = prepared._fused
    assert fused
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        try:
            plain = prepared._carefully(*given)
        except (NotImplementedError, RuntimeError):
            return None  # the library lacks a function, and says so
        except CastwiseError as error:
            plain = error
        run = fused.unless_small(lambda *given: None)
        found = run(*given)
    if found is None:
        return None  # an alarm, or an array that kernels leave alone
    if isinstance(plain, CastwiseError):
        return f"{signature}: the plain path raises {plain}"
    one, other = backend.to_numpy(found), backend.to_numpy(plain)
    if same_bits(signature.op, one, other):
        return None
    return f"{signature} {shape}: {arrays} by a kernel: {one} otherwise: {other}"


def run_cases(
    count: int, seed: int, backend: str = "numpy", each: int = 100, seconds: float = 1e9,
    device: str = "cpu",
) -> tuple[Counter[str], list[str]]:  # fmt: skip
    """Compares random cases, `each` of one signature, and gives what was done and what differs."""
    pick, rng = random.Random(seed), np.random.default_rng(seed)
    done: Counter[str] = Counter()
    wrong: list[str] = []
    end = time.monotonic() + seconds
    for signature in signatures(pick):
        if done["cases"] >= count or time.monotonic() > end:
            return done, wrong
        prepared = prepared_for(signature, backend, device)
        if prepared is None:
            continue
        done["signatures"] += 1
        for _ in range(each):
            different = compare(signature, prepared, device, pick, rng)
            done["cases"] += 1
            if different:
                wrong.append(different)
                break
    raise AssertionError  # there are always more


def main() -> None:
    """Compares as many cases as asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--each", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", default="numpy")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=float, default=1e9, help="end after these")
    chosen = parser.parse_args()
    fusing.COSTS.update(cpu=fusing.Costs(0, 0), gpu=fusing.Costs(1, 0))
    done, wrong = run_cases(
        chosen.cases, chosen.seed, chosen.backend, chosen.each, chosen.seconds, chosen.device
    )
    sys.stdout.write("\n".join([*wrong, f"{dict(done)}, {len(wrong)} signatures differ", ""]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
