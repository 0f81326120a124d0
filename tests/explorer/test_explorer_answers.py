"""The page looks up what the engine decides: random answers, in a real browser."""

from __future__ import annotations

import os
import random
from typing import Any

from random_questions import RandomQuestions

from castwise.catalog import dialect_named
from castwise.engine.ask import question_in
from castwise.engine.decide import outcome_and_steps
from castwise.engine.decision import Decision
from castwise.errors import UsageError

# More of them, with other seeds, when the explorer itself was changed.
COUNT = int(os.environ.get("CASTWISE_EXPLORER_ANSWERS", "10000"))
SEED = int(os.environ.get("CASTWISE_EXPLORER_SEED", "0"))
LOOK = """async (asked) => {
  const found = [];
  for (const [dialect, text] of asked) {
    const question = Notation.read(text);
    await Answers.load(question.op, question.form);
    const answer = Answers.look(dialect, question);
    const shown = { kind: answer.kind };
    if (answer.kind !== "unasked") shown.steps = Words.steps(question, answer);
    if (answer.kind === "decided") {
      shown.result = answer.result + (answer.isWeak ? "*" : "");
      shown.compute = answer.compute;
      shown.runs = answer.runs;
      shown.hazards = Words.hazardsOf(answer);
      shown.casts = answer.casts.map((cast) => cast && [cast.source, cast.target, cast.hazards]);
    }
    found.push(shown);
  }
  return found;
}"""


def decided(dialect: str, text: str) -> dict[str, Any]:
    """What the engine says, as the page should show it."""
    question = question_in(text, dialect)
    try:
        found, steps = outcome_and_steps(question)
    except UsageError as error:
        return {"kind": "senseless", "steps": [str(error)]}
    if not isinstance(found, Decision):
        return {"kind": "refused", "steps": steps}
    return {
        "kind": "decided",
        "steps": steps,
        "result": f"{found.result}{'*' * found.is_weak}",
        "compute": str(found.compute),
        "runs": found.has_kernel,
        "hazards": list(found.hazards),
        "casts": [  # what is only read in another dtype is not shown as one
            [cast.source and str(cast.source), str(cast.target), list(cast.hazards)]
            if cast and not cast.is_read
            else None
            for cast in found.casts
        ],
    }


def test_the_page_shows_what_the_engine_decides(page: Any) -> None:
    dialects = page.evaluate("Object.keys(FACTS.dialects)")
    chance, questions = random.Random(SEED), RandomQuestions(SEED)
    asked = []
    for _ in range(COUNT):
        name = chance.choice(dialects)
        asked.append((name, questions.question(dialect_named(name))))
    shown = page.evaluate(LOOK, asked)
    wrong = [
        (name, text, decided(name, text), found)
        for (name, text), found in zip(asked, shown, strict=True)
        if found != decided(name, text)
    ]
    assert wrong[:5] == []
    assert len(shown) == COUNT
