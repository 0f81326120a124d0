"""The user's source: its text at a place, edits of it, and what stands around a place."""

from __future__ import annotations

import ast
import functools
import hashlib
import io
import linecache
import textwrap
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import NamedTuple, TypeAlias

from castwise.auditing.records import Fix, SourceEdit, SourcePlace
from castwise.auditing.rewriting import imported_names

# The text of the user's source at a place.


def source_digest(source: bytes) -> str:
    """What tells one version of a file from another."""
    return hashlib.sha256(source).hexdigest()


def text_at(place: SourcePlace) -> str:
    """The source at a place, its lines joined; empty if the file cannot be read."""
    lines = _bytes_at(place)
    if not any(lines):
        return ""
    lines[-1] = lines[-1][: place.end_column - 1]
    lines[0] = lines[0][place.column - 1 :]
    text = b"".join(lines).decode("utf-8", "replace")
    return " ".join(line.strip() for line in _without_comments(text)) if len(lines) > 1 else text


def _without_comments(text: str) -> list[str]:
    """The lines of an expression without comments, so that they can be joined."""
    lines = text.splitlines()
    try:
        for token in tokenize.generate_tokens(io.StringIO(f"({text})").readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                lines[line - 1] = lines[line - 1][: column - (line == 1)]
    except (tokenize.TokenError, SyntaxError):
        pass
    return lines


def lines_at(place: SourcePlace) -> list[str]:
    """The whole lines of a place, dedented."""
    source = b"".join(_bytes_at(place)).decode("utf-8", "replace")
    return textwrap.dedent(source).rstrip().splitlines()


def columns_at(place: SourcePlace) -> tuple[int, int]:
    """The start and end columns of a place, from 1, in characters as editors count them."""
    first, last = _bytes_at(place)[0], _bytes_at(place)[-1]
    return _characters(first, place.column), _characters(last, place.end_column)


def _characters(line: bytes, column: int) -> int:
    return len(line[: column - 1].decode("utf-8", "replace")) + 1 if line else column


def _bytes_at(place: SourcePlace) -> list[bytes]:
    """The lines as bytes, the unit of a place's columns."""
    numbers = range(place.line, place.end_line + 1)
    return [linecache.getline(place.file, n).encode("utf-8", "replace") for n in numbers]


# Tries changes to the user's source in memory only.

_edits: dict[str, Sequence[SourceEdit]] = {}  # by full path


def try_edits(edits: Mapping[str, Sequence[SourceEdit]]) -> None:
    """Applies changes to files, by full path, whenever their source is read from now on."""
    _edits.update(edits)


def edited(source: bytes, path: str) -> bytes:
    """A source with the changes to its file."""
    return edited_file(source, _edits.get(path, ()))


def edited_file(source: bytes, edits: Sequence[SourceEdit]) -> bytes:
    """The bytes of a file with some changes; its encoding and line ends stay."""
    if not edits:
        return source
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    if encoding == "utf-8":
        return with_edits(source, edits)
    text = source.decode(encoding).encode()  # columns count bytes of UTF-8
    return with_edits(text, edits).decode().encode(encoding)


def with_edits(source: bytes, edits: Sequence[SourceEdit]) -> bytes:
    """A source in UTF-8 with some changes, applied from last to first so that positions stay
    valid."""
    lines = source.splitlines(keepends=True)
    for line, column, end_line, end_column, text in sorted(edits, reverse=True):
        tail = lines[end_line - 1][end_column - 1 :]
        lines[line - 1 : end_line] = [lines[line - 1][: column - 1] + text.encode() + tail]
    return b"".join(lines)


# A change of an expression as changes of its tokens, so that comments and line breaks stay.

_LAYOUT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
           tokenize.ENDMARKER)  # fmt: skip


def edits_at(place: SourcePlace, text: str) -> list[SourceEdit]:
    """The edits that turn the source at a place into a text. The text of several lines is changed
    only where its tokens differ."""
    whole = SourceEdit(place.line, place.column, place.end_line, place.end_column, text)
    if place.line == place.end_line:
        return [whole]
    lines = [linecache.getline(place.file, n) for n in range(place.line, place.end_line + 1)]
    lines[-1] = lines[-1].encode()[: place.end_column - 1].decode()
    lines[0] = lines[0].encode()[place.column - 1 :].decode()
    try:
        old, new = _tokens("".join(lines)), _tokens(text)
    except (tokenize.TokenError, SyntaxError):
        return [whole]
    return [_placed(edit, place, lines) for edit in _changes(old, new, text)]


def _tokens(code: str) -> list[tokenize.TokenInfo]:
    """The tokens of an expression, which brackets allow to have several lines."""
    found = tokenize.generate_tokens(io.StringIO(f"({code}\n)").readline)
    return [token for token in found if token.type not in _LAYOUT][1:-1]


