"""In place: each recorded cell, executed; and who sees what was written."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from recorded_operands import NUMPY, live_operand

import castwise as cw
import cells
from castwise.arrays.apply import update
from castwise.arrays.operators import InPlace
from castwise.catalog import dialect_named
from castwise.comparing.verify import difference_at
from castwise.conformance.recorder import AUGMENTED_OPERATORS, Cell
from castwise.engine.recorded import cell_question
from castwise.engine.writes import rebinds
from castwise.vocab.notation import NO_KERNEL, REFUSED
from castwise.vocab.ops import OPS
from cells import Recorded

# Cells that a framework answers and NumPy, on which they are executed here, cannot compute: ops of
# complex numbers, bits of floats, quotients that stay integers.
NOT_COMPUTED = {
    *[(op, "complex") for op in ("floor_divide", "remainder", "hypot")],
    *[(op, "float") for op in ("bitwise_and", "bitwise_or", "bitwise_xor")],
    *[(op, kind) for op in ("copysign", "div") for kind in ("bool", "int")],
}


def executed(cell: Cell, dialect: cw.Dialect) -> str:
    """What comes of a cell, in the words of the cells."""
    try:
        target, *others = [live_operand(text, dialect) for text in cell.operands]
        if cell.form == "augmented":
            result = AUGMENTED_OPERATORS[cell.op](target, *others)
        else:
            result = update(cell.op, target, *others)
    except cw.PromotionError:
        return REFUSED
    except ZeroDivisionError:  # a number that wraps to zero, which says nothing of dtypes
        return cell.answer.removeprefix(f"{NO_KERNEL}:")
    except ValueError as error:  # a UsageError, or NumPy on negative powers of integers
        return str(error)
    assert NUMPY.dtype_of(result.array) is result.dtype
    return f"{result.dtype}{'*' if result.weak_type else ''}"


def is_as_recorded(cell: Cell, found: str) -> bool:
    lacking = re.search(r"the backend numpy has no (\w+) arrays", found)
    if lacking:  # complex32, where ml_dtypes is too old to have it
        return cw.dtype(lacking[1]) not in NUMPY.dtypes
    if cell.answer.startswith(REFUSED):
        return found == REFUSED
    if found == REFUSED:
        return cell.answer.startswith(NO_KERNEL) or is_not_computed(cell.op, cell.answer)
    if "in place gives the shape" in found:  # frameworks differ in what they write into 0-d
        return cell.operands[0].endswith("[]")
    if "negative integer powers" in found:
        return cell.op == "pow"
    missing = re.search(r"cannot compute (\w+) in (\w+)", found)
    if missing:
        return is_not_computed(*missing.groups())
    return cell.answer == NO_KERNEL or cell.answer.removeprefix(f"{NO_KERNEL}:") == found


def is_not_computed(op: str, dtype: str) -> bool:
    return (op, cw.dtype(dtype).kind) in NOT_COMPUTED


def is_of_tensor(cell: Cell) -> bool:
    """Whether the target of `+=` is a tensor; products of vectors do not fit into one."""
    first = cell.operands[0]
    return first.endswith("]") and not first.startswith("np.") and cell.op != "matmul"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_each_recorded_cell_is_carried_out(cell_file: Recorded) -> None:
    dialect = dialect_named(cell_file.dialect)
    wrong = []
    share = 1 if cells.takes_all else 3
    for number, cell in enumerate(itertools.islice(cell_file.asked(), 0, None, share)):
        is_asked = cell.form == "inplace" or (cell.form == "augmented" and is_of_tensor(cell))
        # If the name is rebound, the plain operator runs, which other tests cover.
        if not is_asked or (
            number % 20 and rebinds(cell_question(cell.op, cell.form, cell.operands, dialect))
        ):
            continue
        found = executed(cell, dialect)
        is_listed = difference_at(dialect.name, cell.op, cell.form, cell.operands)
        if not is_listed and not is_as_recorded(cell, found):
            wrong.append((cell, found))
    cells.fail_where_different(dialect.name, wrong)


def tensor(values: Any, dtype: str, dialect: str = "torch") -> cw.Tensor:
    return cw.asarray(np.asarray(values), dtype=dtype, dialect=dialect)


@pytest.mark.parametrize("op", [op for op in AUGMENTED_OPERATORS if op != "matmul"])
def test_the_operator_and_the_method_do_the_same(op: str) -> None:
    is_bits = op.startswith("bitwise")
    by_operator, by_method = (
        tensor([4, 5, 6], "int16" if is_bits else "float32") for _ in range(2)
    )
    other = tensor([1, 2, 3], "int8")
    expected = cw.apply(op, by_operator, other, form="operator").tolist()
    kept = by_operator
    kept = AUGMENTED_OPERATORS[op](kept, other)
    assert kept is by_operator
    assert getattr(by_method, f"{op}_")(other) is by_method
    assert by_operator.tolist() == by_method.tolist() == expected


def test_methods_take_as_many_operands_as_their_op() -> None:
    t = tensor([-1.0, 4.0, 9.0], "float32")
    t.abs_().sqrt_()
    assert t.tolist() == [1, 2, 3]
    assert t.clamp_(1.5, 2.5).tolist() == [1.5, 2, 2.5]
    assert t.lerp_(tensor([0, 0, 0], "float32"), 0.5).tolist() == [0.75, 1, 1.25]
    assert t.cumsum_().tolist() == [0.75, 1.75, 3]


def test_each_op_whose_result_may_fit_its_first_operand_has_a_method() -> None:
    shaped = {row.name for row in OPS.values() if row.keeps_shape}
    fitting = shaped - {"where"} | {"cumsum", "cumprod", "matmul"}
    methods = {name for name in vars(InPlace) if not name.startswith("__")}
    assert methods == {f"{op}_" for op in fitting}
    for op in fitting:
        assert (
            getattr(cw.Tensor, f"{op}_").__doc__ == f"`{op}` in place; returns the tensor itself."
        )


def test_type_checkers_know_each_of_them() -> None:
    source = ast.parse(textwrap.dedent(inspect.getsource(InPlace)))
    (listed,) = [node for node in ast.walk(source) if isinstance(node, ast.If)]
    told = {n.name for n in ast.walk(listed) if isinstance(n, ast.FunctionDef)} | {
        target.id
        for node in listed.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    assert told == {name for name in vars(InPlace) if not name.startswith("__")}


@pytest.mark.parametrize(
    "write", [lambda t: t.__iadd__(1), lambda t: t.add_(1), lambda t: t.__setitem__(..., 6)]
)
def test_a_view_sees_what_is_written(write: Callable[[cw.Tensor], object]) -> None:
    t = tensor([5, 5, 5], "int8")
    view, alias = t[1:], t
    write(t)
    assert view.tolist() == [6, 6]
    assert alias.tolist() == [6, 6, 6]
    view += 1
    assert t.tolist() == [6, 7, 7]


def test_torch_writes_the_result_into_the_dtype_that_is_there() -> None:
    t = tensor([1, 2, 3], "int8")
    view = t[:2]
    t += tensor([1, 1, 300], "int32")
    assert (t.dtype.name, t.tolist(), view.tolist()) == ("int8", [2, 3, 47], [2, 3])


def test_numpy_writes_within_a_kind_alone() -> None:
    t = tensor([1, 2, 3], "float32", "numpy")
    t += tensor([0.5, 0.5, 0.5], "float64", "numpy")
    assert (t.dtype.name, t.tolist()) == ("float32", [1.5, 2.5, 3.5])


@pytest.mark.parametrize(
    ("dialect", "dtype", "other"),
    [("torch", "int32", 1.5), ("numpy", "int32", 1.5), ("numpy", "float32", 1j),
     ("tensorflow", "int32", tensor([1], "int64", "tensorflow")),
     ("array-api", "float32", tensor([1.0], "float64", "array-api"))],
)  # fmt: skip
def test_what_is_refused_changes_nothing(dialect: str, dtype: str, other: Any) -> None:
    t = tensor([1, 2, 3], dtype, dialect)
    for write in (lambda: t.__iadd__(other), lambda: t.add_(other)):
        with pytest.raises(cw.PromotionError, match=re.escape(f"is not defined in {dialect}: ")):
            write()
    assert (t.tolist(), t.dtype.name) == ([1, 2, 3], dtype)


@pytest.mark.parametrize("dialect", ["jax", "keras", "mindspore", "paddle"])
def test_where_the_name_is_bound_anew_the_old_tensor_is_as_it_was(dialect: str) -> None:
    t = tensor([1, 2, 3], "int32", dialect)
    alias, view = t, t[:1]
    t += 0.5
    assert (t.tolist(), t.dtype.name) == ([1.5, 2.5, 3.5], "float32")
    t += 1  # of the same dtype, and bound anew all the same
    assert (alias.tolist(), alias.dtype.name, view.tolist()) == ([1, 2, 3], "int32", [1])


def test_division_in_tensorflow_gives_a_new_tensor() -> None:
    t = tensor([1, 2, 3], "int32", "tensorflow")
    t /= 2
    assert (t.tolist(), t.dtype.name) == ([0.5, 1, 1.5], "float64")


def test_in_paddle_a_number_is_added_by_the_operator_and_not_by_the_method() -> None:
    t = alias = tensor([1, 2, 3], "float32", "paddle")
    t += 1
    assert (t.tolist(), alias.tolist()) == ([2, 3, 4], [1, 2, 3])
    with pytest.raises(cw.PromotionError):
        alias.add_(1)


@pytest.mark.parametrize("dialect", ["mlx", "megengine"])
def test_where_an_array_becomes_the_result_all_its_names_see_it(dialect: str) -> None:
    t = alias = tensor([1, 2, 3], "int32", dialect)
    t += tensor([0.5, 0.5, 0.5], "float32", dialect)
    assert t is alias
    assert (t.tolist(), t.dtype.name) == ([1.5, 2.5, 3.5], "float32")


def test_in_torch_a_numpy_array_makes_a_new_tensor() -> None:
    t = alias = tensor([1, 2, 3], "int32", "torch")
    t += np.asarray([0.5, 0.5, 0.5], "float32")
    assert (t.tolist(), t.dtype.name) == ([1.5, 2.5, 3.5], "float64")
    assert alias.tolist() == [1, 2, 3]


def test_the_form_is_applied_by_name() -> None:
    t = tensor([1, 2, 3], "int32", "numpy")
    assert cw.apply("add", t, 1, form="augmented") is t
    new = cw.apply("add", tensor([1, 2], "int32", "jax"), 0.5, form="augmented")
    assert new.tolist() == [1.5, 2.5]
    assert cw.apply("add", 1, t, form="augmented").tolist() == [3, 4, 5]
    for options in ({"inplace": True}, {"out": t}, {"alpha": 2}):
        with pytest.raises(cw.UsageError, match="takes no"):
            cw.apply("add", t, 1, form="augmented", **options)
    with pytest.raises(cw.UsageError, match="in place needs a tensor"):
        cw.apply("add", np.ones(2), 1, form="augmented")


@pytest.mark.parametrize("dialect", ["jax", "tensorflow", "paddle", "mlx", "numpy"])
def test_a_variable_is_written_to_and_keeps_its_dtype(dialect: str) -> None:
    v = alias = cw.Variable([1.0, 2.0], dtype="float32", dialect=dialect)
    v += cw.asarray([1.0, 1.0], dtype="float32", dialect=dialect)
    assert v is alias
    assert (v.tolist(), v.dtype.name) == ([2, 3], "float32")


def test_so_does_a_method_with_the_tensor_itself() -> None:
    t = tensor([1, 2, 3], "float16", "paddle")
    view = t[:1]
    assert t.add_(tensor([0.5, 0.5, 0.5], "float32", "paddle")) is t
    assert (t.tolist(), t.dtype.name) == ([1.5, 2.5, 3.5], "float32")
    assert (view.tolist(), view.dtype.name) == ([1], "float16")


@pytest.mark.parametrize("dialect", ["mlx", "jax", "tensorflow", "paddle", "mindspore"])
def test_what_is_not_written_into_may_change_its_shape(dialect: str) -> None:
    t = tensor(1, "int32", dialect)
    t += tensor([1, 2], "int32", dialect)
    assert t.tolist() == [2, 3]


def test_what_is_written_into_keeps_its_shape() -> None:
    written = tensor(1, "int32", "torch")
    with pytest.raises(cw.UsageError, match="add in place gives the shape"):
        written += tensor([1, 2], "int32", "torch")
    assert written.tolist() == 1


def test_operands_that_overlap() -> None:
    t = tensor([1, 2, 3], "int32")
    t += t[::-1]
    assert t.tolist() == [4, 4, 4]


def test_what_is_no_operand_is_left_to_python() -> None:
    t = tensor([1], "int32")
    with pytest.raises(TypeError, match="unsupported operand type"):
        t += "1"  # type: ignore[misc]


def test_a_weak_tensor_takes_its_strength_from_the_result() -> None:
    t = live_operand("float32*[3]", dialect_named("tinygrad"))
    assert t.weak_type
    t += 1
    assert not t.weak_type


def test_an_array_given_to_asarray_is_written_unless_it_is_copied() -> None:
    mine = np.asarray([1.0, 2.0])
    shared, copied = cw.asarray(mine), cw.asarray(mine, copy=True)
    shared += 1
    copied += 5
    assert mine.tolist() == [2, 3]


@pytest.mark.parametrize(
    "program",
    [
        "s = xp.sum(a); v = s[...]; v += 1",
        "s = xp.sum(a); v = s[None]; v *= 2",
        "s = a[0]; v = s[...]; v += 1",
        "s = xp.where(a[0] > 5, a[0], a[0]); v = s[...]; v += 1",
        "s = xp.where(a[0] > 5, a[0], a[0]); s[...] = 7",
        "s = xp.sum(a); s[...] = 7",
        "s = xp.sum(a); s[None] = 7",
        "s = a[0]; s[()] = 7",
        "s = xp.sum(a); s += 1",
    ],
)
def test_a_scalar_of_numpy_is_never_written_to(program: str) -> None:
    found = []
    for xp, a in ((np, np.array([1.0, 2.0])), (cw.array_api, cw.asarray([1.0, 2.0]))):
        names = {"xp": xp, "a": a}
        with cw.use("numpy"):
            try:
                exec(program, names)
                found.append(float(names["s"]))  # type: ignore[arg-type]
            except TypeError:
                found.append("refused")
    assert found[0] == found[1]
