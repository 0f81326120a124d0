"""torch.compile of whole functions on tensors, fake tensors and torch's functions on trees."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import castwise as cw
from castwise import array_api as xp
from processes import finished

torch = pytest.importorskip("torch", "2.13")

Program = Callable[..., Any]
VARIED = cw.dialect("torch").vary(default_float="float64")
DIALECTS = ("torch", "numpy", "numpy@1", "jax", "tensorflow", "paddle", "mlx", "keras", "oneflow")
PROGRAMS: dict[str, Program] = {
    "numbers": lambda t, u: t * 7 + 3,
    "both sides": lambda t, u: (7 - t) * 0.5,
    "two tensors": lambda t, u: t * u - u / t,
    "order": lambda t, u: (t > 1) & (t < u),
    "powers": lambda t, u: t**2 + 2**t,
    "quotients": lambda t, u: t // 2 + t % 2,
    "one operand": lambda t, u: -t + abs(t),
    "a reduction": lambda t, u: cw.apply("sum", t, axis=0),
    "a choice": lambda t, u: cw.apply("where", t > 1, t, 0),
    "a function": lambda t, u: cw.apply("exp", t),
    "a cast": lambda t, u: t.astype("float16") + t.cast(torch.float64),
    "a cast to a dtype that came out": lambda t, u: t.astype((t * u).dtype),
    "another dialect": lambda t, u: t.under("numpy") / 2,
    "an index": lambda t, u: t[1:] + t[0] + t[None, ..., 0],
    "places": lambda t, u: u[cw.asarray(torch.tensor([0, 2]), dialect="torch")],
    "a shape": lambda t, u: t * t.shape[0] + t.ndim,
    "the standard": lambda t, u: xp.concat([xp.sin(u), xp.sort(t), xp.reshape(u, (3,))]),
    "a norm": lambda t, u: xp.linalg.vector_norm(u),
    "torch's functions": lambda t, u: torch.add(torch.relu(u), t),
    "a tensor of torch's": lambda t, u: t * u.array - u.array / t,
    "new tensors": lambda t, u: cw.asarray(u.array, dtype="float16", dialect="torch") / 3,
    "a varied dialect": lambda t, u: cw.asarray(t.array, dialect=VARIED) / 7,
    "bits": lambda t, u: ~t & ~(t > 1),
    "a product": lambda t, u: t @ t,
    "a product with torch's": lambda t, u: t.array @ t + t @ t.array,
}


@pytest.fixture(params=["eager", "aot_eager"])
def compiled(request: pytest.FixtureRequest) -> Iterator[Callable[[Program], Program]]:
    def compile_whole(program: Program) -> Program:
        return torch.compile(program, fullgraph=True, backend=request.param)  # type: ignore[no-any-return]

    torch._dynamo.reset()
    yield compile_whole
    torch._dynamo.reset()


def tensor(values: Any, dtype: str, dialect: str | None = "torch") -> cw.Tensor:
    return cw.asarray(torch.tensor(values, dtype=getattr(torch, dtype)), dialect=dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_array_of_a_compiled_program_is_that_of_the_eager_one(
    compiled: Any, dialect: str
) -> None:
    t = tensor([1, 2, 3], "int32", dialect)
    found = compiled(lambda t: (t * 7 + 3).array)(t)
    assert (found.dtype, found.tolist()) == (torch.int32, [10, 17, 24])


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_compiled_program_gives_what_it_gives_eager(compiled: Any, program: Program) -> None:
    t, u = tensor([1, 2, 3], "int32"), tensor([0.5, 1, 2], "float32")
    found, expected = compiled(program)(t, u), program(t, u)
    assert isinstance(found, cw.Tensor)
    assert (found.dtype, found.dialect) == (expected.dtype, expected.dialect)
    assert found.tolist() == expected.tolist()


def test_what_was_compiled_under_one_dialect_does_not_run_under_another(compiled: Any) -> None:
    t = tensor([1, 2, 3], "int32", None)
    half = compiled(lambda t: (t / 2).array)
    assert half(t).dtype is torch.float32  # by the array it was made from
    with cw.use("numpy"):
        assert half(t).dtype is torch.float64
        beside: list[Any] = []
        thread = threading.Thread(target=lambda: beside.append(half(t).dtype))
        thread.start()
        thread.join(60)
        assert beside == [torch.float32]
    assert half(t).dtype is torch.float32
    cw.set_default("numpy")
    try:
        assert half(t).dtype is torch.float64
    finally:
        cw.set_default(None)


def _in_blocks(t: cw.Tensor) -> Any:
    outside = t / 2
    with cw.use("torch") as chosen:
        inside, name = t / 2, chosen.name
        with cw.use(VARIED):
            innermost = cw.asarray(t.array) / 2
        function = xp.mean(t / 2)
        named = t.dialect.name, cw.current().name
    return outside, inside, innermost, function, t / 2, name, named, t.dialect.name


def _written_in_a_block(t: cw.Tensor) -> Any:
    made = t * 1
    with cw.use("torch"):
        made[0] = 7
        made += 1
        return made, made[1:].astype("float16") / 3


def _left_by_an_error(t: cw.Tensor) -> Any:
    try:
        with cw.use("torch"):
            raise ValueError
    except ValueError:
        return (t / 2,)


@cw.use("torch")
def _decorated(t: cw.Tensor) -> Any:
    return (t / 2,)


@pytest.mark.parametrize(
    "program", [_in_blocks, _written_in_a_block, _left_by_an_error, _decorated]
)
def test_the_dialect_of_a_block_holds_within_it(compiled: Any, program: Program) -> None:
    t = tensor([1, 2, 3], "int32", None)
    whole = compiled(program)
    for around in ("numpy", "torch", "jax"):
        with cw.use(around):
            assert repr(whole(t)) == repr(program(t))


def test_a_product_takes_the_place_of_its_tensor(compiled: Any) -> None:
    def program(t: cw.Tensor) -> Any:
        made = t * 1
        made @= cw.asarray(torch.eye(2), dialect="torch")
        return made

    t = tensor([[1, 2], [3, 4]], "float32")
    assert repr(compiled(program)(t)) == repr(program(t))


def test_operators_of_other_objects_end_a_graph_as_ever() -> None:
    class Other:
        def __invert__(self) -> int:
            return 5

    tensor([1], "int32")  # torch's compiler has learned of tensors
    other = Other()
    program = torch.compile(lambda x: x * ~other, fullgraph=True, backend="eager")
    with pytest.raises(torch._dynamo.exc.Unsupported):
        program(torch.ones(1))


def test_gradients_go_through_what_is_compiled(compiled: Any) -> None:
    w = tensor([1, 2], "float32").requires_grad_()
    compiled(lambda w: (w * w * 3).array.sum())(w).backward()
    assert w.grad is not None
    assert w.grad.tolist() == [6, 12]


def test_numbers_met_while_compiling_are_not_kept(compiled: Any) -> None:
    t = tensor([1, 2], "float32", "jax")
    program = lambda t: (t * 3.375 + 2).array  # noqa: E731 -- as it is compiled
    expected = [5.375, 8.75]
    assert compiled(program)(t).tolist() == expected
    assert program(t).tolist() == expected
    assert compiled(program)(t).tolist() == expected


def _written(t: cw.Tensor) -> Any:
    t += 1
    t[0] = 7
    return t.array


def _bound_twice(t: cw.Tensor) -> Any:
    other = t
    t += 1.5
    return t.array, other.array


def _with_a_view(t: cw.Tensor) -> Any:
    made = t * 2
    view = made[:1]
    made += 1
    made.mul_(3)
    made[1:] = view
    return made.array, view.array


@pytest.mark.parametrize(
    ("program", "dialect"),
    [
        (program, dialect)
        for program in (_written, _bound_twice, _with_a_view)
        for dialect in ("torch", "numpy", "jax", "tensorflow", "mlx")
        if dialect != "jax" or program is _bound_twice  # x[i] = value is refused there
    ],
)
def test_writing_reaches_what_it_reaches_eager(
    compiled: Any, dialect: str, program: Program
) -> None:
    there, given = (tensor([1, 2, 3], "float32", dialect) for _ in range(2))
    arrays = there.array, given.array
    found, expected = compiled(program)(given), program(there)
    for one, other in zip(
        [*found, given.array, arrays[1]], [*expected, there.array, arrays[0]], strict=True
    ):
        assert (one.dtype, one.tolist()) == (other.dtype, other.tolist())


def test_a_result_of_another_dtype_takes_the_place_of_the_tensor(compiled: Any) -> None:
    t = tensor([1, 2], "int32", "mlx")
    found, other = compiled(_bound_twice)(t)
    assert found.tolist() == other.tolist() == t.tolist() == [2.5, 3.5]
    assert t.dtype == cw.dtype("float32")


def test_the_first_tensor_may_be_made_while_compiling() -> None:
    program = (
        "import castwise as cw, torch\n"
        "run = lambda x: (cw.asarray(x, dialect='torch') * 7 + 3).array\n"
        "compiled = torch.compile(run, fullgraph=True, backend='eager')\n"
        "print(compiled(torch.arange(3)).tolist())\n"
    )
    assert finished([sys.executable, "-c", program]).stdout == "[3, 10, 17]\n"


@pytest.mark.parametrize("is_there", [False, True])
def test_bits_may_be_the_first_that_is_compiled(is_there: bool) -> None:
    program = (
        f"import castwise as cw, torch{'._dynamo' if is_there else ''}\n"
        "t = cw.asarray(torch.arange(3), dialect='torch')\n"
        "whole = torch.compile(lambda t: ~t, backend='eager', fullgraph=True)\n"
        "print((~t).tolist(), whole(t).tolist())\n"
    )
    assert finished([sys.executable, "-c", program]).stdout == "[-1, -2, -3] [-1, -2, -3]\n"


FAKE: dict[str, Program] = {
    **{name: PROGRAMS[name] for name in ("numbers", "both sides", "powers", "quotients", "order")},
    "shifts": lambda t, u: t << 1,
    "a sign": lambda t, u: cw.apply("sign", t),
    "a mean": lambda t, u: cw.apply("mean", t),
    "a product": lambda t, u: t @ t,
    "a choice": PROGRAMS["a choice"],
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("dtype", ["int32", "float32", "bfloat16", "uint64", "bool", "complex64"])
def test_fake_tensors_have_the_dtypes_and_shapes_of_real_ones(dialect: str, dtype: str) -> None:
    from torch._subclasses import FakeTensorMode

    def result(program: Program) -> Any:
        t = cw.asarray(torch.ones(3, dtype=getattr(torch, dtype)), dialect=dialect)
        try:
            found = program(t, t)
        except cw.CastwiseError as error:
            return type(error)
        return found.dtype, found.shape, found.dialect

    for program in FAKE.values():
        before = result(program)  # what real ones leave behind is not met by fake ones
        with FakeTensorMode():
            assert result(program) == before
        assert result(program) == before


def test_functions_on_trees_take_tensors() -> None:
    t = tensor([[1, 2], [3, 4]], "float32")
    assert torch.vmap(lambda row: cw.apply("sum", row * 2))(t).tolist() == [6, 14]
    assert torch.func.grad(lambda t: cw.apply("sum", t * t).array)(t).tolist() == [[2, 4], [6, 8]]
    half = torch.utils._pytree.tree_map(lambda array: array.half(), t)
    assert (half.dtype, half.dialect) == (cw.dtype("float16"), t.dialect)
