"""What might be written instead, at the line where a dtype comes from or where it is used.

The fixes here are candidates: plans.py finds out what each does to the whole program. Below them is
what may replace a refused operation, and last the writing of fixes into files.
"""

from __future__ import annotations

import ast
import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

from castwise.auditing.hook import Hook
from castwise.auditing.hooks import find_hook
from castwise.auditing.operations import array_dtype
from castwise.auditing.records import (
    Event,
    Finding,
    Fix,
    LocatedSite,
    Seen,
    SeenArray,
    SeenCall,
    SourcePlace,
)
from castwise.auditing.source import (
    dtype_argument,
    edited_file,
    edits_by_file,
    followed_by,
    is_simple,
    lines_at,
    module_at,
    operand_texts,
    replaced,
    source_digest,
    statement_around,
    text_at,
    with_dtype,
    with_operand,
)
from castwise.engine.decision import Question
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Operand, Role

# The fixes for a line, from everything that was seen there.

LEAST_FOR_COUNTS = 32  # bits of the floats that counts may become
_BYTE = 8
_DOES_AS_NUMBER = "a Python number takes the array's dtype"


class DtypeSource(NamedTuple):
    """A site, and everything that was seen there."""

    mark: int
    located: LocatedSite
    events: tuple[Event, ...]

    @property
    def results(self) -> list[SeenArray]:
        """What the site makes, if it makes arrays of one dtype and framework and nothing else."""
        if any(event.call and event.call.returns for event in self.events):
            return []  # one of several arrays, in a list: nothing can be written after the call
        found = [event.result for event in self.events if event.result]
        kinds = {(a.framework, a.dtype, a.is_scalar) for a in found}
        return found if len(found) == len(self.events) and len(kinds) == 1 else []


def fixes_at(
    source: DtypeSource, targets: Sequence[DType], *, undoes_constants: bool = False
) -> Iterator[Fix]:
    """Changes to a site, so that it makes another dtype. What the program names is not undone, or
    only where it makes an array of a constant dtype."""
    mark, place, hook = source.mark, source.located.place, _result_hook(source)
    code = text_at(place)
    if hook is None or not code or not source.results:
        return
    if is_explicit(source) and not (undoes_constants and _names_constant(source, hook)):
        return
    made = source.results[0]
    found = array_dtype(made)
    if made.is_scalar:
        kind = found.kind if found else ""
        text = f"{kind if kind in ('int', 'bool', 'complex') else 'float'}({code})"
        yield Fix(place, text, _DOES_AS_NUMBER, None, mark, is_after=True)
        return  # NumPy's float64 is a Python float, which a narrower scalar is not: json takes none
    has_parts = found is not None and found.kind == "complex"
    for target in targets:
        name = spelled(target, hook, place)
        loses_parts = has_parts and target.kind != "complex"
        if name is not None and target != found and not loses_parts:
            yield from _fixes_to(source, code, name, target, hook)


def _fixes_to(
    source: DtypeSource, code: str, name: str, target: DType, hook: Hook
) -> Iterator[Fix]:
    mark, place, site = source.mark, source.located.place, source.located.site
    call = source.events[0].call
    if call is None:
        array = _array_place(source.events)
        text = _operator_with_dtype(code, site.name, name, hook, place, array)
        if text and site.kind == "operator":
            yield Fix(place, text, f"computes in {target}", target, mark)
        return
    text = _call_with_dtype(code, call.name, name, hook) if find_hook(call.module) is hook else None
    if text:
        yield Fix(place, text, f"makes it {target} from the start", target, mark)
        return
    text = cast_to(code, name, hook, module_at(place.file, place.line, hook.spelling.names))
    if text:
        yield Fix(place, text, f"casts it to {target} once, here", target, mark, is_after=True)


def _array_place(events: Sequence[Event]) -> int:
    """An operand that is an array whenever the operation runs."""
    for place, given in enumerate(zip(*(event.operands for event in events), strict=False)):
        if all(isinstance(o, SeenArray) and not o.is_scalar for o in given):
            return place
    return 0


