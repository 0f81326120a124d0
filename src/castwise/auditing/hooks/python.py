"""The hook for Python's built-in functions."""

from castwise.auditing.hook import Hook

HOOK = Hook(
    framework="builtins",
    modules="math cmath operator functools itertools copy time os sys random json pickle io re "
    "typing",
    keeps="float int bool complex str repr len iter next min max any all print isinstance type "
    "deepcopy copy id hash enumerate zip sorted reversed append extend insert dump dumps write "
    "cast",
)
