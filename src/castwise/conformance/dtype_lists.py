"""Which dtypes a framework takes, so that no dialect leaves one out."""

from __future__ import annotations

from collections.abc import Iterable

from castwise.conformance.questions import SELECTIONS, GridQuestion
from castwise.conformance.recorder import Recorder, ask
from castwise.vocab.notation import NO_KERNEL, REFUSED

# What tells whether a dtype is taken: the first that a framework has.
_TELLING = ("promote_types", "result_type", "can_cast", "where")


def dtypes_taken(recorder: Recorder, names: Iterable[str]) -> tuple[str, ...]:
    """Those of some dtypes that the framework has operands of and promotes with themselves.

    Where only an op can tell, one it has no kernel for is a dtype that is stored and no more.
    """
    telling = next((op for op in _TELLING if op in recorder.scope.forms), None)
    if telling is None:
        return ()
    with recorder.session():
        return tuple(name for name in names if _is_taken(recorder, telling, name))


def _is_taken(recorder: Recorder, op: str, name: str) -> bool:
    array = f"{name}[3]"
    operands = ("bool[3]", array, array) if op in SELECTIONS else (array, array)
    answer = ask(recorder, GridQuestion(op, "function", operands))
    is_run = op not in SELECTIONS or not (answer or "").startswith(NO_KERNEL)
    return answer is not None and not answer.startswith(REFUSED) and is_run
