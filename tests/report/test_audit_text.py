"""The report on the terminal: the number, the line, what to write, and what was not seen."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from castwise.auditing.plans import NO_PLAN
from castwise.auditing.records import Coverage, UnobservedFunction
from castwise.report.audit import audit_text, coverage_text
from castwise.report.terminal import coloured
from report_example import PIPELINE, audited, line_of, pipeline


def test_the_first_line_counts_casts_lines_and_bytes() -> None:
    first = audit_text(pipeline()).splitlines()[0]
    assert first == "4 findings in 135 operations, caused by 1 line, cost 302 MB."


def test_an_origin_shows_its_line_as_it_is_and_as_it_would_be() -> None:
    lines = audit_text(pipeline()).splitlines()
    where = line_of("image / 255", PIPELINE)
    assert lines[1] == "Target: float32, inferred from the arrays that were widened."
    assert lines[3].endswith(f"image_pipeline.py:{where}")
    assert "Fixing this line removes 4 findings and 302 MB" in lines[4]
    assert lines[6:8] == [
        "   - scaled = image / 255",
        "   + scaled = np.divide(image, 255, dtype=np.float32)",
    ]


def test_a_fix_of_several_lines_is_shown_whole(tmp_path: Path) -> None:
    found = audited("bias = np.zeros(\n    100,\n)\ny = x + bias\n", tmp_path)
    lines = audit_text(found, width=100).splitlines()
    assert lines[6:9] == ["   - bias = np.zeros(", "   -     100,", "   - )"]
    assert lines[9:12] == ["   + bias = np.zeros(", "   +     100, dtype=np.float32", "   + )"]


def test_hazards_are_explained_with_how_many_have_them() -> None:
    assert "widens         4 findings: the result takes more memory" in audit_text(pipeline())


def test_hazards_that_all_findings_of_an_origin_share_are_said_once(tmp_path: Path) -> None:
    text = audit_text(pipeline())
    assert text.count("not-on-device") == 2  # below the origin, and among the explained
    assert "   each: widens, not-on-device\n" in text
    mixed = audited("t = np.linspace(0, 1, 100)\ny = x + t\nx += t\n", tmp_path)
    assert "each:" not in audit_text(mixed)
    assert "loses-precision, loses-range" in audit_text(mixed)


@pytest.mark.parametrize("width", [40, 80])
def test_no_line_of_words_is_wider_than_the_terminal(width: int) -> None:
    lines = audit_text(pipeline(), width=width).splitlines()
    code = ("   - ", "   + ")
    whole = [line for line in lines if " -> " not in line and not line.startswith(code)]
    assert max(map(len, whole)) <= width


def test_colours_change_no_word() -> None:
    import click

    assert click.unstyle(audit_text(pipeline(), coloured)) == audit_text(pipeline())
    assert audit_text(pipeline(), coloured) != audit_text(pipeline())


def test_no_findings_says_of_how_much(tmp_path: Path) -> None:
    found = audited("y = x + 1\nz = y * x\n", tmp_path)
    assert audit_text(found).startswith("No findings in 4 operations on arrays.")


def test_a_program_without_arrays_is_not_called_clean(tmp_path: Path) -> None:
    program = tmp_path / "plain.py"
    program.write_text("print(1 + 1)\n")
    from castwise.auditing.launch import run_audited
    from castwise.auditing.origins import make_audit

    text = audit_text(make_audit(run_audited([str(program)]).seen))
    assert text.startswith("No operation on arrays was seen.")


def test_an_origin_castwise_cannot_fix_says_so() -> None:
    (origin,) = pipeline().origins
    text = audit_text(replace(pipeline(), origins=(replace(origin, plan=NO_PLAN),)))
    assert "Causes 4 findings; no fix could be proven" in text


def test_many_origins_are_cut_and_counted() -> None:
    (origin,) = pipeline().origins
    text = audit_text(replace(pipeline(), origins=(origin,) * 13))
    assert "And 3 more lines with 12 findings" in text


def test_coverage_names_callables_and_functions() -> None:
    unclear = Counter({"fft": 7, "solve": 1})
    left = UnobservedFunction("/a/b.py", 3, "kernel", "numba.njit")
    coverage = Coverage(12, unclear, (left,), files=2)
    text = coverage_text(coverage, 100)
    assert "Seen: 12 operations on arrays, in 2 files." in text
    assert "Not understood: 8 (fft 7, solve 1)." in text
    assert "Not observed: 1 piece of code, kernel at /a/b.py:3 (numba.njit)." in text


def test_code_without_a_file_has_no_place() -> None:
    left = UnobservedFunction("python -c", 0, "python -c", "only its imports are observed")
    text = coverage_text(Coverage(1, Counter(), (left,), files=1), 100)
    assert "Not observed: 1 piece of code, python -c (only its imports are observed)." in text


def test_findings_of_a_traced_function_say_so(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    found = audited(
        """
        import jax, jax.numpy as jnp
        def loss(a):
            return (a * jnp.ones(3, dtype=jnp.bfloat16)).sum()
        jax.grad(loss)(jnp.ones(3))
        """,
        tmp_path,
    )
    assert "per trace" in audit_text(found)


def test_temporaries_are_stated_apart_where_the_framework_makes_them(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    found = audited(
        """
        import torch
        a, b = torch.ones(1000, 10, dtype=torch.bfloat16), torch.ones(10)
        for _ in range(3):
            c = a * b
        """,
        tmp_path,
    )
    assert found.temporaries == 3 * 1000 * 10 * 4  # a is cast to float32, b is not
    assert found.bytes == 3 * 1000 * 10 * 2
    assert "In addition, 120 kB of temporaries: on the CPU, torch" in audit_text(found)


def test_numpy_makes_no_temporaries() -> None:
    assert pipeline().temporaries == 0


def test_a_slice_keeps_the_line_that_made_its_array(tmp_path: Path) -> None:
    found = audited("steps = np.linspace(0, 1, 200)\ny = x + steps[100:]\n", tmp_path)
    (origin,) = found.origins
    assert origin.code == "np.linspace(0, 1, 200)"


def test_comments_within_an_expression_do_not_reach_its_fix(tmp_path: Path) -> None:
    found = audited("bias = np.zeros(  # wide\n    100,  # long\n)\ny = x + bias\n", tmp_path)
    (origin,) = found.origins
    assert origin.code == "np.zeros( 100, )"
    assert [fix.text for fix in origin.fixes] == ["np.zeros( 100, dtype=np.float32)"]


def test_stacked_arrays_keep_the_line_that_made_them_wide(tmp_path: Path) -> None:
    found = audited(
        """
        wide = image / 255
        both = np.stack([wide, wide])
        y = both * x
        """,
        tmp_path,
    )
    (origin,) = found.origins
    assert origin.code == "image / 255"
    assert [finding.op for finding in origin.findings] == ["mul", "div"]


def test_dtypes_that_are_out_of_scope_are_counted_and_named(tmp_path: Path) -> None:
    program = """
    wide = np.ones(2, np.longdouble)
    day = np.array(["2020-01-01"], dtype="datetime64[D]")
    apart = wide + 1, np.array([1, 2], dtype=object) * 2, day < day
    of_wide = wide * np.ones(2, np.int32)
    of_objects = np.add(np.array([1, 2], dtype=object), np.ones(2, np.int32))
    of_time = np.array([1, 2], dtype="timedelta64[s]") * np.ones(2, np.int32)
    """
    found = audited(program, tmp_path)
    assert not found.findings
    assert "Not understood: 3 (a dtype that castwise does not know 3)." in audit_text(found)
