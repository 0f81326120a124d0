"""The question that a pasted traceback asks: the op, its operands, and the dialect that refused."""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from castwise.catalog import dialect_named, framework_messages
from castwise.rules.dialect import Message, Messages
from castwise.vocab.dtypes import CANONICAL
from castwise.vocab.ops import OPS, SYMBOLS

# What a reader of tracebacks has to know, as plain JSON.
#
# There are two readers, the one below and that of the interactive page. Both read the same
# data: regular expressions of the kind that Python and JavaScript share, and tables of names.

Data: TypeAlias = "Mapping[str, Any]"
# A dtype as a word, "c10::Half", "unsigned char", or as Python shows its class.
_DTYPE = (
    r"(<class '[\w.\[\]]+'>|<dtype: '\w+'>"
    r"|(?:struct |unsigned |signed |long |short )?[A-Za-z_]\w*(?:(?:\.|::)\w+)*(?:<\w+>)?)"
)
_SHAPES = {
    "op": r"([\w/]+(?:\.\w+)*)",
    "operands": r"(.+?)",
    "place": r"(\d{1,2})",
    "number": r"([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?j?)",
    "kind": "(bool|int|float|complex)",
    "any": r"\w+",
}
_SKIPPED = r"[\s\S]{0,4000}?"
_SPECIAL = re.compile(r"[\\^$.*+?()\[\]{}|/]")
# What kernels' names have after the op's.
_ENDINGS = (
    "all", "backward", "cpu", "cuda", "ext", "forward", "impl", "kernel", "lastdim", "mps", "out",
    "reduced", "float", "stub", "v2", "v3", "values", "vml", "with", "gemm",
)  # fmt: skip
# A Python number of a type, in notation.
_KINDS = {"bool": "True", "int": "i*", "float": "f*", "complex": "c*"}


@functools.lru_cache(maxsize=1)
def traceback_data() -> Data:
    """All that a reader needs, ready for `json.dumps`."""
    known = framework_messages()
    return {
        "patterns": [_pattern(m, own.framework) for own in known for m in own.messages],
        "frameworks": {own.framework: _names(own) for own in known},
        "packages": {folder: own.framework for own in known for folder in own.packages.split()},
        "signs": {text: dialect for own in known for text, dialect in own.signs.items()},
        "dtypes": sorted(CANONICAL),
        "ops": {
            name: {"operands": op.arity[0], "most": op.arity[1], "symbol": op.symbol,
                   "condition_first": op.is_condition_first}
            for name, op in OPS.items()
        },
        "symbols": {f"{symbol}{operands}": op for (symbol, operands), op in SYMBOLS.items()},
        "endings": list(_ENDINGS), "kinds": _KINDS,
    }  # fmt: skip


def _pattern(message: Message, framework: str) -> dict[str, Any]:
    pattern, groups = regular_expression(message.template)
    dialect = f"{framework}:{message.mode}" if message.mode else framework
    return {
        "pattern": pattern, "groups": groups, "framework": framework, "dialect": dialect,
        "ops": message.op.split(), "form": message.form or None,
        "operands": message.operands.split(), "in_order": message.is_in_order,
    }  # fmt: skip


def regular_expression(template: str) -> tuple[str, list[str]]:
    """A template as a regular expression, and what its groups mean.

    >>> regular_expression("Found dtype {right} (at #{place})...")[1]
    ['right', 'place']
    """
    parts: list[str] = []
    groups: list[str] = []
    for text, name, _, _ in string.Formatter().parse(template):
        escaped = [_SPECIAL.sub(lambda found: f"\\{found[0]}", part) for part in text.split("...")]
        # A long message may be folded at any of its spaces.
        parts.append(_SKIPPED.join([re.sub(r"\s+", r"\\s+", part) for part in escaped]))
        if name is not None:
            parts.append(_SHAPES.get(name, _DTYPE))
        if name not in (None, "any"):
            groups.append(str(name))
    return "".join(parts), groups


