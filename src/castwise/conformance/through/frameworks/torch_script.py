"""TorchScript, which compiles source text: each question is written as a line of a function."""

from __future__ import annotations

import importlib.util
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from castwise.conformance.grid import GridQuestion
from castwise.conformance.programs.program import Step
from castwise.conformance.programs.speakers.torch import TorchSpeaker
from castwise.conformance.programs.spelling import statement
from castwise.conformance.through.reproduction import call_text, is_spelled
from castwise.conformance.through.transformation import Function, Transformation

NAME = "torch.jit.script"


def transformation() -> Transformation:
    """Scripts a function that is written to a file, because a closure has no source to compile."""
    speaker = TorchSpeaker()

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        asked: Any = function
        called = _scripted(source(speaker, asked.questions, asked.places))
        try:
            return called(*arrays)
        except RuntimeError as error:  # whose last line is the reason, after where it happened
            raise RuntimeError(str(error).strip().rpartition("\n")[2]) from error

    def leaves_out(question: GridQuestion) -> bool:
        is_copied = question.form != "augmented" or question.operands[0].endswith("]")
        return not is_copied or not is_spelled(speaker, question)

    return Transformation(NAME, run, "", "", 1, leaves_out=leaves_out)


def source(speaker: TorchSpeaker, questions: Sequence[GridQuestion], places: dict[str, int]) -> str:
    """A module with a function that makes the calls, of arrays x0, x1 and so on."""
    given = ", ".join(f"x{at}" for at in places.values())
    lines = [speaker.prelude, "", f"def asked({given}):"]
    for number, question in enumerate(questions):
        words = [f"x{places[o]}" if o in places else o for o in question.operands]
        lines += [f"    {line}" for line in _lines(speaker, question, words, f"r{number}")]
    results = "".join(f"r{number}, " for number in range(len(questions)))
    return "\n".join([*lines, f"    return ({results})", ""])


def _lines(speaker: TorchSpeaker, question: GridQuestion, words: list[str], name: str) -> list[str]:
    """The lines that bind a name to the result; what is written into is a copy."""
    if question.form == "augmented":
        step = Step(name, question.op, "augmented", (name, words[1]))
        return [f"{name} = {words[0]}.clone()", statement(speaker, step)]
    if question.form == "inplace":
        words = [f"{words[0]}.clone()", *words[1:]]
    return [f"{name} = {call_text(speaker, question, words)}"]


def _scripted(text: str) -> Function:
    import torch

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that TorchScript is deprecated
        file = Path(folder, "asked_in_torch_script.py")
        file.write_text(text, "utf-8")
        spec: Any = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        scripted: Function = torch.jit.script(module.asked)
    return scripted