def _changes(
    old: Sequence[tokenize.TokenInfo], new: Sequence[tokenize.TokenInfo], text: str
) -> Iterator[SourceEdit]:
    """The edits, with lines from 1 and columns in characters from 0, both in the old text with a
    bracket before it. `text` is the new one, of one line."""
    names = [token.string for token in old], [token.string for token in new]
    for what, i, j, first, last in SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        begins = new[first - 1].end[1] if first and i else _start(new, first)
        ends = new[last - 1].end[1] if last else begins
        if what == "replace":  # what stands before it stays
            begins = _start(new, first)
        if what == "insert" and not i:
            ends = _start(new, last)
        # What is new follows the token before it, not a comment behind that.
        at = old[i].start if what == "replace" or not i else old[i - 1].end
        upto = at if what == "insert" else old[j - 1].end
        yield SourceEdit(*at, *upto, text[begins - 1 : ends - 1] if what != "delete" else "")


def _start(tokens: Sequence[tokenize.TokenInfo], place: int) -> int:
    return tokens[place].start[1] if place < len(tokens) else tokens[-1].end[1]


def _placed(edit: SourceEdit, place: SourcePlace, lines: Sequence[str]) -> SourceEdit:
    """An edit at its place in the file, with columns in bytes from 1."""

    def column(line: int, characters: int) -> int:
        characters -= line == 1  # the bracket
        before = len(lines[line - 1][:characters].encode())
        return before + (place.column if line == 1 else 1)

    return SourceEdit(
        place.line + edit.line - 1,
        column(edit.line, edit.column),
        place.line + edit.end_line - 1,
        column(edit.end_line, edit.end_column),
        edit.text,
    )


# What surrounds a line of a file: the imports that it sees, and its statement.

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, ast.Lambda)


# The imports of a module, or of a function in it: its lines, and what it imports -> its name there.
_Imports: TypeAlias = "tuple[int, int, dict[str, str]]"


class _Source(NamedTuple):
    """What is known of a file's source."""

    lines: list[str]
    imports: list[_Imports]
    statements: dict[int, tuple[int, int]]  # a line -> the lines of the innermost statement there


def module_at(file: str, line: int, module: str) -> str | None:
    """The name by which an expression on a line refers to an imported module; None if no import
    of the module or of a function around the line binds one."""
    for first, last, names in _read(file).imports:
        if first <= line <= last and module in names:
            return names[module]
    return None


def statement_around(file: str, first: int, last: int) -> tuple[int, int]:
    """The lines of the innermost statement with these lines; the whole file if there is none."""
    known = _read(file)
    begins, ends = known.statements.get(first, (1, 0))
    return (begins, ends) if last <= ends else (1, len(known.lines))


_known: dict[str, _Source] = {}  # by file


def _read(file: str) -> _Source:
    lines = linecache.getlines(file)  # the same list as long as the file is the same
    known = _known.get(file)
    if known is None or known.lines is not lines:
        tree = _tree("".join(lines))
        known = _Source(lines, [*_imports_in(tree, len(lines))], _statements_in(tree))
        _known[file] = known
    return known


def _statements_in(tree: ast.Module) -> dict[int, tuple[int, int]]:
    found: dict[int, tuple[int, int]] = {}
    for node in ast.walk(tree):  # outer statements come first
        if isinstance(node, ast.stmt):
            place = node.lineno, node.end_lineno or node.lineno
            found.update(dict.fromkeys(range(place[0], place[1] + 1), place))
    return found


def _imports_in(tree: ast.Module, count: int) -> Iterator[_Imports]:
    yield 1, count, _names(tree)
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            yield node.lineno, node.end_lineno or node.lineno, _names(node)


def _names(scope: ast.AST) -> dict[str, str]:
    statements = ast.Module([*_walk(scope)], [])  # type: ignore[list-item]
    return {module: name for name, module in imported_names(statements).items()}