def _names(own: Messages) -> dict[str, Any]:
    """How a framework spells dtypes and ops."""
    naming = dialect_named(own.framework).naming
    aliases = {alias: op for op, words in naming.aliases.items() for alias in words.split()}
    return {
        "dtypes": dict(own.dtypes), "ops": dict(own.ops), "calls": {**aliases, **own.calls},
        "prefixes": naming.prefixes.split(), "runs_on": own.runs_on.split(),
    }  # fmt: skip


# The lines of code that a traceback shows, by Python, IPython, pytest or rich.

# Colours, the ranks of distributed programs, the E of pytest, and the box that rich draws.
_CLUTTER = re.compile(r"\x1b\[[\d;]*m|^\[rank\d+\]: ?|^E {3,}|^[│|] | *[│|] *$", re.MULTILINE)
_ENDS = re.compile(r"\r\n?|[\u2028\u2029]")
_PLAIN = re.compile(r'^ *File "([^"]+)", line \d+|^(\S+\.py):\d+: in ')
_FAILED = re.compile(r"^> {3,}\S")  # of pytest, which names the file below
_PLACE = re.compile(r"(?:^| )(?:File )?(\S+\.py)(?::\d+| in )")
_CELL = re.compile(r"Cell In ?\[|<ipython-input")
_ARROW = re.compile(r"^(?:-+>|❱) *\d+ ?│?([\s│]*\S.*)$")
_MARKS = re.compile(r"^[ ~^]*\^[ ~^]*$")


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of code, and the part of it that failed, where the traceback marks it."""

    file: str
    code: str
    marks: str = ""  # "~~^~~" below the code: as long as it, or shorter


def cleaned(text: str) -> str:
    """A traceback without what terminals and launchers add to it."""
    return _CLUTTER.sub("", _ENDS.sub("\n", text).replace("\u00a0", " "))


def _traceback_frames(text: str) -> list[Frame]:
    """The frames of a cleaned traceback, in its order."""
    lines = text.split("\n")
    frames: list[Frame] = []
    file = ""
    for number, line in enumerate(lines):
        plain, place, arrow = _PLAIN.match(line), _PLACE.search(line), _ARROW.match(line)
        if plain:
            file = plain[1] or plain[2]
            frames.extend(_plain_frame(file, lines[number + 1 : number + 3]))
        elif _FAILED.match(line):
            frames.extend(_plain_frame("", [f" {line[1:]}", *lines[number + 1 : number + 2]]))
        elif arrow:
            frames.append(Frame(file, arrow[1].replace("│", " ").strip()))
        elif place or _CELL.search(line):
            file = place[1] if place else ""
    return frames


def _plain_frame(file: str, lines: list[str]) -> list[Frame]:
    """The frame whose code and marks follow the line with its file."""
    code = lines[0] if lines else ""
    if not code.startswith("    "):
        return []
    indent = len(code) - len(code.lstrip())
    below = lines[1] if len(lines) > 1 and _MARKS.match(lines[1]) else ""
    marks = below[indent:].rstrip()
    return [Frame(file, code.strip(), marks if "^" in marks else "")]


# The op that a line of code calls.

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?j?"
_TOKEN = re.compile(
    r"\"[^\"]*\"|'[^']*'|" + _NUMBER + r"|[A-Za-z_][\w.]*|\*\*=?|//=?|<<=?|>>=?|[-+*/%@&|^]=?"
    r"|[=!<>]=|[~<>()\[\]{},:=.]",
    re.ASCII,
)
_LITERAL = re.compile(rf"-?{_NUMBER}|True|False")
_NAME = re.compile(r"[A-Za-z_][\w.]*", re.ASCII)
_KEYWORD = re.compile(r"(?:return|and|or|not|in|is|if|else|await|yield|assert|lambda|for|while)")
_OPERATOR = re.compile(r"[-+*/%@&|^~<>=!]+")
_ENDS_OPERAND = re.compile(r"[\w)\]}'\"]$", re.ASCII)
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class Call:
    """A call in a line of code."""

    op: str | None  # None: it is none that castwise knows
    form: str  # "operator", "augmented", "function", "inplace" or "out"
    numbers: tuple[str | None, ...] = ()  # its operands that are numbers in the code, in place


def _call_in(frames: list[Frame], data: Data, wanted: list[str], framework: str) -> Call | None:
    """The call that failed. `wanted` are the ops that the message speaks of, if it names some.

    The user's last line of code tells it, or else the framework's lines that it led to.
    """
    # From Python 3.11 on a line without marks failed as a whole.
    has_marks = any(frame.marks for frame in frames)
    outside = [i for i, frame in enumerate(frames) if _file_framework(frame.file, data) is None]
    start = outside[-1] if outside else 0
    for frame in frames[start:]:
        calls = _line_calls(frame, data, framework, has_marks)
        if frame is frames[-1]:  # a function written in Python would have a frame of its own
            calls = [call for call in calls if call.op]
        fitting = [call for call in calls if not wanted or call.op in wanted]
        if len(fitting) == 1 and fitting[0].op:
            # Where it is one of several, what stands beside it may be part of another.
            return fitting[0] if len(calls) == 1 else Call(fitting[0].op, fitting[0].form)
    return None


def _file_framework(file: str, data: Data) -> str | None:
    """The framework that a file is of."""
    found = re.search(r"[\\/](?:site|dist)-packages[\\/](\w+)[\\/]", file)
    return data["packages"].get(found[1]) if found else None


def _line_calls(frame: Frame, data: Data, framework: str, has_marks: bool) -> list[Call]:
    """The ops and other calls of a line of code; the failed one alone, where it is marked."""
    if marked := _marked_operator(frame, data):
        return [marked]
    start = len(frame.marks) - len(frame.marks.lstrip())
    text = frame.code[start : len(frame.marks)] if frame.marks else frame.code
    tokens = _TOKEN.findall(text)
    outer = _outer_call(tokens, data, framework) if has_marks else None
    if outer:
        return [outer]
    found = [_call_at(tokens, place, data, framework) for place in range(len(tokens))]
    return [call for call in found if call]


def _marked_operator(frame: Frame, data: Data) -> Call | None:
    """The operator that the marks point at: `a @ b` with `~~^~~` below it."""
    marks = frame.marks
    if "~" not in marks:
        return None
    start, end = marks.index("^"), marks.rindex("^") + 1
    symbol = frame.code[start:end].strip()
    left = frame.code[len(marks) - len(marks.lstrip()) : start]
    return _operator(symbol, 2, (left.strip(), frame.code[end : len(marks)].strip()), data)


def _operator(symbol: str, count: int, operands: tuple[str, ...], data: Data) -> Call | None:
    form = "operator"
    op = data["symbols"].get(f"{symbol}{count}")
    if op is None and symbol.endswith("="):
        form, op = "augmented", data["symbols"].get(f"{symbol[:-1]}{count}")
    return Call(op, form, tuple(map(_number, operands))) if op else None


def _number(text: str) -> str | None:
    return text if _LITERAL.fullmatch(text) else None


def _call_at(tokens: list[str], place: int, data: Data, framework: str) -> Call | None:
    """The operator or call that a token is; None where it is neither."""
    token, before = tokens[place], tokens[place - 1] if place else ""
    after = tokens[place + 1] if place + 1 < len(tokens) else ""
    if _OPERATOR.fullmatch(token):
        if _ENDS_OPERAND.search(before) and not _KEYWORD.fullmatch(before):
            return _operator(token, 2, (before, after), data)
        return None if _number(after) else _operator(token, 1, (after,), data)
    if after == "(" and _NAME.fullmatch(token) and not _KEYWORD.fullmatch(token):
        return _named_call(tokens, place, data, framework)
    return None


def _outer_call(tokens: list[str], data: Data, framework: str) -> Call | None:
    """The call that the code as a whole is."""
    depth, last = 0, None
    for place, token in enumerate(tokens):
        if depth == 0 and (_OPERATOR.fullmatch(token) or _KEYWORD.fullmatch(token)):
            return None
        if depth == 0 and token in _OPEN:
            last = place
        depth += (token in _OPEN) - (token in _CLOSE)
    if not last or tokens[last] != "(" or not _NAME.fullmatch(tokens[last - 1]):
        return None
    return _named_call(tokens, last - 1, data, framework) if tokens[-1] == ")" else None


def _named_call(tokens: list[str], place: int, data: Data, framework: str) -> Call:
    """A call by name: a framework's function, or a method of an array."""
    receiver, _, name = tokens[place].rpartition(".")
    owner = next((f for f, own in data["frameworks"].items() if receiver in own["prefixes"]), None)
    is_method = owner is None and (bool(receiver) or (place > 0 and tokens[place - 1] == "."))
    if (owner is None and not is_method) or receiver in ("self", "super"):
        return Call(None, "function")
    own = data["frameworks"].get(framework or owner, {"calls": {}})
    op, form = _op_called(name, own["calls"], data)
    given = _arguments(tokens, place + 1)
    is_out = any(words[:2] == ["out", "="] for words in given)
    numbers = [_number("".join(words)) for words in given if "=" not in words]
    if any(words[0] == "[" for words in given):
        numbers = []  # cat([a, b], 0): its operands are those of the list
    in_place = (None, *numbers) if is_method else tuple(numbers)
    return Call(op, "out" if is_out else form, in_place)


