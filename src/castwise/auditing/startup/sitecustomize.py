"""Joins a Python process to an audit: the program's own, and those it starts.

Only such processes have the directory of this file in PYTHONPATH. Any Python version, with any
packages, may run it, so it imports as little as possible.
"""

import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if path != _here]
sys.path_importer_cache.pop(_here, None)
_paths = [path for path in os.environ.pop("PYTHONPATH", "").split(os.pathsep) if path != _here]
if any(_paths) or os.environ.pop("CASTWISE_EMPTY_PATH", None) is not None:
    os.environ["PYTHONPATH"] = os.pathsep.join(_paths)
_directory = os.environ.pop("CASTWISE_AUDIT", None)

if _directory and os.path.isdir(_directory):
    _loaded = frozenset(sys.modules)
    try:
        from castwise.auditing import join
    except Exception:  # another Python, without castwise: it runs unobserved
        pass
    else:
        join.join(_directory, _loaded)

# Loads the sitecustomize that this file hides; site reads an ImportError as "there is none".
del sys.modules["sitecustomize"]
sys.modules["sitecustomize"] = __import__("sitecustomize")
