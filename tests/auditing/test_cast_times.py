"""The time of casts on a GPU, with a stand-in for CUDA's events."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from castwise.auditing.log import Tally
from castwise.auditing.patches.torch_ops import CastTimes
from castwise.auditing.records import InsideCast, InsideCoverage, SourcePlace
from castwise.report.audit import inside_text
from castwise.vocab.dtypes import dtype


class Gpu:
    """A GPU whose clock moves when it is told to."""

    def __init__(self) -> None:
        self.clock = 0.0
        self.done = 0.0  # everything before it is finished
        self.is_capturing = False

    def is_current_stream_capturing(self) -> bool:
        return self.is_capturing

    def Event(self, enable_timing: bool) -> Any:  # noqa: N802 -- the name in torch.cuda
        assert enable_timing
        event = SimpleNamespace(at=None)
        event.record = lambda: setattr(event, "at", self.clock)
        event.query = lambda: event.at <= self.done
        event.elapsed_time = lambda other: other.at - event.at
        return event


ON_GPU, ON_CPU = SimpleNamespace(is_cuda=True), SimpleNamespace(is_cuda=False)


def test_a_cast_counts_once_the_gpu_has_passed_it() -> None:
    gpu, tally = Gpu(), Tally((), None)
    times = CastTimes(gpu)
    for _ in range(3):
        began = times.begin(ON_GPU)
        gpu.clock += 2  # milliseconds
        times.add(tally, began, times.end(began))
    times.settle()
    assert tally.seconds == 0
    gpu.done = 4
    times.settle()
    assert tally.seconds == 0.004
    gpu.done = 6
    times.settle()
    times.settle()
    assert tally.seconds == 0.006


def test_what_is_not_timed() -> None:
    gpu = Gpu()
    times = CastTimes(gpu)
    assert times.begin(ON_CPU) is None
    gpu.is_capturing = True
    assert times.begin(ON_GPU) is None
    assert times.end(None) is None


def test_the_report_tells_the_time() -> None:
    place = SourcePlace("train.py", 3, 1, 3, 2)
    cast = InsideCast(place, dtype("float32"), dtype("float16"), "autocast", 2, 8, 0.0042)
    assert "autocast, 16 bytes, 2 times, 4.2 ms on the GPU" in inside_text(
        InsideCoverage(2, casts=(cast,)), 120
    )
