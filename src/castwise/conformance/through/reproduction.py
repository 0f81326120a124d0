"""A question through a transformation as one line of Python, to paste and to report."""

from __future__ import annotations

from castwise.conformance.calls import AUGMENTED_OPERATORS
from castwise.conformance.grid import GridQuestion
from castwise.conformance.operand import read_operand
from castwise.conformance.programs.program import Step
from castwise.conformance.programs.speaker import Framework
from castwise.conformance.programs.spelling import expression
from castwise.conformance.through.transformation import Transformation
from castwise.conformance.through.values import THEN
from castwise.conformance.values.grid import CAST
from castwise.conformance.values.notation import Held, read_held
from castwise.vocab.ops import LAYERS

_NAMES = ("x", "y", "z")


def is_spelled(speaker: Framework, question: GridQuestion) -> bool:
    """Whether a question can be written; the calls of layers say more than a question does."""
    if question.op in LAYERS or len(question.operands) > len(_NAMES):
        return False
    return question.form != "inplace" or "inplace" in speaker.menu.forms.get(question.op, ())


def imports_of(speaker: Framework, transformation: Transformation) -> str:
    """What a program with such lines begins with."""
    return "\n".join(filter(None, ("import operator", speaker.prelude, transformation.imports)))


def reproduction(
    speaker: Framework,
    transformation: Transformation,
    question: GridQuestion,
    *,
    shows_all_dtypes: bool = False,
) -> str | None:
    """The expression whose dtype is in question, or that shows what it declares and what it has;
    None where it has no such form."""
    if not transformation.written or not is_spelled(speaker, question):
        return None
    arrays, words = {}, []
    for name, notation in zip(_NAMES, question.operands, strict=False):
        held = _held(notation)
        if held.dtype is None:
            words.append(str(held))
        else:
            arrays[name] = speaker.array(held)
            words.append(name)
    function = f"lambda {', '.join(arrays)}: {call_text(speaker, question, words)}"
    called = transformation.written.format(f=function, arrays=", ".join(arrays.values()))
    return transformation.dtypes_written.format(r=called) if shows_all_dtypes else called


def call_text(speaker: Framework, question: GridQuestion, words: list[str]) -> str:
    """The call of a question, with a word for each operand."""
    op, form = question.op, question.form
    if op == CAST:
        return speaker.cast(words[0], form.removeprefix("to="))
    if form.startswith(THEN):
        first = call_text(speaker, GridQuestion(op, "function", ()), words[:2])
        second = GridQuestion(form.removeprefix(THEN), "function", ())
        return call_text(speaker, second, [first, *words[2:]])
    if form == "augmented":
        return f"operator.{AUGMENTED_OPERATORS[op].__name__}({', '.join(words)})"
    axis = -1 if op in speaker.menu.need_axes else None
    step = Step("result", op, form, tuple(words), axis=axis)
    return expression(speaker, step)


def _held(notation: str) -> Held:
    """The operand that is asked about: an array that shows no values holds ones."""
    if "=" in notation:
        return read_held(notation)
    spec = read_operand(notation)
    if spec.dtype is None:
        return Held(None, (), (spec.value,))
    count = 1
    for length in spec.shape:
        count *= length
    return Held(f"{spec.dtype}{'*' * spec.is_weak}", spec.shape, (spec.value,) * count)
