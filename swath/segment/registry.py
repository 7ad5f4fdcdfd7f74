"""Finding backends: ours and those of other packages register under the same entry-point group."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from swath.errors import InputError
from swath.raster.reader import Raster
from swath.segment.protocol import Backend, OpenVocabulary, SegmentOptions

GROUP = "swath.segmenters"
AUTO = "auto"
GROUNDED = "grounded"
"""The segmenter that is asked for free phrases."""


def backend_names() -> tuple[str, ...]:
    """Names of the installed backends, sorted."""
    return tuple(sorted(_entries()))


def open_backend(name: str, raster: Raster, options: SegmentOptions) -> Backend:
    """A backend for one raster.

    Args:
        name: one of `backend_names()`, or "auto": labels where labels, layers or anything about them are given, else
            spectral.
        raster: the image.
        options: what a person said about where classes come from.

    Raises:
        InputError: no such backend, it cannot be loaded, or a file that it was given cannot be used.
        Refused: the backend has nothing to say about this image.
    """
    if name == AUTO:
        of_labels = (options.labels, options.legend, options.label_class)
        name = "labels" if options.layers or any(given is not None for given in of_labels) else "spectral"
    entries = _entries()
    if name not in entries:
        raise InputError(f'There is no segmenter "{name}". Next: use one of {", ".join((AUTO, *sorted(entries)))}.')
    try:
        factory = entries[name].load()
    except (ImportError, AttributeError) as why:
        raise InputError(f'The segmenter "{name}" cannot be loaded ({why}). Next: install what it needs.') from why
    backend: Backend = factory(raster, options)
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


def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
