"""Fixes are proven on the whole log: over all lines that feed a chain, and with the program's own
intent."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

import castwise as cw
from castwise.auditing.launch import run_audited
from castwise.auditing.origins import Audit, make_audit
from castwise.auditing.plans import Target, stated_target
from castwise.auditing.source import lines_at
from castwise.report.audit import audit_text
from castwise.report.audit_page import audit_html
from castwise.vocab.dtypes import dtype

HEAD = "import numpy as np\nx = np.ones((4, 5), np.float32)\n"


def audited(program: str, directory: Path, target: Target | None = None) -> Audit:
    script = directory / "program.py"
    script.write_text(HEAD + dedent(program))
    run = run_audited([str(script)])
    assert run.status == 0
    return make_audit(run.seen, target=target)


def fixes(audit: Audit) -> list[list[str]]:
    return [[fix.text for fix in origin.fixes] for origin in audit.origins]


def test_two_lines_that_feed_a_chain_are_fixed_together(tmp_path: Path) -> None:
    found = audited("w = np.ones((5, 5))\nb = np.ones(5)\ny = x @ w + b\n", tmp_path)
    both = ["np.ones((5, 5), dtype=np.float32)", "np.ones(5, dtype=np.float32)"]
    assert fixes(found) == [both]
    assert "Fixing this line and line 4 removes 1 finding" in audit_text(found)


def test_two_fixes_of_a_line_are_one_change_of_it(tmp_path: Path) -> None:
    found = audited("w, b = np.ones((5, 5)), np.ones(5)\ny = x @ w + b\n", tmp_path)
    text = audit_text(found)
    assert "Fixing this line removes 1 finding" in text
    assert text.count("   - w, b =") == 1
    new = "w, b = np.ones((5, 5), dtype=np.float32), np.ones(5, dtype=np.float32)"
    assert f"   + {new}\n" in text
    assert f"+ {new}<" in audit_html(found)


def test_what_a_fix_leaves_is_stated(tmp_path: Path) -> None:
    program = """
        w = np.ones(5)
        v = np.ones(5, dtype=np.float64)
        a = x * w
        b = x - w
        c = a + v
    """
    found = audited(program, tmp_path)
    (origin,) = [origin for origin in found.origins if origin.fixes]
    assert [finding.place.line for finding in origin.plan.added] == [8]
    assert "It leaves a cast at line 8, float32[4,5] + float64[5] -> float64." in (
        audit_text(found, width=200)
    )


@pytest.mark.parametrize(
    "made", ["np.ones(5, np.float64)", "np.ones(5, 'f8')", "np.ones(5, dtype=WIDE)",
             "np.arange(5).astype('float64')", "np.arange(5).astype(np.double)"]
)  # fmt: skip
def test_a_dtype_that_the_program_names_is_not_undone(made: str, tmp_path: Path) -> None:
    found = audited(f"WIDE = np.float64\nw = {made}\ny = x * w\n", tmp_path)
    assert fixes(found) == [[]]
    assert "Causes 1 finding; the dtype is set explicitly." in audit_text(found)


def test_float_names_a_kind_not_a_dtype(tmp_path: Path) -> None:
    found = audited("w = np.ones(5, float)\ny = x * w\n", tmp_path)
    assert fixes(found) == [["np.ones(5, np.float32)"]]


def test_a_loop_is_followed_round(tmp_path: Path) -> None:
    program = "w = np.zeros(5)\nfor row in x:\n    w = w + row\n"
    assert fixes(audited(program, tmp_path)) == [["np.zeros(5, dtype=np.float32)"]]


def test_a_line_with_several_dtypes_is_fixed_for_all(tmp_path: Path) -> None:
    program = """
        w = [*map(np.ones, [1])][0]
        def scaled(a, b):
            return a * b
        scaled(x, w), scaled(x.astype(np.float16), w)
    """
    assert ["a * b.astype(a.dtype)"] in fixes(audited(program, tmp_path))


def test_a_module_that_an_other_function_imports_is_not_named(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "def made():\n    import numpy as np\n    return np.ones(5, np.float32), np.ones(5)\n"
        "def used(x, w):\n    return x + (w / 3)\n"
        "used(*made())\n"
    )
    found = make_audit(run_audited([str(script)]).seen)
    assert fixes(found) == [["np.ones(5, dtype=np.float32)"]]


def test_a_program_in_float64_is_not_told_to_narrow_its_integers(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("import numpy as np\nshare = np.arange(9) / 7\n")
    seen = run_audited([str(script)]).seen
    assert fixes(make_audit(seen)) == [[]]
    stated = make_audit(seen, target=stated_target("float32"))
    assert fixes(stated) == [["np.divide(np.arange(9), 7, dtype=np.float32)"]]


def test_a_complex_array_is_never_made_real(tmp_path: Path) -> None:
    program = """
        spectrum = np.fft.fft(np.linspace(0, 1, 8))
        mask = np.linspace(1, 2, 8)
        kept = spectrum * mask
        roots, _ = np.linalg.eig(np.array([[0.0, 1.0], [-1.0, 0.0]]))
        weights = np.linspace(1, 2, 2)
        scaled = roots * weights
    """
    assert fixes(audited(program, tmp_path, stated_target("float32"))) == [[], []]
    assert fixes(audited(program, tmp_path)) == [[], []]


def test_the_target_is_what_most_floats_are_that_no_cast_made(tmp_path: Path) -> None:
    program = """
        steps = np.arange(1000) * 0.5
        small = np.zeros(3) + np.zeros(3)
    """
    found = audited("y = x + x\n" + dedent(program), tmp_path)
    assert (str(found.target.dtype), found.target.why) == ("float32", "most of its floats")
    wide = "many = np.zeros(100)\nmany = many + many\n"
    assert str(audited("y = x + x\n" + wide, tmp_path).target.dtype) == "float64"


def test_the_target_of_a_device_is_its_widest_dtype() -> None:
    assert stated_target("mps") == Target(dtype("float32"), is_stated=True, device="mps")
    with pytest.raises(cw.UsageError, match=r"unknown target 'flaot32'\. Did you mean 'float32'"):
        stated_target("flaot32")


def test_a_line_that_runs_with_two_frameworks_gets_the_fix_of_neither(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    program = """
        import torch
        def third(a):
            return a / 3
        x + third(np.arange(5)), torch.ones(5) + third(torch.arange(5))
    """
    found = audited(program, tmp_path)
    assert not any(map(any, fixes(found)))
    assert "it runs with numpy and torch, and no single fix works for all" in (
        audit_text(found, width=200)
    )


TARGETS = """
    half = np.ones(5, np.float16)
    n = np.arange(5, dtype=np.int32) + np.arange(5)
    wide = np.zeros(5, dtype=np.float64)
    WIDE = np.float64
    meant = np.zeros(5, dtype=WIDE)
    a, b, c = half * x[0], x * wide, x * meant
    alone = np.linspace(0, 1, 5) * 2
