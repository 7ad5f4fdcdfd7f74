"""Picking out the object that a phrase means: by class, by rank, and that there is only one."""

from __future__ import annotations

import numpy as np

from swath.errors import Refused, UnknownClass
from swath.segment.grounded.detector import usual_folder
from swath.segment.protocol import listed_classes
from swath.segment.vocabulary import canonical
from swath.tools.clip import warn_of_the_cut
from swath.tools.handles import Mask, Regions
from swath.tools.regions import all_components, positive
from swath.tools.registry import tool
from swath.tools.site import Site

ARTICLES = ("the ", "a ", "an ", "all ", "every ", "each ")


@tool()
def ground(site: Site, phrase: str) -> Regions:
    """The objects that a word or phrase names, such as "storage tanks": those of the class that it means.

    A free phrase, such as "red lorry", which names no class, is looked for by a segmenter with an open vocabulary,
    where one is installed.

    Args:
        site: the image and its source of classes.
        phrase: a class of the source, a word for it, or a free phrase; with or without an article.

    Raises:
        UnknownClass: it names no class of the source and nothing finds free phrases; the message says what would help.
    """
    known = site.backend.classes()
    bare = phrase.strip()
    bare = next((bare[len(word) :] for word in ARTICLES if bare.lower().startswith(word)), bare)
    name = canonical(bare, known)
    mask = site.class_mask(name) if name is not None else _by_phrase(site, bare, known)
    found = all_components(mask, 8)
    warn_of_the_cut(site, mask, found)
    return found


def _by_phrase(site: Site, phrase: str, known: tuple[str, ...]) -> Mask:
    """What a free phrase names.

    Raises:
        UnknownClass: nothing finds free phrases.
    """
    mask = site.grounded(phrase)
    if mask is not None:
        site.warn(f'"{phrase}" names no class of the source: it was looked for by a segmenter with an open vocabulary.')
        return mask
    if not known:
        return site.class_mask(phrase)  # a source without classes says why it has none
    raise UnknownClass(
        f'"{phrase}" names no class of the source ({site.backend.name}), which knows {listed_classes(known)}. '
        "Next: take one of these and choose among its objects by size, place or neighbours, or add the objects "
        "with --layer NAME=FILE; a free phrase needs the files of OWLv2 or Grounding DINO in "
        f"{usual_folder()}, see docs/models.md."
    )


@tool()
def nth(site: Site, regions: Regions, *, n: int) -> Regions:
    """The nth region alone, in the order of the set; none where there are fewer.

    Args:
        site: the image.
        regions: an ordered set.
        n: rank from 1 on.
    """
    return regions.take(np.arange(len(regions))[positive(n) - 1 : n], f"number {n} of {regions.name}")


@tool()
def only(site: Site, regions: Regions) -> Regions:
    """The one region of a set.

    Raises:
        Refused: there is none, or more than one, so that it is not clear which is meant.
    """
    if len(regions) == 1:
        return regions
    if len(regions) == 0:
        raise Refused(f"There is no {regions.name} in the image.")
    raise Refused(
        f"There are {len(regions)} {regions.name}, not one, so that it is not clear which is meant. "
        "Next: say which by its size, place or neighbours, or ask for all of them."
    )
