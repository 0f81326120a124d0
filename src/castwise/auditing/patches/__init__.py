"""What castwise changes in libraries while it audits a program that uses them.

A hook says what castwise knows about a framework; a patch acts in it. It is a function of this
folder, which gets the module that it changes. Its file is loaded once the program imports that
module, and not before: a program that uses no torch pays nothing for it. Below the list of patches
is how they act without showing in the program.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from _thread import _local
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any, TypeVar

_CLOUDPICKLES = (
    "cloudpickle", "joblib.externals.cloudpickle", "ray.cloudpickle", "pyspark.cloudpickle",
    "apache_beam.internal.cloudpickle",
)  # fmt: skip

# By module, as file.function: what a program needs of which any function is observed.
PATCHES = {
    "marshal": "originals.marshal_originals",
    "dis": "originals.show_originals",
    "inspect": "originals.hide_observers",
    "dill._dill": "originals.dill_originals",
    "dill.detect": "originals.find_the_globals_of_originals",
    # It hashes functions to find results that it has kept from earlier runs.
    "datasets.utils._dill": "originals.save_originals",
    # The package itself, and the copies of it in others.
    **dict.fromkeys([f"{package}.cloudpickle" for package in _CLOUDPICKLES],
                    "originals.cloudpickle_originals"),
    # The pickler is in this file before version 3.
    **dict.fromkeys([f"{package}.cloudpickle_fast" for package in _CLOUDPICKLES],
                    "originals.cloudpickle_originals"),
    "numba.core.bytecode": "originals.compile_originals_with_numba",
    "numba.core.dispatcher": "originals.dispatch_originals",
    "torch._dynamo.convert_frame": "torch_compile.compile_originals",
    "torch._dynamo.variables.functions": "torch_compile.inline_originals",
    "torch.utils.data._utils.collate": "torch_training.follow_batches",
}  # fmt: skip
# What only the audit of a whole process needs.
RECORDING_PATCHES = {
    "torch.amp.autocast_mode": "torch_autocast.watch_autocast",
    "torch.optim.optimizer": "torch_training.watch_optimizers",
    "torch.multiprocessing.reductions": "torch_training.follow_sent",
}
# What shows the operations inside libraries; a hook says so too, as Watching.shows_inside.
DEEP_PATCHES = {"torch": "torch_ops.watch"}


def apply_when_imported(patches: dict[str, str]) -> None:
    """Applies patches, each as soon as its module is there."""
    for module, patch in patches.items():
        when_imported(module, functools.partial(_apply, module, patch))


def _apply(module: str, patch: str) -> None:
    file, _, function = patch.partition(".")
    getattr(importlib.import_module(f"{__name__}.{file}"), function)(sys.modules[module])


# Actions that wait for a module to be imported.

_waiting: dict[str, Callable[[], None]] = {}


def when_imported(name: str, action: Callable[[], None]) -> None:
    """Runs an action once a module is imported, or now if it already is."""
    if name in sys.modules:
        action()
    else:
        _waiting[name] = action


def notice_import(spec: ModuleSpec) -> None:
    """Schedules the action waiting for a module to run after its loader."""
    loader: Any = spec.loader
    if spec.name not in _waiting or loader is None:
        return
    run = loader.exec_module

    def run_and_act(module: ModuleType) -> None:
        del loader.exec_module  # restore the program's loader
        run(module)
        action = _waiting.pop(spec.name, None)  # not earlier: a spec may be looked up and not used
        if action is not None:
            action()

    loader.exec_module = run_and_act


# Actions at the beginning and at the end of every thread.


def in_every_thread(enter: Callable[[], Callable[[], object]]) -> None:
    """Enters something in every thread that `threading` starts from now on; what `enter` returns
    ends it."""
    threads: Any = threading.Thread
    begin, end = threads._set_ident, threads._delete
    entered = _local()

    # Not around the thread's own function: the program would see another frame in its stack.
    @functools.wraps(begin)
    def begin_inside(thread: threading.Thread) -> None:
        begin(thread)
        if not isinstance(thread, threading._DummyThread):
            entered.leave = enter()

    @functools.wraps(end)
    def end_inside(thread: threading.Thread) -> None:
        leave = entered.__dict__.pop("leave", None)
        if leave is not None:
            leave()
        end(thread)

    threads._set_ident, threads._delete = begin_inside, end_inside


# What stands in place of a library's function, and does not show in the program's tracebacks.

_Wrapped = TypeVar("_Wrapped", bound=Callable[..., Any])


def hide_own_frames(error: BaseException, *others: CodeType | None) -> None:
    """Removes castwise's frames from the start of an error's traceback, and those of other code
    that only castwise calls. A bare `raise` then adds no frame, from Python 3.11 on."""
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        is_own = str(frame.f_globals.get("__name__", "")).startswith("castwise.")
        if not is_own and frame.f_code not in others:
            break
        trace = trace.tb_next
    error.__traceback__ = trace


def stand_in_for(plain: Callable[..., Any]) -> Callable[[_Wrapped], _Wrapped]:
    """Makes a function look like the one it stands in for, in tracebacks too."""

    def decorate(function: _Wrapped) -> _Wrapped:
        @functools.wraps(plain)
        def stand_in(*arguments: Any, **named: Any) -> Any:
            try:
                return function(*arguments, **named)
            except BaseException as error:
                hide_own_frames(error)
                raise

        return stand_in  # type: ignore[return-value]

    return decorate
