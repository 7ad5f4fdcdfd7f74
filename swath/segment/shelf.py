"""Every model that a segmenter may use: is it here, how large, under which licence, with which extra."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from swath.errors import ModelMissing
from swath.segment.grounded.detector import model_folder, usual_folder
from swath.segment.networks.card import Card
from swath.segment.networks.catalogue import EMBEDDED, cards, folder
from swath.segment.pulling import KNOWN
from swath.segment.sam.weights import PATTERN

PACKAGES = {
    "eyes": ("onnxruntime",),
    "sam": ("onnxruntime", "torch", "torchvision", "segment_anything"),
    "grounded": ("torch", "torchvision", "transformers"),
}
"""What each extra brings that is imported."""
NOT_STATED = "licence not stated"


@dataclass(frozen=True)
class Model:
    """One model.

    Attributes:
        name: as `swath models` calls it.
        finds: what it finds, for people.
        licence: of its weights, for people.
        bytes: of its weights; None where any of several may be put there.
        here: whether its files are.
        extra: the extra of this package that it runs with.
        use: what to type next: the option where it is here, else how to get it.
    """

    name: str
    finds: str
    licence: str
    bytes: int | None
    here: bool
    extra: str
    use: str

    @property
    def missing(self) -> tuple[str, ...]:
        """Packages of the extra that are not installed."""
        return tuple(name for name in PACKAGES[self.extra] if find_spec(name) is None)


def models() -> Iterator[Model]:
    """The embedded network, cards and checkpoints in the folder of models, and what can be put there.

    Raises:
        InputError: a card cannot be used.
    """
    for card in cards():
        yield _with_card(card)
    yield from _outliners()
    yield _detector()


def _with_card(card: Card) -> Model:
    embedded = card.path == EMBEDDED
    names = ", ".join(name for name in card.classes if name)
    use = f"--segmenter {card.name if embedded else f'onnx:{card.path}'}"
    return Model(card.name, names, card.licence or NOT_STATED, card.network.stat().st_size, True, "eyes", use)


def _outliners() -> Iterator[Model]:
    """The official checkpoints of Segment Anything, and others that lie beside them."""
    known = {wanted.file for wanted in KNOWN.values()}
    for name, wanted in KNOWN.items():
        here = (folder() / wanted.file).is_file()
        size = (folder() / wanted.file).stat().st_size if here else wanted.bytes
        use = wanted.use if here else f"swath models pull {name}"
        yield Model(name, "outlines", wanted.licence, size, here, "sam", use)
    for path in sorted(folder().glob(PATTERN)):
        if path.name not in known:
            yield Model(path.stem, "outlines", NOT_STATED, path.stat().st_size, True, "sam", f"--segmenter sam:{path}")


def _detector() -> Model:
    """Whatever lies in the folder of the detector; which one that is, is its owner's choice."""
    try:
        place = model_folder(None)
    except ModelMissing:
        use = f"put the files of OWLv2 or Grounding DINO into {usual_folder()}"
        return Model("grounded", "what a phrase names", "Apache-2.0", None, False, "grounded", use)
    size = sum(file.stat().st_size for file in place.iterdir() if file.is_file())
    return Model("grounded", "what a phrase names", _licence(place), size, True, "grounded", "--segmenter grounded")


def _licence(place: Path) -> str:
    """What kind of file beside a model says of its licence."""
    return f"see {place / 'LICENSE'}" if (place / "LICENSE").is_file() else NOT_STATED