"""


def test_a_stated_target_ranks_origins_and_undoes_constants(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(HEAD + dedent(TARGETS))
    seen = run_audited([str(script)]).seen
    inferred = make_audit(seen)
    assert not any(map(any, fixes(inferred)))  # constants are not undone
    stated = make_audit(seen, target=stated_target("float32"))
    assert fixes(stated)[0] == ["np.zeros(5, dtype=np.float32)"]
    lines = [origin.place.line for origin in stated.origins]
    assert lines == [6, 8, 5, 2]  # those that leave the target come first
    assert [origin.note for origin in stated.origins[2:]] == ["Not relevant to float32."] * 2
    text = audit_text(make_audit(seen, target=stated_target("mps")), width=200)
    assert "Target: mps, whose widest float is float32." in text
    assert text.count("mps has no float64.") == 3
    assert "it is also made in 1 line: " in text
    narrow = make_audit(seen, target=stated_target("float64"))
    assert narrow.origins[0].place.line == 2


def test_what_a_variable_names_is_not_undone_where_it_is_used(tmp_path: Path) -> None:
    program = """
        def used(a, b):
            return a * b
        def made(dtype):
            return np.ones(5, dtype=dtype)
        for dtype in (np.float32, np.float64):
            used(x, made(dtype))
    """
    assert fixes(audited(program, tmp_path)) == [[]]


NORMS = """
    import torch
    torch.manual_seed(0)

    class RMSNorm(torch.nn.Module):
        def __init__(self, size):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(size, dtype=torch.bfloat16))
        def forward(self, x):
            wide = x.float()
            wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
            return wide.type_as(x) * self.weight

    class T5Norm(RMSNorm):
        def forward(self, x):
            variance = x.to(torch.float32).pow(2).mean(-1, keepdim=True)
            return self.weight * (x * torch.rsqrt(variance + 1e-6)).to(self.weight.dtype)

    class LayerNorm(RMSNorm):
        def forward(self, x):
            y = x.to(torch.float32)
            y = (y - y.mean(-1, keepdim=True)) / (y.var(-1, keepdim=True) + 1e-5).sqrt()
            return (y * self.weight).to(x.dtype)

    h = torch.randn(4, 8).to(torch.bfloat16)
    for norm in (RMSNorm(8), T5Norm(8), LayerNorm(8)):
        h = norm(h)
    acc = np.zeros(5, np.float64)
    acc += x[0]
    h = h + torch.linspace(0, 1, 8)
