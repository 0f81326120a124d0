"""Sentences about a question as templates, which the page fills in with what a person typed.

`{0}` is the first operand as it is written, `{dtype 0}` its dtype, `{size 0}` its size in brackets,
`{value 0}` its number, `{float 0}` and `{int 0}` its number as one, `{in-operator 0}` a complex
number in an operator, where a sum stands in brackets; `{op}` and `{symbol}` are the op's name and
symbol.
"""

from __future__ import annotations

import re

from castwise.engine.decide import role_text
from castwise.report.explorer.groups import OP_NAME, OP_SYMBOL
from castwise.report.explorer.kinds import SIZES
from castwise.vocab.operands import Operand, Scalar, scalar_text

_MARKS = {OP_NAME: "{op}", OP_SYMBOL: "{symbol}"}
_MARKED = re.compile(f"[{''.join(_MARKS)}]")
_SIZED = re.compile(rf"\[([{''.join(SIZES)}])(?:,\1)*\]")
_REAL = r"(?:\d+(?:\.\d+)?(?:e[+-]\d+)?|inf|nan)"
_SUM = rf"-?{_REAL}[+-]{_REAL}j"
# How operands and dtypes are written: (1+2j), np.int8(3), int32*[n], int32, -1.5e+39j.
_WORD = re.compile(
    rf"(?<!\w)\({_SUM}\)|{_SUM}"
    r"|np\.\w+\([^()]*\)|(?:np\.)?[A-Za-z_]\w*\*?(\[[^\[\]]*\])?"
    rf"|-?{_REAL}j?"
)
_LARGEST = 1.7e308


def _numbers(value: Scalar | None) -> dict[str, str]:
    """How a value is written: as it is, and as what Python's numbers become."""
    if isinstance(value, complex):
        return {"value": scalar_text(value), "in-operator": f"({scalar_text(value)})"}
    if value is None or abs(value) > _LARGEST:
        return {} if value is None else {"value": scalar_text(value)}
    as_int = {"int": scalar_text(int(value))} if isinstance(value, bool) else {}
    return {"value": scalar_text(value), **as_int, "float": scalar_text(float(value))}


class Templates:
    """Makes templates of the sentences about some operands, each once."""

    def __init__(self, operands: tuple[Operand, ...]) -> None:
        self._known = {
            f"{operand} is {role_text(operand)}.": f"{{role {place}}}"
            for place, operand in enumerate(operands)
        }
        self._names: dict[str, str] = {}
        put = self._names.setdefault
        for place, operand in enumerate(operands):
            put(str(operand), f"{{{place}}}")
        for place, operand in enumerate(operands):
            if operand.dtype:
                put(operand.dtype.name, f"{{dtype {place}}}")
            for how, text in _numbers(operand.value).items():
                put(text, f"{{{how} {place}}}")

    def of(self, sentence: str) -> str:
        """The template of a sentence."""
        found = self._known.get(sentence)
        if found is None:
            found = self._known[sentence] = self._made(sentence)
        return found

    def _made(self, sentence: str) -> str:
        filled = _WORD.sub(self._filled, sentence)
        sized = _SIZED.sub(lambda found: f"{{size {SIZES.index(found[1])}}}", filled)
        return _MARKED.sub(lambda found: _MARKS[found[0]], sized)

    def _filled(self, word: re.Match[str]) -> str:
        whole, brackets = word[0], word[1]
        if brackets and whole not in self._names:  # an array that an op made of an operand
            dtype = whole.removesuffix(brackets)
            return self._names.get(dtype, dtype) + brackets
        return self._names.get(whole, whole)
