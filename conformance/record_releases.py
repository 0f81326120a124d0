"""Records releases of frameworks, each in an environment of its own.

    python conformance/record_releases.py torch@2.8 numpy@2.0 [-o FOLDER]

releases.toml, in the same folder, says which Python and which packages each needs; python3.10 and
so on must be on the path. Without names, all releases are recorded. A recording that is there
already is kept. python tools/layers.py then writes what differs into the package.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import tomllib

HERE = Path(__file__).resolve().parent
RECORDER = HERE.parent / "tools" / "record.py"
# What castwise itself needs to record; without versions, as an old NumPy is what is asked.
NEEDS = ("click", "rich", "array-api-compat", "tomli", "ml_dtypes", "numpy")
# For releases that are older than Python 3.10, which castwise needs, and have no wheel for it.
BUILDS = {**os.environ, "CFLAGS": f"-include {HERE / 'python310.h'}"}


class Release(NamedTuple):
    """A release of a framework, and how to install it."""

    framework: str
    version: str
    python: str
    install: tuple[str, ...]
    build: tuple[str, ...] = ()  # what builds the first of them, where it is built here
    without: tuple[str, ...] = ()  # the ops that are not asked about
    mode: str = ""

    @property
    def name(self) -> str:
        return f"{self.framework}@{self.version}"


def releases() -> Iterator[Release]:
    """All that are listed."""
    listed = tomllib.loads((HERE / "releases.toml").read_text(encoding="utf-8"))
    for framework, versions in listed.items():
        without = tuple(versions.pop("without", "").split())
        for version, how in versions.items():
            install, build = how["install"].split(), how.get("build", "").split()
            yield Release(
                framework, version, how["python"], tuple(install), tuple(build), without,
                how.get("mode", ""),
            )  # fmt: skip


def record(release: Release, output: Path) -> bool:
    """Installs and asks a release, and tells whether that worked; what failed is printed."""
    with tempfile.TemporaryDirectory(prefix="castwise-") as folder:
        python = f"{folder}/bin/python"
        pip = [python, "-m", "pip", "install", "-q"]
        steps = (
            [f"python{release.python}", "-m", "venv", folder],
            *([*pip, *words] for words in _installs(release)),
            [*pip, "--no-deps", str(HERE.parent)],
            [python, str(RECORDER), release.framework, "-o", str(output)]
            + ["--mode", release.mode]
            + [word for op in release.without for word in ("--without", op)],
        )
        for step in steps:
            done = subprocess.run(
                step, cwd=folder, check=False, env=BUILDS, capture_output=True, text=True
            )
            if done.returncode:
                sys.stderr.write(f"{release.name}: {' '.join(step)}\n{done.stderr[-3000:]}\n")
                return False
    sys.stderr.write(done.stderr)  # which questions have no answer, and why
    return True


def _installs(release: Release) -> list[list[str]]:
    """What is handed to pip, in turn. The packages beside a release that is built here may require
    a newer one, so that what they require is not looked at."""
    needs = _unnamed(release)
    if not release.build:
        return [[*release.install, *needs]]
    built, *beside = release.install
    source = ["--no-build-isolation", "--no-binary", release.framework]
    without = [["--no-deps", *beside]] if beside else []
    return [
        [*release.build],
        [*source, built],
        *without,
        [name for name in needs if name != "ml_dtypes"],  # which would bring a newer NumPy
    ]


def _unnamed(release: Release) -> list[str]:
    """What castwise needs and the release does not install in a version of its own."""
    named = {text.partition("==")[0] for text in release.install}
    return [name for name in NEEDS if name not in named]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="RELEASE")
    parser.add_argument("-o", "--output", type=Path, default=HERE / "releases")
    chosen = parser.parse_args()
    known = {release.name: release for release in releases()}
    unknown = [name for name in chosen.names if name not in known]
    if unknown:
        parser.error(f"{', '.join(unknown)}: not in releases.toml, which has {', '.join(known)}")
    failed = []
    for name in chosen.names or known:
        output = (chosen.output / f"{name}.tsv.gz").resolve()
        if not output.exists() and not record(known[name], output):
            failed.append(name)
        sys.stdout.write(f"{name}: {'failed' if name in failed else output}\n")
        sys.stdout.flush()
    return bool(failed)


if __name__ == "__main__":
    raise SystemExit(main())
