"""Dialects with the same content are one object, here and after a way through another process."""

from __future__ import annotations

import copy
import gc
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

import castwise as cw
from castwise.rules import dialect

CAREFUL = Path(__file__).parents[2] / "examples" / "careful.toml"


def test_equal_variations_are_one_dialect() -> None:
    numpy = cw.dialect("numpy")
    capped = numpy.vary(cap_float=32)
    assert numpy.vary(cap_float=32) is capped
    assert numpy.vary() is numpy
    assert cw.dialect("numpy:cap_float=32") is capped
    assert numpy.vary(python=dict(numpy.python)) is numpy
    assert cw.load_dialect(CAREFUL) is cw.load_dialect(CAREFUL)


def test_dialects_that_differ_in_one_field_are_two() -> None:
    numpy = cw.dialect("numpy")
    assert numpy.vary(about="Mine.") is not numpy
    assert numpy.vary(about="Mine.") is not numpy.vary(about="Yours.")
    laws = [replace(numpy.evidence.laws, is_commutative=word) for word in (True, 1)]
    one, other = [numpy.vary(evidence=replace(numpy.evidence, laws=each)) for each in laws]
    assert one is not other
    backwards = dict(reversed(numpy.ops.items()))
    assert numpy.vary(ops=backwards) is not numpy  # later rules are laid over earlier ones


def test_threads_that_vary_alike_get_the_same_dialect() -> None:
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: cw.dialect("torch").vary(about="Threads."), range(40)))
    assert len({id(dialect) for dialect in made}) == 1


def test_a_dialect_that_nobody_holds_is_forgotten() -> None:
    gc.collect()
    before = len(dialect._known)
    for number in range(100):
        cw.dialect("numpy").vary(about=f"Number {number}.")
    gc.collect()
    assert len(dialect._known) <= before + 1


def test_kinds_of_tensors_under_ever_new_dialects_are_not_kept_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from castwise.arrays import kinds

    monkeypatch.setattr(kinds, "_kinds", {})
    monkeypatch.setattr(kinds, "_MOST_KINDS", 50)
    x = cw.asarray([1, 2])
    for number in range(100):
        assert x.under(cw.dialect("numpy").vary(about=f"Number {number}.")).tolist() == [1, 2]
    assert len(kinds._kinds) <= 50


@pytest.mark.parametrize("name", cw.dialects())
def test_a_dialect_of_the_catalogue_is_pickled_by_its_name(name: str) -> None:
    for own in (cw.dialect(name), cw.dialect(name).vary(safe=True)):
        sent = pickle.dumps(own)
        assert len(sent) < 200
        assert pickle.loads(sent) is copy.deepcopy(own) is own


@pytest.mark.parametrize("name", ["mine.toml", "numpy", "numpy:strict=yes", "torch_autocast"])
def test_a_custom_dialect_is_pickled_in_full_whatever_its_name(name: str) -> None:
    own = cw.dialect("numpy").vary(framework=name, about="Mine.")
    sent = pickle.dumps(own)
    assert pickle.loads(sent) is copy.deepcopy(own) is own
    del own
    gc.collect()
    made = pickle.loads(sent)
    assert (made.name, made.about) == (name, "Mine.")
