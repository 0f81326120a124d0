"""Laws every dialect keeps, or declares to break and shows where."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import castwise as cw
import cells
from castwise.engine.plan import Plan, dialect_reach, op_plan
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType, strong_twin
from castwise.vocab.operands import Operand, array_operand, scalar_operand
from castwise.vocab.ops import op as op_named

DIALECTS = cw.dialects()
EXAMPLES = 100 if cells.takes_all else 3  # in each dialect
COMMUTATIVE_OPS = [
    "add", "mul", "maximum", "minimum", "fmax", "fmin", "eq", "ne", "bitwise_and", "bitwise_or",
    "bitwise_xor", "logical_and", "logical_or", "logical_xor", "hypot", "logaddexp", "result_type",
    "promote_types", "matmul", "allclose",
]  # fmt: skip
KEEPING_OPS = ["add", "mul", "maximum", "result_type", "promote_types", "concat", "div", "hypot"]

numbers = st.one_of(
    st.booleans(),
    st.integers(-(2**65), 2**65),
    st.integers(-300, 300),
    st.floats(),
    st.complex_numbers(),
)


def operands_of(dialect: str) -> st.SearchStrategy[Operand]:
    """Arrays, 0-d arrays and Python numbers as the dialect has them."""
    dtypes = st.sampled_from(cw.dialect(dialect).dtypes)
    arrays = st.builds(array_operand, dtypes, st.sampled_from([None, (3,), (), (2, 3)]))
    return arrays | arrays | st.builds(scalar_operand, numbers)


def decided(dialect: str | Dialect, op: str, *operands: Any, **parts: Any) -> DType | None:
    """The result dtype, or None if the dialect refuses."""
    try:
        return cw.resolve(op, *operands, dialect=dialect, **parts).result
    except cw.PromotionError:
        return None


def answered(dialect: Dialect, op: str, *operands: Operand) -> tuple[DType, bool] | None:
    """The result dtype and whether it is weak, or None if the dialect refuses."""
    try:
        decision = cw.resolve(op, *operands, dialect=dialect)
    except cw.PromotionError:
        return None
    return decision.result, decision.is_weak


def plan_in(dialect: str | Dialect, op: str) -> Plan:
    """The dialect's answer for an op, which may have its own edges."""
    return op_plan(op_named(op), cw.dialect(dialect), "function")


@functools.cache
def promoted(dialect: Dialect, a: Operand, b: Operand) -> Operand | None:
    """What two arrays promote to, as an array, which may be a weak one."""
    try:
        decision = cw.resolve("promote_types", a, b, dialect=dialect)
    except cw.PromotionError:
        return None
    return array_of(decision.result, is_weak=decision.is_weak)


def array_of(row: DType, *, is_weak: bool = False) -> Operand:
    """An array; some truncate arrays, and not a dtype by itself."""
    return array_operand(row, (3,), is_weak=is_weak)


# Dialects that do not keep a law like the others, and why. Each entry is checked: a test fails if
# the dialect does keep the law.
OWN_FUNCTION_REFUSES = {  # dtypes that the framework's own function never takes
    ("keras", "result_type"): "float8_e4m3fn float8_e5m2",
    ("megengine", "result_type"): "bfloat16 complex64",
    ("mindspore", "promote_types"): "bfloat16 complex64 complex128",
}
REFUSED_ON_ONE_SIDE = {
    "jax:x64": "uint64 and int8 join 8-bit floats, but not the float64 they make together",
    "jax:explicit-x64": "as in jax:x64",
    "megengine": "integers of unequal signs join where one has become a float before",
    "numpy": "bfloat16, a guest, joins int8 and uint8, but not the int16 they make together",
    "numpy@1": "as in numpy",
    "tensorflow:safe": "int8 and uint8 do not join, but each of them joins int16",
    "tensorflow:np-safe": "as in tensorflow:safe",
    **dict.fromkeys(
        ("torch", "torch:autocast=bfloat16", "torch:autocast=float16"),
        "a bool or an int does not join uint16, but joins what uint16 makes with a float",
    ),
}
# Joined pair by pair, these refuse in one order what they answer in another.
REFUSED_IN_SOME_ORDER = {d: why for d, why in REFUSED_ON_ONE_SIDE.items() if "torch" in d}
# Joined pair by pair, they may end in a dtype that one of three arrays does not reach.
PASSED_OVER = {
    "mindspore": "uint16 with float64 is float32, by exception and whatever is beside them",
    **dict.fromkeys(
        ("torch", "torch:autocast=bfloat16", "torch:autocast=float16"),
        "edges of uint16, uint32 and uint64 end in a float, from where the next pair goes on",
    ),
}
EDGES_OF_ANOTHER = {("megengine", "result_type"): "it joins by NumPy's edges"}
OPERATORS_OF_CASTS = {
    ("tensorflow", "mul"): "a bool tensor times anything is bool",
    ("tensorflow:np-all", "mul"): "as in tensorflow",
    ("tensorflow:np-safe", "mul"): "as in tensorflow",
}

