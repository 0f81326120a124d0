"""How operands differ from each other, and what a dialect does with them, in shared phrases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from castwise.vocab.dtypes import KINDS, DType
from castwise.vocab.operands import Operand, Role

_ROLES = tuple(Role)  # in the order they are listed
_NATIVE = (Role.ARRAY, Role.ZERO_D, Role.SCALAR)
_WORDS = {
    Role.ARRAY: "{} array",
    Role.ZERO_D: "0-d {}",
    Role.SCALAR: "Python {}",
    Role.NUMPY_SCALAR: "{} scalar",
}


def in_listed_order(operands: Iterable[Operand]) -> list[Operand]:
    """Arrays first, then 0-d arrays and scalars; low kinds first."""
    return sorted(operands, key=lambda o: (_ROLES.index(o.role), KINDS.index(o.kind)))


def mix_text(operands: Sequence[Operand]) -> str:
    """The kinds and roles of operands.

    >>> from castwise.vocab.notation import parse_operand
    >>> mix_text([parse_operand("int32[3]"), parse_operand("1.5")])
    'int array with Python float'
    """
    kinds = [f"{'weak ' if o.is_weak else ''}{o.kind}" for o in operands]
    if all(o.role is Role.ARRAY for o in operands):
        return f"{' with '.join(dict.fromkeys(kinds))} arrays"
    return " with ".join(
        [_role_text(o.role, kind) for o, kind in zip(operands, kinds, strict=True)]
    )


def _role_text(role: Role, kind: str) -> str:
    words = _WORDS[role.native].format(kind)
    return words if role in _NATIVE else f"{role.value.partition(' ')[0]} {words}"


def treatment(operands: Sequence[Operand], result: DType, written: DType | None = None) -> str:
    """What a dialect does with operands, in the order they are listed, to get its result;
    `written` is the dtype of what is written in place. A verb that ends in "to" or is "makes"
    wants a dtype.

    >>> from castwise.vocab.dtypes import dtype
    >>> from castwise.vocab.notation import parse_operand
    >>> treatment([parse_operand("int32[3]"), parse_operand("float16[3]")], dtype("float16"))
    'keeps the float'
    """
    if written is not None:
        return "keeps the dtype" if result is written else "takes the result's dtype"
    highest = max(operands, key=lambda o: KINDS.index(o.kind)).kind
    rivals = [o.dtype for o in operands if o.kind == highest and o.dtype]
    if result.kind != highest or not rivals:
        return "makes"
    if result in rivals:
        return _kept(result, operands)
    return "widens to" if result.bits > max(d.bits for d in rivals) else "turns to"


def _kept(result: DType, operands: Sequence[Operand]) -> str:
    """What a result is that one of the operands, of the highest kind, had before."""
    owner = next(o for o in operands if o.dtype is result)
    other = next((o for o in operands if o.dtype not in (None, result)), None)
    if other is None or other.dtype is None:
        return "keeps the dtype"
    if other.role is not owner.role:
        return f"takes the {owner.role.value}'s dtype"
    if other.kind != owner.kind:
        return f"keeps the {owner.kind}"
    return f"takes the {'wider' if result.bits > other.dtype.bits else 'other'} one"