def _walk(scope: ast.AST) -> Iterator[ast.AST]:
    """The imports of a scope, without those of the scopes in it."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif not isinstance(node, _SCOPES):
            yield from _walk(node)


def edits_by_file(fixes: Iterable[Fix]) -> dict[str, list[SourceEdit]]:
    """The edits of each file."""
    edits: dict[str, list[SourceEdit]] = {}
    for fix in fixes:
        edits.setdefault(fix.place.file, []).extend(edits_at(fix.place, fix.text))
    return edits


def changed_lines(fixes: Iterable[Fix]) -> Iterator[tuple[list[str], list[str]]]:
    """The whole lines that fixes change, before and after. Fixes of one line are shown once."""
    groups: list[list[Fix]] = []
    for fix in fixes:
        place = fix.place
        together = next(
            (g for g in groups if any(_share_lines(place, other.place) for other in g)), None
        )
        if together is None:
            groups.append([fix])
        else:
            together.append(fix)
    for group in groups:
        yield lines_at(_around(group)), fixed_lines(*group)


def fixed_lines(*fixes: Fix) -> list[str]:
    """The whole lines of fixes that share lines, with the fixes, dedented."""
    source = _with_fixes(fixes).decode("utf-8", "replace")
    return textwrap.dedent(source).rstrip().splitlines()


def _share_lines(a: SourcePlace, b: SourcePlace) -> bool:
    return a.file == b.file and a.line <= b.end_line and b.line <= a.end_line


def _around(fixes: Sequence[Fix]) -> SourcePlace:
    """The lines of some fixes in one file."""
    places = [fix.place for fix in fixes]
    first, last = min(p.line for p in places), max(p.end_line for p in places)
    return replace(places[0], line=first, end_line=last)


def fixed_text(fix: Fix) -> str:
    """What to write at a fix's place, with the line breaks and comments that are there now."""
    place = fix.place
    after = linecache.getline(place.file, place.end_line).encode("utf-8", "replace")
    source = _with_fixes([fix])
    end = len(source) - len(after[place.end_column - 1 :])
    return source[place.column - 1 : end].decode("utf-8", "replace")


def _with_fixes(fixes: Sequence[Fix]) -> bytes:
    """The whole lines of some fixes in one file, with them."""
    place = _around(fixes)
    lines = [linecache.getline(place.file, n) for n in range(place.line, place.end_line + 1)]
    edits = [
        edit._replace(line=edit.line - place.line + 1, end_line=edit.end_line - place.line + 1)
        for fix in fixes
        for edit in edits_at(fix.place, fix.text)
    ]
    return with_edits("".join(lines).encode("utf-8", "replace"), edits)


def hindrance(fixes: Iterable[Fix], taken: Sequence[Fix]) -> Fix | None:
    """The first of the fixes that are taken which others cannot be applied with, or None."""
    for fix in fixes:
        for other in taken:
            if fix != other and overlap(fix, other):
                return other
    return None


def applies(fixes: Sequence[Fix]) -> bool:
    """Whether the fixes do not overlap, and each file with them is valid Python."""
    if any(overlap(fix, other) for n, fix in enumerate(fixes) for other in fixes[:n]):
        return False
    return all(_is_valid(file, edits) for file, edits in edits_by_file(fixes).items())


def _is_valid(file: str, edits: Sequence[SourceEdit]) -> bool:
    """Whether the statements with the edits are valid; if one is not on its own, as an `elif`, the
    whole file."""
    lines = linecache.getlines(file)
    for edit in edits:
        first, last = statement_around(file, edit.line, edit.end_line)
        here = edit._replace(line=edit.line - first + 1, end_line=edit.end_line - first + 1)
        if not _parses("".join(lines[first - 1 : last]), [here]):
            return _parses("".join(lines), edits)
    return True


def _parses(source: str, edits: Sequence[SourceEdit]) -> bool:
    edited = with_edits(source.encode("utf-8", "surrogatepass"), edits)
    try:
        # A block without its head: what is indented needs one.
        ast.parse(b"if 1:\n" + edited if edited[:1] in b" \t" else edited)
    except (SyntaxError, ValueError):
        return False
    return True


def overlap(one: Fix, other: Fix) -> bool:
    """Whether two fixes change the same piece of source."""
    a, b = one.place, other.place
    if a.file != b.file:
        return False
    begins, ends = (a.line, a.column), (a.end_line, a.end_column)
    return begins < (b.end_line, b.end_column) and (b.line, b.column) < ends


# Small changes to a piece of source that keep the rest of the text.


def with_dtype(code: str, dtype: str, place: int | None = None) -> str | None:
    """A call with this dtype, given by name unless the call has it at its place; None if the text
    is not a call, or if its arguments do not show.

    >>> with_dtype("np.zeros(3)", "np.float32", 1)
    'np.zeros(3, dtype=np.float32)'
    >>> with_dtype("np.zeros(3, dtype=float)", "np.float32", 1)
    'np.zeros(3, dtype=np.float32)'
    >>> with_dtype("np.zeros(3, float)", "np.float32", 1)
    'np.zeros(3, np.float32)'
    """
    call = _call(code)
    if call is None or _hides_arguments(call):
        return None
    given = dtype_argument(code, place)
    if given is not None:
        return replaced(code, given, dtype)
    start = code.rstrip()[:-1].rstrip()
    comma = "" if start.endswith(("(", ",")) else ","
    space = "" if start.endswith("(") else " "
    return f"{start}{comma}{space}dtype={dtype})"


def dtype_argument(code: str, place: int | None) -> ast.expr | None:
    """The argument of a call that is its dtype, given by name or at its place."""
    call = _call(code)
    if call is None:
        return None
    for keyword in call.keywords:
        if keyword.arg == "dtype":
            return keyword.value
    is_given = place is not None and place < len(call.args)
    return call.args[place] if is_given else None  # type: ignore[index]


