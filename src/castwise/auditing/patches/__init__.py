"""What castwise changes in libraries while it audits a program that uses them.

A hook says what castwise knows about a framework; a patch acts in it. It is a function of this
folder, which gets the module that it changes. Its file is loaded once the program imports that
module, and not before: a program that uses no torch pays nothing for it.
"""

from __future__ import annotations

import functools
import importlib
import sys

from castwise.auditing.process import when_imported

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
