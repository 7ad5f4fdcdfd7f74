"""The page that tells people, and later models, what a program may call."""

from __future__ import annotations

from itertools import groupby

from swath.agent.execution import surface
from swath.prompts import Prompt, render

EXAMPLE = """built = segment("building")
big = components(built, larger_than_m2=100)
wet = near(big, segment("water"), max_distance_m=50)
reply(count(wet), kind="count", objects=wet)"""


def surface_page() -> Prompt:
    """Every registered tool with its signature and docstring, by family."""
    families = [(name, list(members)) for name, members in groupby(surface().values(), key=lambda tool: tool.family)]
    return render("surface.md", families=families, example=EXAMPLE)