def _op_called(name: str, calls: Mapping[str, str], data: Data) -> tuple[str | None, str]:
    """The op of a function's name, and its form; a name such as add_ is in place."""
    op, form = calls.get(name, name), "function"
    if op not in data["ops"] and op.endswith("_"):
        op, form = calls.get(op[:-1], op[:-1]), "inplace"
    return op if op in data["ops"] else None, form


def _arguments(tokens: list[str], start: int) -> list[list[str]]:
    """The tokens of each argument of the call whose bracket opens here."""
    given: list[list[str]] = [[]]
    depth = 1
    for token in tokens[start + 1 :]:
        depth += (token in _OPEN) - (token in _CLOSE)
        if depth == 0:
            break
        if token == "," and depth == 1:
            given.append([])
        else:
            given[-1].append(token)
    return [words for words in given if words]


# The dtypes and ops that the words of an error message mean.

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
    found: str | None = own.get(word) or own.get(tail)
    return tail.lower() if found is None and tail.lower() in data["dtypes"] else found


def _operands_named(words: str, framework: str, data: Data) -> list[str | None]:
    """The operands of a list: dtypes, and Python numbers of a type."""
    operands: list[str | None] = []
    for word in _LISTED.findall(words):
        quoted = _QUOTED.search(word)
        kind = data["kinds"].get(quoted[1]) if quoted and word.startswith("<") else None
        operands.append(kind or dtype_named(word, framework, data))
    return operands


