"""The dialect of a question: the given or the chosen one, else that of the arrays in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from castwise.errors import UsageError
from castwise.loaded.dialects import dialect_of_loaded
from castwise.loaded.state import version_of_loaded
from castwise.rules.default import DEFAULT, chosen_here, to_dialect
from castwise.rules.dialect import Dialect
from castwise.vocab.live import GUEST, framework_of, is_on_gpu


class Chosen(NamedTuple):
    """A dialect, and a sentence about why where the operands chose it."""

    dialect: Dialect
    because: str = ""


def dialect_chosen(
    dialect: str | Dialect | None, operands: Iterable[Any], function_of: str | None = None
) -> Chosen:
    """The given dialect; else that of `use`, `set_default` or the environment; else that of the
    live arrays, tensors and dtype objects among the operands, and of the framework whose function
    is asked about; else the default.

    Raises UsageError where the operands are of two frameworks, or two dialects.
    """
    chosen = chosen_here() if dialect is None else to_dialect(dialect)
    if chosen is not None:
        return Chosen(chosen)
    operands = list(operands)
    found = {own.name: Chosen(own) for operand in operands if (own := _of_tensor(operand))}
    others = [function_of, *map(framework_of, operands)]
    has_rules = found or any(other not in (None, GUEST) for other in others)
    for framework in dict.fromkeys(filter(None, others)):
        if framework != GUEST or framework == function_of or not has_rules:
            of_framework = _of_framework(framework, any(map(is_on_gpu, operands)))
            found.setdefault(of_framework.dialect.name, of_framework)
    if len(found) > 1:
        one, other = list(found)[:2]
        raise UsageError(
            f"the operands are of {one} and {other}, which decide differently: convert one of "
            f"them, or name the rules that decide, dialect={one!r}."
        )
    return next(iter(found.values()), None) or Chosen(to_dialect(DEFAULT))


def dialect_of_array(thing: Any) -> Dialect | None:
    """The dialect that a live array follows; None for anything else."""
    framework = framework_of(thing)
    return dialect_of_loaded(framework, is_on_gpu=is_on_gpu(thing)).dialect if framework else None


def _of_tensor(operand: Any) -> Dialect | None:
    """The dialect that a tensor of castwise's own carries."""
    is_own = type(operand).__module__.partition(".")[0] == __name__.partition(".")[0]
    found = getattr(operand, "dialect", None) if is_own else None
    return found if isinstance(found, Dialect) else None


def _of_framework(framework: str, on_gpu: bool) -> Chosen:
    found, note = dialect_of_loaded(framework, is_on_gpu=on_gpu)
    version = version_of_loaded(framework)
    if note:
        return Chosen(found, f"The arrays are of {framework} {version}. {note}")
    named = f"{framework} {version}" if version else framework
    return Chosen(found, f"The arrays are of {named}: {found.name} decides.")