COMMUTATIVE = [d for d in DIALECTS if cw.dialect(d).evidence.laws.is_commutative]


@pytest.mark.parametrize("dialect", COMMUTATIVE)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_the_order_of_two_operands_does_not_matter(dialect: str, data: st.DataObject) -> None:
    one_sided = cw.dialect(dialect).evidence.laws.one_sided.split()
    op = data.draw(st.sampled_from([op for op in COMMUTATIVE_OPS if op not in one_sided]))
    a, b = data.draw(operands_of(dialect)), data.draw(operands_of(dialect))
    form = data.draw(st.sampled_from(["function", "operator"]))
    there, back = (decided(dialect, op, *pair, form=form) for pair in ((a, b), (b, a)))
    assert there is back


@pytest.mark.parametrize(
    "dialect", [d for d in DIALECTS if not cw.dialect(d).evidence.laws.is_commutative]
)
def test_a_dialect_that_is_not_commutative_shows_where(dialect: str) -> None:
    operands = (*cw.dialect(dialect).dtypes, True, 1, 1.5)
    assert any(
        decided(dialect, op, a, b, form="function")
        is not decided(dialect, op, b, a, form="function")
        for op in ("add", "ne")
        for a, b in itertools.combinations(operands, 2)
    )


@pytest.mark.parametrize(
    ("dialect", "op"),
    [(d, op) for d in DIALECTS for op in cw.dialect(d).evidence.laws.one_sided.split()],
)
def test_a_one_sided_op_shows_where(dialect: str, op: str) -> None:
    assert op in COMMUTATIVE_OPS
    operands = (*cw.dialect(dialect).dtypes, 1)
    assert any(
        decided(dialect, op, a, b, form=form) is not decided(dialect, op, b, a, form=form)
        for a, b in itertools.combinations(operands, 2)
        for form in ("operator", "function")
    )


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("op", ["result_type", "promote_types"])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_a_dtype_with_itself_is_itself(dialect: str, op: str, count: int) -> None:
    spoken = cw.dialect(dialect)
    refused = OWN_FUNCTION_REFUSES.get((dialect, op), "").split()
    shapes = ((3,), (), None) if op == "result_type" else (None,)
    for row, shape in itertools.product(spoken.dtypes, shapes):
        is_whole = shape is None and plan_in(dialect, op).arrays.keeps_dtypes
        own = row if is_whole else truncated(spoken, row)
        own = None if row.name in refused else own
        assert decided(dialect, op, *[array_operand(row, shape)] * count) is own


def truncated(dialect: Dialect, row: DType) -> DType:
    """What arrays of a dtype really are."""
    return dialect.truncations.get(row, row)


@pytest.mark.parametrize("dialect", COMMUTATIVE)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_the_order_of_many_operands_does_not_matter(dialect: str, data: st.DataObject) -> None:
    """Where a dialect joins pair by pair and its pairs are not associative, any order of three may
    answer otherwise, as its witness shows."""
    spoken = cw.dialect(dialect)
    at_most = 2 if spoken.joining.folds and spoken.evidence.laws.associativity_witness else 5
    operands = data.draw(st.lists(operands_of(dialect), min_size=2, max_size=at_most))
    shuffled = data.draw(st.permutations(operands))
    results = {decided(dialect, "result_type", *order) for order in (operands, shuffled)}
    if dialect in REFUSED_IN_SOME_ORDER:
        results.discard(None)
        assert len(results) <= 1
    else:
        assert len(results) == 1