def _ops_named(word: str, framework: str, data: Data) -> list[str]:
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


# The question that a traceback asks.

MOST = 200_000  # characters: of a longer text the end is read, where the error is
UNKNOWN = "?"  # an operand that the traceback does not tell
_PLACES = ("left", "right", "third")
_DTYPES = (*_PLACES, "each", "found", "expected", "computed", "result", "target", "dtype")
_LONGEST = 250
_WRITES = ("augmented", "inplace")


@dataclass(frozen=True, slots=True)
class Read:
    """What a traceback tells. What it does not tell is None: nothing is guessed."""

    sentence: str | None  # the words of the message that it was read from
    dialect: str | None
    op: str | None
    form: str | None = None  # "operator", "augmented", "function", "inplace" or "out"
    operands: tuple[str | None, ...] = ()  # in notation: a dtype, or a Python number
    out: str | None = None  # the dtype of the array that the result is written to
    computed: str | None = None  # the dtype that the op computes in, or gives
    dtype: str | None = None  # the dtype that was asked for: dtype=
    in_order: bool = True  # False: the operands may be the other way round
    other_ops: tuple[str, ...] = ()  # which it may be instead, as far as the message tells

    @property
    def question(self) -> str | None:
        """The op with its operands, in notation; `?` stands for one that is not known."""
        return self._expression([operand or UNKNOWN for operand in self.operands])

    @property
    def nearest(self) -> str | None:
        """A question that a dialect refuses for the same reason: operands that are not known have
        the dtype that the op computes in. None where that is not known either."""
        operands = [operand or self.computed for operand in self.operands]
        return None if None in operands else self._expression([str(o) for o in operands])

    def _expression(self, operands: Sequence[str]) -> str | None:
        if self.op is None:
            return None
        symbol = traceback_data()["ops"][self.op]["symbol"]
        if self.form == "augmented" and symbol:
            return f"{operands[0]} {symbol}= {operands[1]}"
        named = {"out": self.out, "dtype": self.dtype}
        given = [f"{name}={dtype}" for name, dtype in named.items() if dtype]
        if self.form in ("operator", None) and symbol and not given:
            left = f"{operands[0]} " if len(operands) > 1 else ""
            return f"{left}{symbol}{' ' if left else ''}{operands[-1]}"
        name = f"{self.op}_" if self.form == "inplace" else self.op
        return f"{name}({', '.join([*operands, *given])})"

    def as_json(self) -> dict[str, Any]:
        """The same as plain JSON, as the interactive page has it."""
        lists = {"operands": list(self.operands), "other_ops": list(self.other_ops)}
        return {**asdict(self), **lists, "question": self.question, "nearest": self.nearest}


