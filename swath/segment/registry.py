"""Finding backends: ours and those of other packages register under the same entry-point group."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from swath.errors import InputError, ModelMissing, Refused
from swath.raster.reader import Raster
from swath.segment.protocol import Backend, OpenVocabulary, SegmentOptions

GROUP = "swath.segmenters"
AUTO = "auto"
GROUNDED = "grounded"
"""The segmenter that is asked for free phrases."""
EMBEDDED = "landcover"
"""The network that ships with swath; it guesses, so it is used only by name."""


def backend_names() -> tuple[str, ...]:
    """Names of the installed backends, sorted."""
    return tuple(sorted(_entries()))


def open_backend(name: str, raster: Raster, options: SegmentOptions) -> Backend:
    """A backend for one raster.

    Args:
        name: one of `backend_names()`, with the card, checkpoint or address of a model behind a colon ("onnx:A.toml"),
            or "auto": labels where labels, layers or anything about them are given, else
            spectral. Networks are used only by name.
        raster: the image.
        options: what a person said about where classes come from.

    Raises:
        InputError: no such backend, it cannot be loaded, or a file that it was given cannot be used.
        Refused: the backend has nothing to say about this image.
    """
    if name == AUTO:
        return _automatic(raster, options)
    entries = _entries()
    name, _, card = name.partition(":")
    if name not in entries:
        raise InputError(f'There is no segmenter "{name}". Next: use one of {", ".join((AUTO, *sorted(entries)))}.')
    try:
        factory = entries[name].load()
    except (ImportError, AttributeError) as why:
        raise InputError(f'The segmenter "{name}" cannot be loaded ({why}). Next: install what it needs.') from why
    backend: Backend = factory(raster, replace(options, card=Path(card), address=card) if card else options)
    return backend


def open_vocabulary(backend: Backend, raster: Raster) -> OpenVocabulary | None:
    """Who finds objects by free phrases: the backend itself, else the one called "grounded"; None without its model.

    Raises:
        InputError: it cannot be loaded.
        Refused: it has nothing to say about this image.
    """
    if isinstance(backend, OpenVocabulary):
        return backend
    if GROUNDED not in _entries():
        return None
    try:
        found = open_backend(GROUNDED, raster, SegmentOptions())
    except ModelMissing:
        return None
    if not isinstance(found, OpenVocabulary):
        raise InputError(f'The segmenter "{GROUNDED}" finds no phrases: it has no ground(). Next: install another one.')
    return found


def is_backend(name: str) -> bool:
    """Whether `open_backend` knows a name."""
    return name == AUTO or name.partition(":")[0] in _entries()


def _automatic(raster: Raster, options: SegmentOptions) -> Backend:
    of_labels = (options.labels, options.legend, options.label_class)
    if options.layers or any(given is not None for given in of_labels):
        return open_backend("labels", raster, options)
    try:
        return open_backend("spectral", raster, options)
    except Refused as why:
        if options.thresholds or EMBEDDED not in _entries() or not raster.has("red", "green", "blue"):
            raise
        raise Refused(f"{why} Or let the embedded network guess from colours, with --segmenter {EMBEDDED}.") from None


def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
