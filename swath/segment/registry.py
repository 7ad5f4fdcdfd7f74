"""Finding backends: ours and those of other packages register under the same entry-point group."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from swath.errors import InputError, Refused
from swath.raster.reader import Raster
from swath.segment.protocol import Backend, OpenVocabulary, SegmentOptions

GROUP = "swath.segmenters"
AUTO = "auto"
GROUNDED = "grounded"
"""The segmenter that is asked for free phrases."""
LAST_RESORT = "landcover"
PHOTOGRAPH_GSD_M = (0.05, 2.0)
"""Twice what the embedded network was trained for; beyond, it has to be asked for by name."""


def backend_names() -> tuple[str, ...]:
    """Names of the installed backends, sorted."""
    return tuple(sorted(_entries()))


def open_backend(name: str, raster: Raster, options: SegmentOptions) -> Backend:
    """A backend for one raster.

    Args:
        name: one of `backend_names()`, with the card of a model behind a colon where it takes one ("onnx:CARD.toml"),
            or "auto": labels where labels, layers or anything about them are given, else spectral, else landcover where
            the image is 8-bit red, green and blue of a ground size that it was trained for, or of none that is known.
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
    backend: Backend = factory(raster, replace(options, card=Path(card)) if card else options)
    return backend


def open_vocabulary(backend: Backend, raster: Raster) -> OpenVocabulary | None:
    """Who finds objects by free phrases: the backend itself, else the one registered as "grounded"; None without any.

    Raises:
        InputError: it cannot be loaded.
        Refused: it has nothing to say about this image.
    """
    if isinstance(backend, OpenVocabulary):
        return backend
    if GROUNDED not in _entries():
        return None
    found = open_backend(GROUNDED, raster, SegmentOptions())
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
        if options.thresholds or LAST_RESORT not in _entries() or not _is_photograph(raster):
            raise
        if find_spec("onnxruntime") is None:
            raise Refused(f"{why} Or install the embedded network: pip install 'swath[eyes]'.") from None
        return open_backend(LAST_RESORT, raster, options)


def _is_photograph(raster: Raster) -> bool:
    """Whether an image is what the embedded network was made for, as far as its header tells."""
    roles = ("red", "green", "blue")
    if raster.complex or not raster.has(*roles) or any(raster.band(role).dtype != "uint8" for role in roles):
        return False
    ground = raster.grid.ground
    return ground is None or all(PHOTOGRAPH_GSD_M[0] <= size <= PHOTOGRAPH_GSD_M[1] for size in ground.size_xy_m)


def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