def read_traceback(text: str) -> Read:
    """What an error message, or the traceback that ends in it, tells of an op and its dtypes.

    >>> read = read_traceback("mat1 and mat2 must have the same dtype, but got Float and Half")
    >>> read.dialect, read.question
    ('torch', 'float32 @ float16')
    """
    data = traceback_data()
    text = cleaned(text[-MOST:])
    frames = _traceback_frames(text)
    found = _first_message(text, data)
    framework = _framework(found, frames, text, data)
    wanted = found.ops if found else []
    call = _call_in(frames, data, wanted, framework or "")
    op = call.op if call else next(iter(wanted), None)
    form = (found.pattern["form"] if found else None) or (call.form if call else None)
    operands, out = _operands(found, op, form, call, data)
    if op and len(operands) > data["ops"][op]["most"]:
        op = form = None  # the line of code has one op, and the message is about another
    dtypes = found.dtypes if found else {}
    has_numbers = call is not None and any(call.numbers)
    return Read(
        found.sentence if found else None, _dialect(found, framework, text, data), op, form,
        operands, out, dtypes.get("computed") or dtypes.get("result"), dtypes.get("dtype"),
        in_order=found is None or found.pattern["in_order"] or has_numbers,
        other_ops=() if call else tuple(wanted[1:]),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Found:
    """A message in a text, and what its groups are."""

    pattern: Data
    sentence: str
    groups: dict[str, str]
    dtypes: dict[str, str | None]
    ops: list[str]


def _first_message(text: str, data: Data) -> _Found | None:
    """The first of the patterns that the text has, where it stands last."""
    for pattern in data["patterns"]:
        for match in reversed(list(re.finditer(pattern["pattern"], text, re.ASCII))):
            if found := _found(pattern, match, data):
                return found
    return None


def _found(pattern: Data, match: re.Match[str], data: Data) -> _Found | None:
    """What a match means; None where its words are no dtypes or ops, so that it means nothing."""
    groups = dict(zip(pattern["groups"], match.groups(), strict=True))
    framework = pattern["framework"]
    dtypes = {n: dtype_named(w, framework, data) for n, w in groups.items() if n in _DTYPES}
    ops = pattern["ops"]
    if "op" in groups:
        ops = _ops_named(groups["op"], framework, data)
        if not ops and not dtypes:
            return None
    if dtypes and not any(dtypes.values()):
        return None
    sentence = " ".join(match[0].split())
    if len(sentence) > _LONGEST:  # some list every dtype that a kernel has
        sentence = f"{sentence[:120]} ... {sentence[-80:]}"
    return _Found(pattern, sentence, groups, dtypes, ops)


def _framework(found: _Found | None, frames: list[Frame], text: str, data: Data) -> str | None:
    """Whose rules refused: the framework that the user's code called, where that runs on the one
    whose message it is."""
    inside: list[str] = []
    for frame in reversed(frames):
        framework = _file_framework(frame.file, data)
        if framework is None:
            break
        inside.append(framework)
    called = inside[-1] if inside else None
    if found is None:
        sign = next((d for t, d in data["signs"].items() if t in text), None)
        return called or (sign.partition("@")[0] if sign else None)
    own: str = found.pattern["framework"]
    return called if called and own in data["frameworks"][called]["runs_on"] else own


def _dialect(found: _Found | None, framework: str | None, text: str, data: Data) -> str | None:
    """The dialect: that of the message, or that of which the traceback has a sign."""
    if found and framework == found.pattern["framework"] != found.pattern["dialect"]:
        return str(found.pattern["dialect"])
    signs = [d for t, d in data["signs"].items() if t in text and d.partition("@")[0] == framework]
    return signs[0] if signs else framework


def _operands(
    found: _Found | None, op: str | None, form: str | None, call: Call | None, data: Data
) -> tuple[tuple[str | None, ...], str | None]:
    """The operands, as many as the op has, and the dtype of what is written to."""
    row = data["ops"][op] if op else {"operands": 0, "condition_first": False}
    slots = _slots(found, row, data) if found else []
    target = found.dtypes.get("target") if found else None
    if target and form in _WRITES:
        slots = [target, *slots[1:]]
    if row["condition_first"] and len(slots) > 1:
        # The condition takes no part, and a wrong one has a message of its own.
        slots = ["bool", *slots[-2:]]
    slots += [None] * (row["operands"] - len(slots))
    _put_numbers(slots, call.numbers if call else (), data)
    return tuple(slots), None if form in _WRITES else target


def _slots(found: _Found, row: Data, data: Data) -> list[str | None]:
    """What a message tells of the operands, from the first on."""
    groups, dtypes = found.groups, found.dtypes
    count: int = row["operands"]
    slots: list[str | None] = [None if o == UNKNOWN else o for o in found.pattern["operands"]]
    if "operands" in groups:
        slots = _operands_named(groups["operands"], found.pattern["framework"], data)
    elif "each" in dtypes:
        slots = [dtypes["each"]] * count
    elif "place" in groups:
        place, first = int(groups["place"]), int(row["condition_first"])
        slots = [None] * min(first, place)
        slots += [dtypes["expected"]] * (place - len(slots))
        slots.append(dtypes["found"])
    elif "computed" in dtypes and count == 1:
        slots = [dtypes["computed"]]
    for place, name in enumerate(_PLACES):
        if name in dtypes:
            slots += [None] * (place + 1 - len(slots))
            slots[place] = dtypes[name]
    number = data["kinds"].get(groups.get("kind")) or groups.get("number")
    if number:
        slots += [None] * (2 - len(slots))
        slots[1] = number
    return slots


def _put_numbers(slots: list[str | None], numbers: tuple[str | None, ...], data: Data) -> None:
    """Puts the numbers of the code in their places. A dtype that the message tells stays: some
    frameworks have made an array of the number."""
    for place, number in enumerate(numbers[: len(slots)]):
        if number is None:
            continue
        written = [n for n, slot in enumerate(slots) if slot and slot not in data["dtypes"]]
        other = written[0] if written else place
        if other != place and other < len(numbers) and numbers[other] is None:
            slots[other], slots[place] = slots[place], slots[other]
        if slots[place] not in data["dtypes"]:
            slots[place] = number
