"""Makes a Python process started by an audited program part of the audit.

The directory of this file stands in PYTHONPATH of such processes alone.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if path != _here]
_paths = [path for path in os.environ.pop("PYTHONPATH", "").split(os.pathsep) if path != _here]
if any(_paths):
    os.environ["PYTHONPATH"] = os.pathsep.join(_paths)
_directory = os.environ.pop("CASTWISE_AUDIT", None)

_spec = PathFinder.find_spec("sitecustomize")  # the one this file stands before
if _spec is not None and _spec.loader is not None:
    sys.modules["sitecustomize"] = module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["sitecustomize"])

if _directory and Path(_directory).is_dir():
    from castwise.auditing.child import join

    join(Path(_directory))