def fixes_where_used(finding: Finding, mark: int, events: Sequence[Event]) -> Iterator[Fix]:
    """Changes to one operation, so that the operand that caused its cast fits the others."""
    code, culprit, operands = text_at(finding.place), finding.culprit, finding.operands
    texts = operand_texts(code)
    if culprit is None or not texts or any(event.call for event in events):
        return
    if operands[culprit].role is Role.NUMPY_SCALAR:
        found = [event.operands[culprit] for event in events]
        if all(isinstance(o, SeenArray) and o.is_scalar for o in found):
            text = with_operand(code, culprit, f"{operands[culprit].kind}({texts[culprit]})")
            if text:
                yield Fix(finding.place, text, _DOES_AS_NUMBER, None, mark, operand=culprit)
        return
    other = 1 - culprit
    seen = [(event.operands[culprit], event.operands[other]) for event in events]
    is_of_arrays = all(_may_become(given, meant) for given, meant in seen)
    hook = find_hook(seen[0][0].framework) if isinstance(seen[0][0], SeenArray) else None
    if not is_of_arrays or hook is None:
        return
    place = finding.place
    if is_simple(texts[other]):
        text = _with_cast_operand(code, culprit, f"{texts[other]}.dtype", hook, place)
        does = f"casts it to the dtype of {texts[other]}"
        if text:
            yield Fix(place, text, does, None, mark, operand=culprit, like=other)
        return
    kinds = {meant.dtype for _, meant in seen if isinstance(meant, SeenArray)}
    target = dtype(kinds.pop() or "") if len(kinds) == 1 else None
    name = spelled(target, hook, place) if target else None
    text = _with_cast_operand(code, culprit, name, hook, place) if name else None
    if text:
        yield Fix(place, text, f"casts it to {target}", target, mark, operand=culprit)


def _result_hook(source: DtypeSource) -> Hook | None:
    made = next((event.result for event in source.events if event.result), None)
    return find_hook(made.framework) if made else None


def _may_become(given: object, meant: object) -> bool:
    """Whether an array may be cast to the dtype of another: both are real or both complex, or it
    holds integers, which a float of 16 bits would round."""
    if not isinstance(given, SeenArray) or not isinstance(meant, SeenArray):
        return False
    found, wanted = array_dtype(given), array_dtype(meant)
    if found is None or wanted is None or wanted.kind not in ("float", "complex"):
        return False
    if found.kind == "int":
        is_held = wanted.bits >= LEAST_FOR_COUNTS or not holds_counts(found)
        return wanted.kind == "float" and is_held and not given.is_scalar
    return found.kind == wanted.kind


# What the arrays of a site hold.


def holds_counts(found: DType) -> bool:
    """Whether it holds integers that a narrow float rounds: numbers, not bytes of an image."""
    return found.kind == "int" and found.bits > _BYTE


def makes_integers(source: DtypeSource) -> bool:
    """Whether a site makes integers, which may be indices somewhere that no log shows."""
    return any(map(holds_integers, source.results))


def holds_integers(array: SeenArray) -> bool:
    """Whether an array holds integers or masks."""
    found = array_dtype(array)
    return found is not None and found.kind in ("bool", "int")


# Whether a program means the dtype that a line makes.

# Words for a kind: they are written for "a float", and happen to be 64 bits.
_KINDS = frozenset({"float", "complex"})


def is_explicit(source: DtypeSource) -> bool:
    """Whether the program names the dtype that a site makes."""
    hook = _result_hook(source)
    code = text_at(source.located.place)
    return hook is not None and any(_is_meant(code, event.call, hook) for event in source.events)


def _is_meant(code: str, call: SeenCall | None, hook: Hook) -> bool:
    """Whether a call names the dtype of its result: by a dtype, by a variable, or by its own name
    as `.double()` does. `float` names a kind."""
    if call is None:
        return False
    argument = _dtype_node(code, call, hook)
    if isinstance(argument, ast.Name):
        return argument.id not in _KINDS
    if argument is not None:
        return not (isinstance(argument, ast.Constant) and argument.value in _KINDS)
    return call.gives_dtype or call.name in hook.calls.casts.split()


def _names_constant(source: DtypeSource, hook: Hook) -> bool:
    """Whether a site makes an array, and names its dtype as a text or as a constant of the
    framework's module."""
    place, call = source.located.place, source.events[0].call
    if call is None or call.name not in hook.calls.makes.split():
        return False
    argument = _dtype_node(text_at(place), call, hook)
    if isinstance(argument, ast.Attribute) and isinstance(argument.value, ast.Name):
        return argument.value.id == module_at(place.file, place.line, hook.spelling.names)
    return isinstance(argument, ast.Constant) and isinstance(argument.value, str)


