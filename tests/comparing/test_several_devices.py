"""A framework beside its own arrays that are spread over processes, devices or a cluster.

Most are asked in a process of their own, whose framework starts with more devices.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from castwise.catalog import dialect_named
from castwise.comparing.verify import compare_through, prepared, transformation_named
from castwise.conformance.questions import GridQuestion
from castwise.errors import UsageError
from castwise.report.verify import through_json
from processes import finished, started

LIMIT = 300  # seconds


def verified(*arguments: str) -> dict[str, Any]:
    """What the command finds."""
    command = [sys.executable, "-m", "castwise", "verify", *arguments, "--json"]
    done = finished(command, timeout=LIMIT)
    assert done.returncode in (0, 1), done.stderr
    assert done.stderr == ""
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def shown(found: dict[str, Any]) -> list[str]:
    """What the lines of the differences print, or what they raise, in a new process."""
    program = "\n".join(
        [
            "import warnings; warnings.simplefilter('ignore')",
            *found["imports"],
            f"for line in {[one['line'] for one in found['differences']]!r}:",
            "    try: told = repr(eval(line))",
            "    except Exception as error: told = repr(error)",
            "    print(' '.join(told.split()))",
        ]
    )
    done = finished([sys.executable, "-c", program], timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_distributed_tensors() -> None:
    pytest.importorskip("torch.distributed.tensor")
    asked = [
        GridQuestion("add", "operator", ("int32[3]", "1.5")),
        GridQuestion("add", "function", ("float16[3]", "float64[]")),
        GridQuestion("add", "function", ("uint16[3]", "uint16[3]")),
        GridQuestion("sum", "function", ("int16[3]",)),
        GridQuestion("concat", "function", ("uint8[3]", "complex64[3]")),
        GridQuestion("cumsum", "inplace", ("int32[3]",)),
        GridQuestion("allclose", "function", ("float32[3]", "float32[3]")),
        GridQuestion("where", "function", ("uint8[3]", "int8[3]", "int8[3]")),
    ]
    recorder, transformation = prepared(dialect_named("torch"), "dtensor")
    found = through_json(compare_through(recorder, transformation, asked))
    assert multiprocessing.active_children() == []
    assert found["asked"] == len(asked)
    errors = {one["op"]: (one["kind"], one["error"]) for one in found["differences"]}
    lacks = "Operator aten.cumsum_.default does not have a sharding strategy registered."
    assert errors == {
        "cumsum": ("unsupported", lacks),
        "allclose": ("unsupported", "The result of aten.allclose.default depends on values."),
        "where": ("refused", "expected predicate to be bool, got torch.uint8"),
    }
    told = dict(zip((one["op"] for one in found["differences"]), shown(found), strict=True))
    assert lacks in told["cumsum"]
    assert "aten.allclose" in told["allclose"]
    assert "expected predicate to be bool" in told["where"]


def test_an_interrupt_leaves_no_process() -> None:
    pytest.importorskip("torch.distributed.tensor")
    if not Path("/proc").is_dir():
        pytest.skip("the processes are found in /proc")
    command = [sys.executable, "-m", "castwise", "verify", "torch", "--through", "dtensor"]
    with started(command, start_new_session=True) as process:
        while len(cluster_names(process.pid)) < 4:
            assert process.poll() is None
            time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        process.wait(timeout=LIMIT)
        until = time.monotonic() + 30
        while cluster_names(process.pid) and time.monotonic() < until:
            time.sleep(0.2)
        assert cluster_names(process.pid) == []


def cluster_names(session: int) -> list[int]:
    """The processes of a session, without what keeps track of shared memory."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            is_tracker = b"resource_tracker" in (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z" and not is_tracker:
            found.append(int(folder.name))
    return found


def test_sharded_arrays() -> None:
    pytest.importorskip("jax")
    ops = ("--op", "add", "--op", "concat", "--op", "sum")
    found = verified("jax", "--through", "sharded", *ops, "--sample", "3")
    assert found["asked"] > 10
    assert found["differences"] == []


def test_a_jitted_function_of_sharded_arrays_does_not_see_the_exponent() -> None:
    """Nor does one of arrays on a single device."""
    pytest.importorskip("jax")
    found = verified("jax", "--through", "sharded:jit", "--op", "pow", "--sample", "30")
    assert {one["op"] for one in found["differences"]} == {"pow"}
    assert {one["kind"] for one in found["differences"]} <= {
        "another dtype",
        "weak type",
        "refused",
    }
    results = [one for one in found["differences"] if one["kind"] != "refused"]
    answers = [one["through"].rstrip("*") for one in results]
    told = shown({**found, "differences": results})
    assert all(answer in line for answer, line in zip(answers, told, strict=True)), told


def test_devices_cannot_be_added_to_jax_once_it_runs() -> None:
    pytest.importorskip("jax")
    program = (
        "import jax; jax.numpy.ones(3)\n"
        "from castwise.comparing.verify import transformation_named\n"
        "transformation_named('jax', 'sharded')"
    )
    done = finished([sys.executable, "-c", program], timeout=LIMIT)
    assert "JAX has started with 1 of the 3 CPU devices" in done.stderr
    assert "XLA_FLAGS=--xla_force_host_platform_device_count=3" in done.stderr


@pytest.mark.parametrize("name", ["dask", "dask:cluster"])
def test_arrays_of_dask(name: str) -> None:
    pytest.importorskip("dask.array")
    if name == "dask:cluster":
        pytest.importorskip("distributed")
    found = verified("numpy", "--through", name, "--op", "add", "--op", "round", "--op", "matmul",
                     "--op", "kron", "--sample", "20")  # fmt: skip
    by_kind: dict[str, set[str]] = {}
    for one in found["differences"]:
        by_kind.setdefault(one["kind"], set()).add(f"{one['op']} {one['form']}")
    assert by_kind["declared"] == {"round function"}
    assert by_kind["unsupported"] == {"kron function"}
    assert {"matmul function", "matmul operator"} <= by_kind["another dtype"]
    assert by_kind["taken"] == {"add augmented", "matmul augmented"}
    (lie,) = [one for one in found["differences"] if one["kind"] == "declared"]
    dtypes = {"computed": "float16", "block 0": "float16", "block 1": "float16"}
    assert lie["dtypes"] == {"declared": "bool", **dtypes}
    assert shown({**found, "differences": [lie]}) == ["[(dtype('bool'), dtype('float16'))]"]


@pytest.mark.parametrize(
    ("missing", "name", "said"),
    [
        ("dask", "dask", "Dask is not installed: pip install 'dask[array]'."),
        ("distributed", "dask:cluster", "a cluster needs the package distributed: pip install"),
    ],
)
def test_what_is_not_installed_is_told(
    missing: str, name: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if missing == "distributed":
        pytest.importorskip("dask.array")
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "dask.array", raising=False)
    with pytest.raises(UsageError) as caught:
        transformation_named("numpy", name)
    assert f"--through {name}: {said}" in str(caught.value)
