"""`castwise doctor`: what is installed, by its metadata, and what is wrong with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from castwise.cli.main import main
from castwise.health import (
    NEAREST,
    NOT_COVERED,
    RECORDED,
    NotInstalledError,
    OwnMetadata,
    Package,
    Requirement,
    backends,
    extras,
    find_package,
    installed_frameworks,
    installed_kernels,
    missing,
    own_metadata,
    version_numbers,
)
from processes import finished


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory for packages, before all others."""
    place = tmp_path / "site"
    place.mkdir()
    monkeypatch.syspath_prepend(str(place))
    return place


def install(site: Path, name: str, version: str, module: str = "") -> Path:
    """What pip leaves: metadata and, where it is named, a module. None of it can be imported."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(text, encoding="utf-8")
    if module:
        (site / module).mkdir()
        (site / module / "__init__.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    return info


def test_a_package_is_found_without_importing_it(site: Path) -> None:
    install(site, "acme-lib", "1.2", "acmelib")
    found = find_package("acmelib", ["acme-lib"])
    assert found == ("acme-lib", "1.2", None)
    with pytest.raises(NotInstalledError):
        find_package("acmelob")


def test_the_package_of_a_module_is_looked_up_where_its_name_is_not_known(site: Path) -> None:
    info = install(site, "acme-cuda12x", "14.0", "acmecuda")
    (info / "top_level.txt").write_text("acmecuda\n", encoding="utf-8")
    assert find_package("acmecuda") == ("acme-cuda12x", "14.0", None)


def test_metadata_without_its_module_is_broken(site: Path) -> None:
    install(site, "acmelib", "1.2")
    problem = find_package("acmelib").problem
    assert problem is not None
    assert problem.what == "acmelib 1.2 is listed as installed, and `import acmelib` finds nothing."
    assert problem.remedy == "pip install --force-reinstall acmelib==1.2"


def test_a_module_without_metadata_is_broken(site: Path) -> None:
    (site / "acmelib.py").touch()
    (site / "acmedir").mkdir()  # a directory that happens to have the name
    problem = find_package("acmelib").problem
    assert problem is not None
    assert "acmelib.py, which no installed package has" in problem.what
    with pytest.raises(NotInstalledError):
        find_package("acmedir")


def test_a_file_that_hides_a_package_is_named(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = install(site, "acmelib", "1.2", "acmelib")
    nearer = tmp_path / "nearer"
    nearer.mkdir()
    (nearer / "acmelib.py").touch()
    monkeypatch.syspath_prepend(str(nearer))
    problem = find_package("acmelib").problem
    assert problem is not None
    assert problem.remedy == f"rename or remove {(nearer / 'acmelib.py').resolve()}"
    editable = {"url": nearer.as_uri(), "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(editable), encoding="utf-8")
    assert find_package("acmelib").problem is None


def test_what_a_half_done_installation_leaves_is_broken(site: Path) -> None:
    install(site, "acmelib", "1.2", "acmelib")
    install(site, "acmelib", "1.3")
    twice = find_package("acmelib").problem
    assert twice is not None
    assert "in the versions 1.2 and 1.3" in twice.what
    (site / "acmelab-1.dist-info").mkdir()
    empty = find_package("acmelab").problem
    assert empty is not None
    assert empty.what == "acmelab is listed as installed, and its metadata is empty."


@pytest.mark.parametrize(
    ("package", "module", "version", "dialect", "coverage", "note"),
    [
        ("torch", "torch", "2.13.1+cpu", "torch", RECORDED, ""),
        ("torch", "torch", "2.15.1", "torch@2.15", RECORDED, ""),
        ("torch", "torch", "2.99", "torch@2.15", NEAREST, "answers, the nearest that is."),
        ("torch", "torch", "main", "torch", NOT_COVERED, "main is no version in numbers"),
        ("numpy", "numpy", "1.26.4", "numpy@1.26", RECORDED, ""),
        ("paddlepaddle-gpu", "paddle", "3.3.0", "paddle", RECORDED, ""),
        ("array-api-strict", "array_api_strict", "2.6.9", "array-api", RECORDED, ""),
        ("array-api-strict", "array_api_strict", "9.0", "array-api", NEAREST, "is not recorded"),
    ],
)
def test_a_framework_is_judged_by_the_dialect_of_its_version(
    site: Path, monkeypatch: pytest.MonkeyPatch, package: str, module: str, version: str,
    dialect: str, coverage: str, note: str,
) -> None:  # fmt: skip
    monkeypatch.delitem(sys.modules, module, raising=False)  # it is known where it came from
    install(site, package, version, module)
    (found,) = [f for f in installed_frameworks() if f.package.name == package]
    assert found.package == (package, version, None)
    assert (found.dialect, found.coverage) == (dialect, coverage)
    assert note in found.note
    assert bool(note) == bool(found.note)


def test_what_castwise_needs_is_read_from_its_metadata() -> None:
    own = own_metadata()
    assert Requirement("numpy", "1.24") in own.needed_for()
    assert Requirement("onnx", "1.16", "onnx") in own.needed_for("onnx")
    assert {"onnx", "png", "torch"} <= set(own.extras)
    assert not {"test", "all", "release"} & set(own.extras)
    assert own.pythons[0] == "3.10"
    assert missing(own) == []


def test_what_is_missing_or_old_is_told_with_what_to_do(site: Path) -> None:
    install(site, "acme-old", "1.9.1", "acme_old")
    needs = (
        Requirement("acme-old", "1.10"),
        Requirement("acmelib", ""),
        Requirement("acme-old", "1", "odd"),
        Requirement("acmelib", "2", "odd"),
    )
    own = OwnMetadata("1", needs)
    old, gone = missing(own)
    assert old.what == "acme-old 1.9.1 is older than 1.10, which castwise needs."
    assert old.remedy == "pip install --upgrade 'acme-old>=1.10'"
    assert (gone.what, gone.remedy) == (
        "acmelib, which castwise needs, is not installed.",
        "pip install acmelib",
    )
    (odd,) = extras(own)
    assert (odd.lacks, odd.remedy) == ("acmelib not installed", "pip install 'castwise[odd]'")


def test_a_backend_that_is_too_old_is_not_ready(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    install(site, "torch", "2.3.9", "torch")
    found = {b.name: b for b in backends(OwnMetadata("1", (Requirement("torch", "2.4", "torch"),)))}
    assert found["numpy"].is_ready
    assert found["torch"].lacks == "torch 2.3.9 is too old: it must be 2.4 or newer"
    assert found["torch"].remedy == "pip install --upgrade 'castwise[torch]'"


def test_numbers_of_versions() -> None:
    assert version_numbers("2.5rc1") == (2, 5)
    assert version_numbers("main") == ()
    assert version_numbers("2.10") > version_numbers("2.9.1")


def test_the_command_imports_no_framework_and_says_that_all_is_well(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom castwise.cli.main import main\n"
        "try:\n    main(['doctor', '--json'])\n"
        "except SystemExit as end:\n    print(end.code)\n"
        "print(sorted({'numpy', 'ml_dtypes', 'array_api_strict', 'rich'} & set(sys.modules)))"
    )
    done = finished([sys.executable, "-c", code], cwd=tmp_path, check=True)
    said, status, imported = done.stdout.splitlines()
    found = json.loads(said)
    assert (status, imported, found["problems"]) == ("0", "[]", [])
    numpy = next(f for f in found["frameworks"] if f["name"] == "numpy")
    assert numpy["dialect"].startswith("numpy")
    assert {b["name"]: b["ready"] for b in found["backends"]}["numpy"]
    assert found["python"]["version"] == ".".join(map(str, sys.version_info[:3]))


def test_something_broken_is_told_at_the_end_with_status_1(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(site)
    install(site, "oneflow", "0.9.0")
    (site / "pyproject.toml").write_text("[tool.castwise]\nfale-on = 1\n", encoding="utf-8")
    with pytest.raises(SystemExit) as exit_:
        main(["doctor"])
    said = capsys.readouterr().out
    assert exit_.value.code == 1
    assert "\n  What to do: pip install --force-reinstall oneflow==0.9.0\n" in said
    assert "Did you mean 'fail-on'?" in " ".join(said.split())
    assert "Nothing is wrong" not in said


def test_it_says_whether_there_are_kernels_and_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("castwise.health.is_installed", lambda kind: kind == "cpu")
    monkeypatch.setattr("castwise.health.find_package", lambda name: Package(name, "1.5", None))
    monkeypatch.setattr("castwise.kernels.resources._threads", 3)
    monkeypatch.setenv("CASTWISE_CACHE", "off")
    monkeypatch.setenv("CASTWISE_KERNELS", "off")
    cpu, gpu = installed_kernels()
    assert (cpu.version, cpu.lacks, cpu.threads, cpu.cache) == ("llvmlite 1.5", "", 3, None)
    assert (gpu.lacks, gpu.remedy) == ("CASTWISE_KERNELS is off", "unset CASTWISE_KERNELS")
