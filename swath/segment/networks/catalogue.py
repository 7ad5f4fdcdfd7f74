"""The models that are at hand: the embedded one, and cards in a folder of the user's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from swath.errors import InputError
from swath.segment.networks.card import Card, read_card

EMBEDDED = Path(__file__).with_name("landcover.toml")
FOLDER_VARIABLE = "SWATH_MODELS"


def folder() -> Path:
    """Where the user's models lie: the folder that `SWATH_MODELS` names, else one in the user's cache."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else Path.home() / ".cache" / "swath" / "models"


def cards() -> Iterator[Card]:
    """Every model that can be used: the embedded one first.

    Raises:
        InputError: a card cannot be used.
    """
    if EMBEDDED.is_file():
        yield read_card(EMBEDDED)
    for path in sorted(folder().glob("*.toml")):
        yield read_card(path)


def find(name: str) -> Card:
    """A model by its name or by the path of its card.

    Raises:
        InputError: there is none.
    """
    if Path(name).suffix == ".toml":
        return read_card(Path(name))
    known = list(cards())
    for card in known:
        if card.name == name:
            return card
    names = ", ".join(card.name for card in known) or "none"
    raise InputError(f'There is no model "{name}" (known: {names}). Next: give the path of its card, CARD.toml.')