def _dtype_node(code: str, call: SeenCall, hook: Hook) -> ast.expr | None:
    spelling = hook.spelling
    is_first = call.name in spelling.takes_dtype_first.split()
    place = 0 if is_first else spelling.dtype_places.get(call.name)
    return dtype_argument(code, place)


# How to write a fix in the user's source.


def spelled(dtype: DType, hook: Hook, place: SourcePlace) -> str | None:
    """A dtype as the source at a place may name it: through its import of the framework, or as a
    string; None if neither works."""
    own = hook.spelling.dtypes.split()
    if own and dtype.name not in own:
        return None
    module = own and module_at(place.file, place.line, hook.spelling.names)
    if module:
        return f"{module}.{dtype}"
    return f"'{dtype}'" if hook.spelling.takes_dtype_names else None


def _call_with_dtype(code: str, name: str, dtype: str, hook: Hook) -> str | None:
    """The same call with another dtype; None if it takes none, or where it is does not show."""
    if name in hook.spelling.takes_dtype_first.split():
        return with_dtype(code, dtype, 0)
    takes = set(hook.calls.makes.split()) - set(hook.spelling.makes_without_dtype.split())
    if name in takes or name in hook.spelling.takes_dtype.split():
        return with_dtype(code, dtype, hook.spelling.dtype_places.get(name))
    return None


def cast_to(code: str, dtype: str, hook: Hook, module: str | None) -> str | None:
    """An expression with an explicit cast, as the framework writes it. `module` is the name by
    which the source knows the framework's module."""
    if "{code}" not in hook.spelling.cast:
        return followed_by(code, hook.spelling.cast.format(dtype))
    return hook.spelling.cast.format(dtype, code=code, module=module) if module else None


def _operator_with_dtype(
    code: str, symbol: str, dtype: str, hook: Hook, place: SourcePlace, array: int
) -> str | None:
    """The same operation in another dtype: with the function that takes dtype=, or with a cast of
    an operand that is an array."""
    operands, function = operand_texts(code), hook.spelling.functions.get(symbol)
    module = module_at(place.file, place.line, hook.spelling.names)
    if operands and function and module:
        return f"{module}.{function}({', '.join(operands)}, dtype={dtype})"
    return _with_cast_operand(code, array, dtype, hook, place)


def _with_cast_operand(
    code: str, operand: int, dtype: str, hook: Hook, place: SourcePlace
) -> str | None:
    """The same operation with an explicit cast of one operand."""
    operands = operand_texts(code)
    if operands is None:
        return None
    module = module_at(place.file, place.line, hook.spelling.names)
    text = cast_to(operands[operand], dtype, hook, module)
    return with_operand(code, operand, text) if text else None


# What to write instead of an operation that its dialect refuses.

_Instead: TypeAlias = "tuple[str, Question, str]"


def instead_of(question: Question, located: LocatedSite, hook: Hook) -> Iterator[_Instead]:
    """Other ways to write an operation, the ones that keep every value first: each as new text,
    the question that it asks, and what it does."""
    yield from _not_in_place(question, text_at(located.place), located.place)
    yield from _with_one_dtype(question, text_at(located.place), located.place, hook)


def _not_in_place(question: Question, code: str, place: SourcePlace) -> Iterator[_Instead]:
    """The same operation with a new array as its result."""
    does = "the result is a new array"
    if question.form == "augmented":
        tree = ast.parse(code).body[0]
        texts = operand_texts(code)
        if isinstance(tree, ast.AugAssign) and texts and is_simple(texts[0]):
            closed = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript)
            value = texts[1] if isinstance(tree.value, closed) else f"({texts[1]})"
            text = f"{texts[0]} = {texts[0]} {question.op.symbol} {value}"
            yield text, replace(question, form="operator"), does
    elif question.inplace and _is_statement(place):
        call = ast.parse(code, mode="eval").body
        method = call.func if isinstance(call, ast.Call) else None
        if isinstance(method, ast.Attribute) and method.attr.endswith("_"):
            owner = ast.get_source_segment(code, method.value) or ""
            if is_simple(owner):
                rest = code[len(owner) :].replace(method.attr, method.attr.rstrip("_"), 1)
                text = f"{owner} = {owner}{rest}"
                yield text, replace(question, inplace=False), does