def _hides_arguments(call: ast.Call) -> bool:
    """Whether a call spreads a list or a dictionary, which may hold the dtype."""
    is_spread = any(isinstance(argument, ast.Starred) for argument in call.args)
    return is_spread or any(keyword.arg is None for keyword in call.keywords)


def operand_texts(code: str) -> list[str] | None:
    """The source text of the operands of an expression with one operator.

    >>> operand_texts("img / 255")
    ['img', '255']
    """
    nodes = _operand_nodes(code)
    parts = [ast.get_source_segment(code, node) for node in nodes or ()]
    return [part for part in parts if part] or None


def with_operand(code: str, place: int, text: str) -> str | None:
    """An operation, in place or not, with another text for one of its operands.

    >>> with_operand("a + b", 1, "float(b)")
    'a + float(b)'
    """
    nodes = _operand_nodes(code)
    return replaced(code, nodes[place], text) if nodes else None


def followed_by(code: str, tail: str) -> str:
    """An expression followed by an attribute or a call, in brackets if needed.

    >>> followed_by("a + b", ".astype(int)")
    '(a + b).astype(int)'
    """
    tree = _expression(code)
    binds = (ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.List, ast.Tuple)
    return f"{code}{tail}" if isinstance(tree, binds) else f"({code}){tail}"


def is_simple(code: str) -> bool:
    """Whether an expression may be evaluated twice: a name, or an attribute of one."""
    tree = _expression(code)
    while isinstance(tree, ast.Attribute):
        tree = tree.value
    return isinstance(tree, ast.Name)


def _operand_nodes(code: str) -> list[ast.expr] | None:
    try:
        (statement,) = ast.parse(code).body
    except (SyntaxError, ValueError):
        return None
    if isinstance(statement, ast.AugAssign):
        return [statement.target, statement.value]
    tree = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(tree, ast.Compare):
        return [tree.left, *tree.comparators]
    return [tree.left, tree.right] if isinstance(tree, ast.BinOp) else None


def _call(code: str) -> ast.Call | None:
    tree = _expression(code)
    return tree if isinstance(tree, ast.Call) else None


def _expression(code: str) -> ast.expr | None:
    try:
        return ast.parse(code, mode="eval").body
    except SyntaxError:
        return None


def replaced(code: str, node: ast.expr, text: str) -> str | None:
    """One line of code with another text for one of its nodes."""
    if node.lineno != 1 or node.end_lineno != 1 or node.end_col_offset is None:
        return None
    raw = code.encode()
    return (raw[: node.col_offset] + text.encode() + raw[node.end_col_offset :]).decode()


# Where else a program may use what an expression makes.

_Span: TypeAlias = "tuple[int, int, int, int]"


def is_operand_only(place: SourcePlace, operations: Iterable[SourcePlace]) -> bool:
    """Whether what an expression makes is only an operand of some operations: it stands in one of
    them, or its name stands nowhere else in the file."""
    around = [*operations]
    if any(_is_within(place, operation) for operation in around):
        return True
    tree = _tree("".join(linecache.getlines(place.file)))
    name = _assigned(tree, _span(place))
    if name is None or any(operation.file != place.file for operation in around):
        return False
    operands = [*_operands(tree, {_span(operation) for operation in around})]
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name]
    uses = [node for node in names if isinstance(node.ctx, ast.Load)]
    return bool(uses) and all(any(use is operand for operand in operands) for use in uses)


def _is_within(inner: SourcePlace, outer: SourcePlace) -> bool:
    begins = (outer.line, outer.column) <= (inner.line, inner.column)
    ends = (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    return inner.file == outer.file and begins and ends


def _assigned(tree: ast.Module, span: _Span) -> str | None:
    """The name that an expression is assigned to, if that is all that is done with it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _node_span(node.value) == span:
            target = node.targets[0]
            return target.id if isinstance(target, ast.Name) and len(node.targets) == 1 else None
    return None


def _operands(tree: ast.Module, spans: set[_Span]) -> Iterator[ast.expr]:
    """The operands of some operations, without indices: of `x * rows[:, None]`, x and rows."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and _node_span(node) in spans:
            both = [node.value] if isinstance(node, ast.AugAssign) else [node.left, node.right]
            for operand in both:
                while isinstance(operand, ast.Subscript):
                    operand = operand.value
                yield operand


@functools.lru_cache(maxsize=16)
def _tree(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _span(place: SourcePlace) -> _Span:
    return place.line, place.column, place.end_line, place.end_column


def _node_span(node: ast.expr | ast.stmt) -> _Span:
    end = node.end_lineno or node.lineno, (node.end_col_offset or 0) + 1
    return node.lineno, node.col_offset + 1, *end