@pytest.mark.parametrize("dialect", REFUSED_IN_SOME_ORDER)
def test_what_is_refused_in_some_order_shows_where(dialect: str) -> None:
    assert any(
        None in results and len(results) > 1
        for three in itertools.combinations(cw.dialect(dialect).dtypes, 3)
        for results in [
            {decided(dialect, "result_type", *o) for o in itertools.permutations(three)}
        ]
    )


def sides(
    dialect: Dialect, a: Operand, b: Operand, c: Operand
) -> tuple[Operand | None, Operand | None]:
    """(a with b) with c, and a with (b with c); None if a step is refused."""
    left, right = promoted(dialect, a, b), promoted(dialect, b, c)
    return (
        promoted(dialect, left, c) if left else None,
        promoted(dialect, a, right) if right else None,
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_promotion_is_associative_or_the_witness_shows_that_it_is_not(dialect: str) -> None:
    spoken = cw.dialect(dialect)
    bracketed = [
        ((str(a.dtype), str(b.dtype), str(c.dtype)), sides(spoken, a, b, c))
        for a, b, c in itertools.product(map(array_of, spoken.dtypes), repeat=3)
    ]
    differing = [three for three, (left, right) in bracketed if left and right and left != right]
    if spoken.evidence.laws.associativity_witness is None:
        assert differing == []
    else:
        assert spoken.evidence.laws.associativity_witness in differing
    is_refused_on_one_side = any(
        (left is None) != (right is None) for _, (left, right) in bracketed
    )
    assert is_refused_on_one_side == (dialect in REFUSED_ON_ONE_SIDE)


def is_reached(dialect: str, op: str, form: str, dtypes: list[DType]) -> bool:
    """Whether all arrays reach the result, or what the op then turns into it, as division does with
    integers; refusals, and the pairs that are exceptions to the edges, aside."""
    arrays = [truncated(cw.dialect(dialect), d) for d in dtypes]
    result = decided(dialect, op, *[array_operand(d, (3,)) for d in arrays], form=form)
    plan = plan_in(dialect, op)
    if result is None or frozenset(arrays) in plan.joins.pairs:
        return True
    joins = [result, *[joined for joined, made in plan.converts.items() if made is result]]
    return any(all(plan.reach.reaches(d, joined) for d in arrays) for joined in joins)


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_every_array_reaches_the_result(dialect: str, data: st.DataObject) -> None:
    op = data.draw(
        st.sampled_from([o for o in KEEPING_OPS if (dialect, o) not in EDGES_OF_ANOTHER])
    )
    has_operator = op_named(op).symbol and (dialect, op) not in OPERATORS_OF_CASTS
    form = data.draw(st.sampled_from(["function", "operator"] if has_operator else ["function"]))
    takes_many = op in ("result_type", "promote_types", "concat") and dialect not in PASSED_OVER
    dtypes = st.sampled_from(cw.dialect(dialect).dtypes)
    arrays = data.draw(st.lists(dtypes, min_size=2, max_size=4 if takes_many else 2))
    assert is_reached(dialect, op, form, arrays)


@pytest.mark.parametrize(
    ("dialect", "op", "form", "count"),
    [
        *[(dialect, "result_type", "function", 3) for dialect in PASSED_OVER],
        *[(*of, "function", 2) for of in EDGES_OF_ANOTHER],
        *[(*of, "operator", 2) for of in OPERATORS_OF_CASTS],
    ],
)
def test_a_result_that_not_every_array_reaches_shows_where(
    dialect: str, op: str, form: str, count: int
) -> None:
    dtypes = cw.dialect(dialect).dtypes
    assert not all(
        is_reached(dialect, op, form, list(arrays))
        for arrays in itertools.product(dtypes, repeat=count)
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_join_of_two_dtypes_is_the_first_both_reach(dialect: str) -> None:
    """No node earlier in the dialect's order is reached by both; a weak one is stored as the dtype
    it stands for."""
    spoken = cw.dialect(dialect)
    plan = plan_in(dialect, "promote_types")
    reach = plan.reach
    for a, b in itertools.product(spoken.dtypes, repeat=2):
        joined = promoted(spoken, array_of(a), array_of(b))
        if joined and frozenset((a, b)) not in plan.joins.pairs:  # the exceptions to the edges
            ends = truncated(spoken, a), truncated(spoken, b)
            first = next(n for n in spoken.nodes if all(reach.reaches(end, n) for end in ends))
            assert joined.dtype is stored(spoken, first)


def stored(dialect: Dialect, node: DType) -> DType:
    """The dtype of an array at a node."""
    python = op_plan(op_named("promote_types"), dialect, "function").python
    return (strong_twin(node) or python[node.kind]) if node.is_weak else node


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_reaches_keeps_its_kind_or_rises(dialect: str) -> None:
    spoken = cw.dialect(dialect)
    reach = dialect_reach(spoken)
    for a, b in itertools.product(spoken.dtypes, repeat=2):
        if reach.reaches(a, b):
            assert a.rank <= b.rank


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_the_explanation_ends_in_the_decided_dtype(dialect: str, data: st.DataObject) -> None:
    op = data.draw(st.sampled_from(["add", "div", "pow", "lt", "maximum", "result_type", "atan2"]))
    operands = data.draw(st.lists(operands_of(dialect), min_size=2, max_size=2))
    result = decided(dialect, op, *operands)
    text = cw.explain(op, *operands, dialect=dialect)
    if result is None:
        assert "\n  Refused: " in text
    else:
        verbs = ("is", "is a weak", "would be", "would be a weak")
        assert text.endswith(tuple([f"The result {verb} {result}." for verb in verbs]))


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_a_cast_goes_from_the_operands_dtype_to_the_compute_dtype(
    dialect: str, data: st.DataObject
) -> None:
    op = data.draw(st.sampled_from(["add", "mul", "maximum", "lt", "result_type"]))
    operands = data.draw(st.lists(operands_of(dialect), min_size=2, max_size=2))
    try:
        decision = cw.resolve(op, *operands, dialect=dialect)
    except cw.PromotionError:
        return
    if not plan_in(dialect, op).arrays.promotes:
        assert not any(cast and cast.source for cast in decision.casts)
        return
    for operand, cast in zip(operands, decision.casts, strict=True):
        if cast is None:
            assert operand.dtype in (None, decision.compute)
        else:
            assert (cast.source, cast.target) == (operand.dtype, decision.compute)


def edges_of(dialect: Dialect) -> list[str]:
    """Each single edge of a dialect on its own line."""
    found = []
    for line in dialect.reaches.replace(";", "\n").splitlines():
        arrow = "=>" if "=>" in line else "->"
        left, _, right = line.partition(arrow)
        found += [f"{a} {arrow} {b}" for a in left.split() for b in right.split()]
    return found


@pytest.mark.parametrize(("number", "dialect"), [*enumerate(DIALECTS)])
def test_no_edge_is_dead(number: int, dialect: str) -> None:
    """Taking any one edge away changes what some op answers for some pair of operands.

    Without --all-cells one edge in thirteen, in each dialect others.
    """
    spoken = cw.dialect(dialect)
    edges = edges_of(spoken)
    ops = ("promote_types", "add", "div", "exp", "matmul")
    arrays = [array_operand(d) for d in spoken.dtypes]
    weak = [strong_twin(node) for node in spoken.nodes if node.is_weak]
    arrays += [array_operand(d, is_weak=True) for d in weak if d]
    numbers = [scalar_operand(number) for number in (1, 1.5, 1j)]
    pairs = list(itertools.product(arrays, [*arrays, *numbers]))
    questions = [(op, *p[: 1 if op == "exp" else 2]) for op in ops for p in pairs]
    whole = functools.cache(functools.partial(answered, spoken))
    dead = []
    for edge in edges if cells.takes_all else edges[number % 13 :: 13]:
        varied = spoken.vary(
            reaches="\n".join(e for e in edges if e != edge),
            joining=replace(spoken.joining, alone=spoken.order),
        )
        source = edge.split()[0]  # with which a change is met early
        nearest = sorted(questions, key=lambda q: q[1].dtype.name != source)
        if all(answered(varied, *question) == whole(*question) for question in nearest):
            dead.append(edge)
    assert edges or not spoken.reaches
    assert dead == []
