"""Texts of a person or of a file inside prompts: quoted, bounded, on one line, so that they stay data."""

from __future__ import annotations

from collections.abc import Sequence

from swath.agent.llm.given import Given
from swath.agent.offline.amounts import units
from swath.agent.planner import Scene
from swath.trace.wording import harmless

LONGEST_NAME = 60
MOST_NAMES = 60
"""Classes that a prompt lists; a legend may have thousands."""


def quoted(text: str, longest: int) -> str:
    """A text that cannot end its own quotation."""
    plain = harmless(text).replace("<<<", "< < <").replace(">>>", "> > >").replace("```", "` ` `")
    return plain if len(plain) <= longest else plain[: longest - 3] + "..."


def names(classes: Sequence[str]) -> str:
    """Class names as a list of Python texts."""
    shown = ", ".join(f'"{quoted(name, LONGEST_NAME)}"' for name in classes[:MOST_NAMES])
    return shown + (f" and {len(classes) - MOST_NAMES} more" if len(classes) > MOST_NAMES else "")


def of_scene(scene: Scene, gsd_m: float | None) -> dict[str, object]:
    """What a prompt says of an image.

    Args:
        scene: what is known of it.
        gsd_m: the ground size that the question states.
    """
    if gsd_m is not None:
        ground = f"a pixel is {gsd_m:g} m"
    elif scene.pixel_size_m is not None:
        ground = "a pixel is {:.4g} x {:.4g} m".format(*scene.pixel_size_m)
    else:
        ground = "the ground size of a pixel is unknown, so nothing can be measured in metres"
    rows, cols = scene.shape
    return {
        "rows": rows, "cols": cols, "ground": ground, "north": scene.north, "classes": names(scene.classes) or "none",
    }  # fmt: skip


def of_given(given: Given) -> str:
    """What is certain about a question, as one line."""
    said = []
    for word, classes in given.classes:
        if classes != (word,):
            said.append(f'"{quoted(word, LONGEST_NAME)}" means {" + ".join(names([name]) for name in classes)}')
    said += [
        f"{quoted(amount.said, LONGEST_NAME)} = {amount.value.normalize():f} {amount.unit}"
        for amount in given.amounts
        if amount.key and units()[amount.key].size != 1
    ]
    if given.unit:
        said.append(f"the answer is asked for in {given.unit}")
    return "; ".join(said)