"""


@pytest.mark.parametrize("target", [None, stated_target("bfloat16")])
def test_wider_on_purpose_is_not_undone_and_comes_last(
    tmp_path: Path, target: Target | None
) -> None:
    pytest.importorskip("torch")
    found = audited(NORMS, tmp_path, target)
    first, *others = found.origins
    assert [fix.text for fix in first.fixes] == ["torch.linspace(0, 1, 8, dtype=torch.bfloat16)"]
    casts = [origin for origin in others if "acc" not in lines_at(origin.place)[0]]
    assert len(casts) == 2
    assert all(origin.is_explicit and not origin.fixes for origin in casts)


def test_no_fix_makes_a_loop_round_every_sum_to_16_bits(tmp_path: Path) -> None:
    program = """
        h = np.ones(5, np.float16)
        total, mean = np.zeros(5), np.zeros(5)
        for _ in range(16):
            total += h
            mean = 0.9 * mean + 0.1 * h
        once = np.zeros(5) + h
    """
    assert fixes(audited(program, tmp_path)) == [["np.zeros(5, dtype=np.float16)"], []]


def test_what_a_fix_rounds_does_not_become_wide_again(tmp_path: Path) -> None:
    program = """
        ints, names = np.arange(5), [1, 2, 3, 4, 5]
        angle = {} / np.power(10000, ints / 5)
        y = x + angle
    """
    both = ["np.divide(ints, 5, dtype=np.float32)", "np.arange(4, 9, dtype=np.float32)"]
    assert fixes(audited(program.format("np.arange(4, 9)"), tmp_path)) == [both]
    assert fixes(audited(program.format("np.asarray(names, int)"), tmp_path)) == [[]]


def test_integers_that_may_be_needed_stay_integers(tmp_path: Path) -> None:
    program = """

        index = np.arange(4)
        labels = np.arange(4)
        weights = np.arange(4)
        taken = x[index], np.bincount(labels), weights.astype(np.int8)
        y = x.T * index
        y = x.T * labels
        y = x.T * weights
    """
    found = audited(program, tmp_path)
    made = {origin.place.line: [fix.text for fix in origin.fixes] for origin in found.origins}
    names = {5: "index", 6: "labels", 7: "weights"}
    assert made == {line: [f"x.T * {name}.astype(x.T.dtype)"] for line, name in names.items()}


def test_what_is_written_into_an_array_is_fixed_with_it(tmp_path: Path) -> None:
    program = """
        parts = {}
        both = np.empty((3, 2))
        both[:, 0] = parts
        narrow = np.zeros((3, 2), np.float32)
        narrow[:] = both
    """
    made = ["np.empty((3, 2), dtype=np.float32)", "np.linspace(0, 1, 3, dtype=np.float32)"]
    assert fixes(audited(program.format("np.linspace(0, 1, 3)"), tmp_path)) == [made]
    unknown = "np.frombuffer(np.linspace(0, 1, 3).tobytes())"
    assert fixes(audited(program.format(unknown), tmp_path)) != [made[:1]]
