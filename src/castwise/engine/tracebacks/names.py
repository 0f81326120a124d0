"""The dtypes and ops that the words of an error message mean."""

from __future__ import annotations

import re

from castwise.engine.tracebacks.data import Data

_QUOTED = re.compile(r"'([^']*)'")
_IN_BRACKETS = re.compile(r"\[(\w+)\]$")
_LISTED = re.compile(r"<class '[\w.\[\]]+'>|dtype\('[^']+'\)|[A-Za-z_][\w.]*")
_HUMP = re.compile(r"([a-z0-9])([A-Z])")


def dtype_named(words: str, framework: str, data: Data) -> str | None:
    """The dtype that a framework spells so: "c10::Half", "dtype('float16')"; None for no dtype."""
    quoted = _QUOTED.search(words)
    word = (quoted[1] if quoted else words).removeprefix("struct ")
    bracketed = _IN_BRACKETS.search(word)
    word = bracketed[1] if bracketed else word
    tail = re.split(r"\.|::", word)[-1]
    own = data["frameworks"][framework]["dtypes"]
    found = own.get(word) or own.get(tail)
    if found is None and tail.lower() in data["dtypes"]:
        found = tail.lower()
    return found if found is None else str(found)


def operands_named(words: str, framework: str, data: Data) -> list[str | None]:
    """The operands of a list: dtypes, and Python numbers of a type."""
    operands: list[str | None] = []
    for word in _LISTED.findall(words):
        quoted = _QUOTED.search(word)
        kind = data["kinds"].get(quoted[1]) if quoted and word.startswith("<") else None
        operands.append(kind or dtype_named(word, framework, data))
    return operands


def ops_named(word: str, framework: str, data: Data) -> list[str]:
    """The ops that a framework names so in messages: "AddV2", "bitwise_and_cpu". Some of its names
    are of several ops."""
    snake = _HUMP.sub(r"\1_\2", word).lower().strip("_")
    names = [word, word.rpartition(".")[2], word.lower(), snake]
    while "_" in snake and snake.rpartition("_")[2] in data["endings"]:
        snake = snake.rpartition("_")[0]
        names.append(snake)
    own = data["frameworks"][framework]
    for name in names:
        if name in own["ops"]:
            return str(own["ops"][name]).split()
        op = own["calls"].get(name, name)
        if op in data["ops"]:
            return [op]
    return []
