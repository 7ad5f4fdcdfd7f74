"""Finds planners by name, ours and those of other packages alike."""

from __future__ import annotations

from importlib.metadata import entry_points

from swath.agent.planner import Planner
from swath.errors import InputError

GROUP = "swath.planners"
AUTO = "auto"
DEFAULT = "offline"
"""What "auto" means while no language model is configured."""


def planner_names() -> tuple[str, ...]:
    """Names of all registered planners."""
    return tuple(sorted(entry.name for entry in entry_points(group=GROUP)))


def open_planner(name: str) -> Planner:
    """A planner by name.

    Raises:
        InputError: no planner has this name; the message lists those that there are.
    """
    wanted = DEFAULT if name == AUTO else name
    for entry in entry_points(group=GROUP):
        if entry.name == wanted:
            planner: Planner = entry.load()()
            return planner
    raise InputError(f'There is no planner "{name}". Next: choose one of {", ".join((AUTO, *planner_names()))}.')
