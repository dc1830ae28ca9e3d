"""How often Python looks for objects that only refer to one another."""

import gc

__outside_step_keys__ = True

_OBJECTS_BETWEEN = 1_000_000
"""New objects after which Python looks: an expression and its SQL have some ten thousand."""


def collect_seldom() -> None:
    """Let this process look for cycles seldom; call it where a program or a process begins.

    Rows and expressions are millions of objects without cycles. To look for some after each 700 of
    them, as Python does, took an eighth of a small release, and after each 50,000 a twentieth.
    """
    gc.set_threshold(_OBJECTS_BETWEEN)
