"""The hook for Python's built-in functions and the standard library."""

from castwise.auditing.hook import Calls, Hook, Watching


def _marshal_originals() -> None:
    from castwise.auditing.hooks.python_code import marshal_originals

    marshal_originals()


def _show_originals() -> None:
    from castwise.auditing.hooks.python_code import show_originals

    show_originals()


def _hide_observers() -> None:
    from castwise.auditing.hooks.python_code import hide_observers

    hide_observers()


HOOK = Hook(
    framework="builtins",
    modules="math cmath operator functools itertools copy time os sys random json pickle io re "
    "typing",
    calls=Calls(
        like={"abs": "abs", "round": "round", "pow": "pow", "floor_divide": "divmod"},
        keeps="float int bool complex str repr len iter next min max any all print isinstance type "
        "deepcopy copy id hash enumerate zip sorted reversed append extend insert dump dumps write "
        "cast",
    ),
    watching=Watching(
        when_imported={"marshal": _marshal_originals, "dis": _show_originals,
                       "inspect": _hide_observers},
    ),
)  # fmt: skip
