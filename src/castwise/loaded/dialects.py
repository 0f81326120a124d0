"""The dialect that a loaded framework follows."""

from __future__ import annotations

import functools

from castwise.errors import UsageError
from castwise.loaded.state import name_of_loaded
from castwise.rules.catalog import dialect_named, nearest_named
from castwise.rules.releases.layers import layers
from castwise.rules.releases.nearest import Nearest

_OF_GPUS = ("cuda", "gpu")  # what modes that were recorded on a GPU are called


def dialect_of_loaded(framework: str, *, is_on_gpu: bool = False) -> Nearest:
    """The dialect of a framework's version and mode here, with a note where its version is not
    recorded and the nearest one answers. A framework that is not loaded counts as the newest."""
    name = name_of_loaded(framework)
    return nearest_on_gpu(name) if is_on_gpu else nearest_recorded(name)


@functools.lru_cache(maxsize=256)
def nearest_on_gpu(name: str) -> Nearest:
    """The same for arrays on a GPU: what was recorded there, if anything was in this mode."""
    on_cpu = nearest_recorded(name)
    framework, _, mode = name.partition(":")
    for device in _OF_GPUS:
        found = layers().get(
            f"{framework.partition('@')[0]}:{','.join(filter(None, (device, mode)))}"
        )
        if found:
            return Nearest(dialect_named(found.name), on_cpu.note)
    return on_cpu


@functools.lru_cache(maxsize=256)
def nearest_recorded(name: str) -> Nearest:
    """The recorded dialect that answers for a version and mode, such as torch@2.13.1+cpu."""
    try:
        return nearest_named(name)
    except UsageError:  # the version is not written in numbers, or the dialect has none
        framework, _, rest = name.partition("@")
        mode = rest.partition(":")[2]
        return nearest_named(f"{framework}:{mode}" if mode else framework)
