"""The dialect that a loaded framework follows."""

from __future__ import annotations

import functools

from castwise.errors import UsageError
from castwise.loaded.state import name_of_loaded
from castwise.rules.catalog import nearest_named
from castwise.rules.nearest import Nearest


def dialect_of_loaded(framework: str) -> Nearest:
    """The dialect of a framework's version and mode here, with a note where its version is not
    recorded and the nearest one answers. A framework that is not loaded counts as the newest."""
    return nearest_recorded(name_of_loaded(framework))


@functools.lru_cache(maxsize=256)
def nearest_recorded(name: str) -> Nearest:
    """The recorded dialect that answers for a version and mode, such as torch@2.13.1+cpu."""
    try:
        return nearest_named(name)
    except UsageError:  # the version is not written in numbers, or the dialect has none
        framework, _, rest = name.partition("@")
        mode = rest.partition(":")[2]
        return nearest_named(f"{framework}:{mode}" if mode else framework)
