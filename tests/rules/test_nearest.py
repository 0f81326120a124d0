"""The names a dialect goes by, and the recorded version that answers for another one."""

from __future__ import annotations

import warnings

import pytest

import castwise as cw
from castwise.catalog import nearest_named
from castwise.errors import NearestVersionWarning


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("np", "numpy"),
        ("NumPy", "numpy"),
        ("np@1", "numpy@1"),
        ("pytorch", "torch"),
        ("pytorch:default_float=float64", "torch:default_float=float64"),
        ("tf:safe", "tensorflow:safe"),
        ("paddlepaddle", "paddle"),
        ("array_api", "array-api"),
        ("array_api_strict", "array-api"),
        ("ms", "mindspore"),
        ("mge:mep3", "megengine:mep3"),
        ("flow", "oneflow"),
        ("jnp", "jax"),
        ("torch@2.13.0", "torch"),
        ("torch@2.13.1+cpu", "torch"),
        ("torch@2", "torch"),
        ("numpy@2.4.6", "numpy"),
        ("numpy@1.24.4", "numpy@1"),
        ("numpy@1.26.4", "numpy@1.26"),
        ("torch@2.15.0+cu132", "torch@2.15"),
        ("torch@2.1", "torch@2.1"),  # the rules of its lookup table
        ("torch@2.1.0", "torch@2.1.2"),  # a release of these numbers is recorded
        ("torch:cuda", "torch:cuda"),
        ("paddle@2.6:documented", "paddle:documented"),
    ],
)
def test_another_name_of_a_dialect(written: str, name: str) -> None:
    assert cw.dialect(written) is cw.dialect(name)


@pytest.mark.parametrize(
    ("written", "name", "said"),
    [
        ("torch@9.9", "torch@2.15", r"torch@2.15 \(recorded from 2.15.0\) answers"),
        ("torch@2.99.0rc1", "torch@2.15", "torch@2.15 .* answers"),
        ("numpy@1.18", "numpy@1.19", r"numpy@1.19 \(recorded from 1.19.5\) answers"),
        ("numpy@3", "numpy@2.5", "numpy@2.5 .* answers"),
        ("torch@2.2", "torch@2.1.2", "torch@2.1.2 .* answers"),
        ("jax@0.4:x64", "jax:x64", "jax@0.10:x64 answers"),
        ("torch@2.99:strict=True", "torch@2.15:strict=True", "torch@2.15 .* answers"),
    ],
)
def test_the_nearest_recorded_version_answers_and_says_so(
    written: str, name: str, said: str
) -> None:
    with pytest.warns(NearestVersionWarning, match=f"is not recorded: {said}") as warned:
        assert cw.dialect(written) is cw.dialect(name)
    assert [warning.filename for warning in warned] == [__file__]
    with pytest.warns(NearestVersionWarning):  # each time; Python's filters show it once
        cw.resolve("add", "int8[3]", 1, dialect=written)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("torch@banana", "'torch@banana' names no version: .*torch@2.13 or torch@"),
        ("torch@2.x", "names no version"),
        ("torch@" + "9" * 5000, "names no version"),
        ("tensorflow@2.15:safe", "no release of a framework: leave out @2.15"),
        ("torch:strict", "strict is an option: write torch:strict=True"),
        ("pytorch:cap_float", "write pytorch:cap_float=32"),
        ("tf:al", "tensorflow has the modes all, none, np-all, np-safe, safe"),
    ],
)
def test_what_no_version_or_mode_is_says_what_to_write(wrong: str, why: str) -> None:
    with pytest.raises(cw.UsageError, match=why) as refused:
        cw.dialect(wrong)
    assert len(str(refused.value)) < 250


def test_no_name_means_two_frameworks() -> None:
    words = {
        (word, d.framework)
        for d in map(cw.dialect, cw.dialects())
        for word in (d.framework, *d.naming.names.split())
    }
    assert len(words) == len({word for word, _ in words})


def test_the_version_of_an_installed_framework() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nearest_named("torch@2.13.0+cu130").dialect.name == "torch"
        found = nearest_named("jax@0.4.30:x64")
    assert found.dialect.name == "jax:x64"
    assert (
        found.note == "jax@0.4.30:x64 is not recorded: jax@0.10:x64 answers, the nearest that is."
    )
    with pytest.raises(cw.UsageError, match="unknown dialect"):
        nearest_named("nowhere@1.0")
