"""Makes a Python process part of an audit: that of the program, and those it starts.

The directory of this file stands in PYTHONPATH of such processes alone. Any Python may read it, of
whatever version and with whatever packages, so it asks for nothing before it has to.
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
        from castwise.auditing.joining import child
    except Exception:  # another Python, without castwise: it runs as it would
        pass
    else:
        child.join(_directory, _loaded)

# The sitecustomize this file stands before; site takes an ImportError as that there is none.
del sys.modules["sitecustomize"]
sys.modules["sitecustomize"] = __import__("sitecustomize")