def _is_statement(place: SourcePlace) -> bool:
    """Whether an expression is a whole statement, so that its value is not used."""
    first, last = statement_around(place.file, place.line, place.end_line)
    if (first, last) != (place.line, place.end_line):
        return False
    try:
        (statement,) = ast.parse("\n".join(lines_at(place))).body
    except (SyntaxError, ValueError):
        return False
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)


def _with_one_dtype(
    question: Question, code: str, place: SourcePlace, hook: Hook
) -> Iterator[_Instead]:
    """The same operation with one array cast to the dtype of another that holds its values."""
    nodes = _operand_nodes(code)
    if nodes is None or len(nodes) < len(question.operands):
        return
    texts = [ast.get_source_segment(code, node) or "" for node in nodes]
    module = module_at(place.file, place.line, hook.spelling.names)
    for target, other in enumerate(question.operands):
        for cast, operand in enumerate(question.operands):
            if not _refused_may_become(operand, other) or not is_simple(texts[target]):
                continue
            text = cast_to(texts[cast], f"{texts[target]}.dtype", hook, module)
            whole = replaced(code, nodes[cast], text) if text else None
            if whole:
                asked = list(question.operands)
                asked[cast] = replace(operand, dtype=other.dtype)
                does = f"casts {texts[cast]} to the dtype of {texts[target]}"
                yield whole, replace(question, operands=tuple(asked)), does


def _refused_may_become(operand: Operand, other: Operand) -> bool:
    """Whether a cast to the other's dtype loses nothing that integers and floats both hold."""
    source, target = operand.dtype, other.dtype
    if source is None or target is None or source == target:
        return False
    return target.holds(source) or (target.kind == "float" and source.kind == "int")


def _operand_nodes(code: str) -> list[ast.expr] | None:
    """The operands of an operator, or the arguments of a call that names none of them. Those of
    `x += y` are not cast: its array is fixed."""
    try:
        (statement,) = ast.parse(code).body
    except (SyntaxError, ValueError):
        return None
    tree = statement.value if isinstance(statement, ast.Expr) else statement
    if isinstance(tree, ast.BinOp):
        return [tree.left, tree.right]
    if isinstance(tree, ast.Compare) and len(tree.comparators) == 1:
        return [tree.left, tree.comparators[0]]
    return tree.args if isinstance(tree, ast.Call) and not tree.keywords else None


# Fixes in the files of a program.


class Patch(NamedTuple):
    """A file and what it becomes."""

    file: str
    fixes: tuple[Fix, ...]
    before: bytes
    after: bytes


class Unpatched(NamedTuple):
    """A file that is left as it is, and why."""

    file: str
    why: str


def patches(fixes: Sequence[Fix], seen: Seen) -> tuple[list[Patch], list[Unpatched]]:
    """The files with the fixes, and those that cannot be changed."""
    made: list[Patch] = []
    refused: list[Unpatched] = []
    for file, edits in sorted(edits_by_file(fixes).items()):
        try:
            before = Path(file).read_bytes()
        except OSError as error:
            refused.append(Unpatched(file, f"it cannot be read: {error.strerror}"))
            continue
        if seen.digests.get(file) != source_digest(before):
            refused.append(Unpatched(file, "it has changed since the program read it"))
            continue
        after = edited_file(before, edits)
        try:
            ast.parse(after)
        except (SyntaxError, ValueError):
            refused.append(Unpatched(file, "it would no longer be valid Python"))
            continue
        own = tuple(fix for fix in fixes if fix.place.file == file)
        made.append(Patch(file, own, before, after))
    return made, refused


def write(made: Iterable[Patch]) -> tuple[list[Patch], list[Unpatched]]:
    """Writes files, each as a whole or not at all; those written, and those that could not be."""
    written: list[Patch] = []
    refused: list[Unpatched] = []
    for patch in made:
        try:
            _replace(Path(os.path.realpath(patch.file)), patch.after)
        except OSError as error:
            refused.append(Unpatched(patch.file, f"it cannot be written: {error.strerror}"))
        else:
            written.append(patch)
    return written, refused


def _replace(file: Path, content: bytes) -> None:
    """Puts a new file with this content, and with its mode, in the place of a file."""
    number, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(number, "wb") as new:
            new.write(content)
        shutil.copymode(file, name)
        os.replace(name, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
