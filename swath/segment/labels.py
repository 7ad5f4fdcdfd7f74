"""Classes that somebody drew or mapped: a class raster, vector file or annotations, and layers of one class each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from swath.errors import InputError, Refused
from swath.raster.reader import Raster
from swath.raster.tiled import PixelSet
from swath.segment.annotated.reading import annotated_classes, reader_of
from swath.segment.class_raster import ClassRaster, read_class_raster, read_layer_raster
from swath.segment.legend import clean_name
from swath.segment.protocol import Segmentation, SegmentOptions, unknown_class
from swath.segment.vector import VectorClasses, read_vector
from swath.segment.vector_file import is_vector
from swath.segment.vocabulary import spellings


class LabelsBackend:
    """Labels and layers that a person gave, laid onto one image."""

    name = "labels"

    def __init__(self, raster: Raster, options: SegmentOptions) -> None:
        """Read the files that the options name.

        Raises:
            InputError: a file or a combination of options cannot be used as given.
            Refused: neither labels nor layers are given, or the labels are void everywhere.
        """
        _check(options)
        self._labels = _read_labels(raster, options)
        self._layers = {
            clean_name(name): _read_layer(path, clean_name(name), raster) for name, path in options.layers.items()
        }
        self._source_of: dict[str, ClassRaster | VectorClasses] = {}
        if self._labels is not None:
            self._source_of = dict.fromkeys(self._labels.names, self._labels)
        for name, layer in self._layers.items():
            self._add(name, layer)

    def _add(self, name: str, layer: ClassRaster | VectorClasses) -> None:
        for other in self._source_of:
            if set(spellings(name)) & set(spellings(other)):
                raise InputError(
                    f'The layer "{name}" has the name of a class that is there already: "{other}". '
                    "Next: give the layer another name."
                )
        self._source_of[name] = layer

    def classes(self) -> tuple[str, ...]:
        """Names of the labels' legend, then of the layers."""
        return tuple(self._source_of)

    def known(self) -> PixelSet | None:
        """(rows, columns) bool: where the labels name a class; None where there are only features or layers."""
        return None if self._labels is None else self._labels.known()

    def segment(self, class_name: str) -> Segmentation:
        """The pixels of a class of `classes()`.

        Raises:
            Refused: the class is not one of them; the message lists them.
        """
        if class_name not in self._source_of:
            raise unknown_class(class_name, self)
        return self._source_of[class_name].segment(class_name)

    def describe(self) -> dict[str, Any]:
        """JSON-ready record: files with their sha256, legends."""
        return {
            "name": self.name,
            "labels": None if self._labels is None else dict(self._labels.record),
            "layers": {name: dict(layer.record) for name, layer in self._layers.items()},
        }


def _check(options: SegmentOptions) -> None:
    """Refuse combinations of options that mean nothing."""
    if options.labels is None:
        for flag, given in (("--legend", options.legend), ("--label-class", options.label_class)):
            if given is not None:
                raise InputError(f"{flag} is about labels, but none are given. Next: name them with --labels FILE.")
        if not options.layers:
            raise Refused("There are no labels to take classes from. Next: give --labels FILE or --layer NAME=FILE.")
    if options.label_class is not None and not clean_name(options.label_class):
        raise InputError("--label-class is empty. Next: name the class.")
    if options.label_class is not None and options.legend is not None:
        raise InputError("--label-class names a single class and --legend several. Next: give one of the two.")
    names = [clean_name(name) for name in options.layers]
    for name in names:
        if not name:
            raise InputError("A layer has an empty name. Next: write --layer NAME=FILE.")
        if names.count(name) > 1:
            raise InputError(f'Two layers are named "{name}". Next: name them apart.')


def _read_labels(raster: Raster, options: SegmentOptions) -> ClassRaster | VectorClasses | None:
    path = options.labels
    if path is None:
        return None
    annotated = reader_of(path)
    if annotated is not None:
        if options.legend is not None:
            raise InputError(f"{path.name} names its classes itself. Next: leave --legend out.")
        return annotated_classes(path, annotated, raster, single=options.label_class)
    if is_vector(path):
        return read_vector(path, raster, single=options.label_class, legend=options.legend)
    if options.label_class is not None:
        raise InputError(
            f"--label-class names the one class of a vector file, but {path.name} is a raster. "
            f"Next: give --legend FILE, or --layer {options.label_class}={path.name} for where it is not zero."
        )
    return read_class_raster(path, options.legend, raster)


def _read_layer(path: Path, name: str, raster: Raster) -> ClassRaster | VectorClasses:
    annotated = reader_of(path)
    if annotated is not None:
        return annotated_classes(path, annotated, raster, single=name)
    return read_vector(path, raster, single=name) if is_vector(path) else read_layer_raster(path, name, raster)
