"""The report for programs: JSON in its documented shape, SARIF by its standard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from castwise.auditing.launch import run_audited
from castwise.auditing.origins import make_audit
from castwise.auditing.records import Options
from castwise.engine.decision import HAZARDS
from castwise.report.audit import coverage_text
from castwise.report.audit_json import audit_json, audit_sarif
from report_example import PIPELINE, audited, line_of, pipeline, script

ROOT = PIPELINE.parents[1]


def test_json_has_the_stated_keys_and_no_other() -> None:
    told = json.loads(json.dumps(audit_json(pipeline())))
    assert list(told) == ["summary", "findings", "target", "coverage", "versions"]
    assert told["target"] == {
        "name": "float32",
        "dtype": "float32",
        "inferred_from": "the arrays that were widened",
    }
    assert told["summary"] == "4 findings in 135 operations, caused by 1 line, cost 302 MB."
    first = told["findings"][0]
    assert first.pop("message").startswith(
        "uint8[384,512,3] / 255 implicitly casts uint8 -> float64"
    )
    where = line_of("image / 255", PIPELINE)
    assert first == {
        "file": str(PIPELINE),
        "line": where,
        "column": 14,
        "code": "image / 255",
        "op": "div",
        "operands": ["uint8[384,512,3]", "255"],
        "result": "float64",
        "count": 32,
        "elements": 32 * 384 * 512 * 3,
        "bytes": 32 * 384 * 512 * 3 * 4,
        "alive": 384 * 512 * 3 * 8,
        "hazards": ["widens", "not-on-device"],
        "origin": {"file": str(PIPELINE), "line": where},
        "fixes": [
            {
                "file": str(PIPELINE),
                "line": where,
                "column": 14,
                "end_line": where,
                "end_column": 25,
                "text": "np.divide(image, 255, dtype=np.float32)",
            }
        ],
    }


def test_json_tells_coverage_and_versions() -> None:
    import numpy as np

    told = audit_json(pipeline())
    assert told["coverage"]["seen"] == pipeline().coverage.seen > 100
    assert told["coverage"]["not_understood"] == {}
    assert told["versions"]["numpy"] == np.__version__


def test_calls_with_a_dtype_are_told_with_it(tmp_path: Path) -> None:
    found = audited(
        """
        x = np.ones(3, dtype="int8")
        print(x.sum(dtype="int16"), np.sum(x, dtype=np.int16), np.add(x, 1, dtype="int8"))
        print(x.sum(dtype="i8"), x.sum(dtype=int), x.sum(dtype=[int][0]))  # NumPy's own words
        """,
        tmp_path,
    )
    assert audit_json(found)["findings"] == []
    coverage = audit_json(found)["coverage"]
    assert (coverage["asked"], coverage["unexpected"]) == ({"sum(int8[3], dtype=int16)": 2}, {})
    said = "Explicit casts by dtype=: 2, most often sum(int8[3], dtype=int16) (2)."
    assert said in coverage_text(found.coverage)


def test_columns_count_characters(tmp_path: Path) -> None:
    found = audited("ä, y = 'ÄÖÜ', x + np.zeros(100)\n", tmp_path)
    assert audit_json(found)["findings"][0]["column"] == 15


def the_run() -> dict[str, Any]:
    log = json.loads(json.dumps(audit_sarif(pipeline(), ROOT)))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    return dict(run)


def test_sarif_rules_are_the_hazards_and_what_is_reported_beside_them() -> None:
    driver = the_run()["tool"]["driver"]
    assert driver["name"] == "castwise"
    others = ["implicit-cast", "lost-values", "compiled-differs", "dtype-error"]
    assert [rule["id"] for rule in driver["rules"]] == [*HAZARDS, *others]
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])


def test_sarif_results_stand_where_the_casts_happen_and_name_the_origin() -> None:
    run = the_run()
    assert len(run["results"]) == 4
    result = run["results"][1]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["ruleId"] == "widens"
    assert result["message"]["text"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {
        "uri": "examples/image_pipeline.py",
        "uriBaseId": "%SRCROOT%",
    }
    assert text_of(place["region"]) == place["region"]["snippet"]["text"] == "scaled - MEAN"
    (began,) = result["relatedLocations"]
    assert text_of(began["physicalLocation"]["region"]) == "image / 255"


def test_a_sarif_fix_replaces_the_origin() -> None:
    (fix,) = the_run()["results"][0]["fixes"]
    (change,) = fix["artifactChanges"]
    (replacement,) = change["replacements"]
    assert text_of(replacement["deletedRegion"]) == "image / 255"
    new = replacement["insertedContent"]["text"]
    assert new == "np.divide(image, 255, dtype=np.float32)"


def text_of(region: dict[str, int]) -> str:
    line = PIPELINE.read_text(encoding="utf-8").splitlines()[region["startLine"] - 1]
    return line[region["startColumn"] - 1 : region["endColumn"] - 1]


def test_files_outside_the_root_are_named_whole(tmp_path: Path) -> None:
    run = audit_sarif(pipeline(), tmp_path)["runs"][0]
    artifact = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": PIPELINE.as_uri()}


def test_a_fingerprint_survives_a_moved_line(tmp_path: Path) -> None:
    def prints(program: str, name: str) -> set[str]:
        directory = tmp_path / name
        directory.mkdir()
        found = audited(program, directory)
        results = audit_sarif(found, directory)["runs"][0]["results"]
        return {result["partialFingerprints"]["castwise/v1"] for result in results}

    line = "y = x + np.zeros(100)\n"
    assert prints(line, "a") == prints(f"\n\n# moved\n{line}", "b")
    assert prints(line, "c") != prints("y = x * np.zeros(100)\n", "d")


def test_sarif_tells_a_crash_and_lost_values(tmp_path: Path) -> None:
    program = """
        n = np.arange(3)
        image[0] + np.uint8(255)
        n += np.ones(3) * 2
        """
    place = script(program, tmp_path)
    seen = run_audited([str(place)], Options(checks_values=True)).seen
    run = json.loads(json.dumps(audit_sarif(make_audit(seen), tmp_path)))["runs"][0]
    crash, loss = run["results"]
    rules = [run["tool"]["driver"]["rules"][result["ruleIndex"]] for result in (crash, loss)]
    assert [rule["id"] for rule in rules] == [crash["ruleId"], loss["ruleId"]]
    assert (crash["ruleId"], crash["level"]) == ("dtype-error", "error")
    assert (loss["ruleId"], loss["level"]) == ("lost-values", "warning")
    first, words, why, advice = crash["message"]["text"].splitlines()
    assert first == "The program ended here: a dtype error."
    assert words.startswith("UFuncTypeError: Cannot cast ufunc 'add' output")
    assert why.startswith("int64[3] += float64[3] is refused in numpy")
    assert advice == "What to write: the result is a new array, float64."
    (change,) = crash["fixes"][0]["artifactChanges"]
    (replacement,) = change["replacements"]
    assert replacement["insertedContent"]["text"] == "n = n + (np.ones(3) * 2)"
    assert loss["message"]["text"] == (
        "uint8 + uint8 -> uint8: 100 of 100 elements wrapped, such as 1 + 255 -> 0."
    )
    assert loss["properties"] == {"lost": 100, "elements": 100}
    for result, code in ((crash, "n += np.ones(3) * 2"), (loss, "image[0] + np.uint8(255)")):
        where = result["locations"][0]["physicalLocation"]
        assert where["artifactLocation"] == {"uri": "program.py", "uriBaseId": "%SRCROOT%"}
        assert where["region"]["startLine"] == line_of(code, place)
        assert where["region"]["snippet"]["text"] == code
        assert result["partialFingerprints"]["castwise/v1"]
