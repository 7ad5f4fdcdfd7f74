"""Class rasters on the image's grid: values or colours with a legend, and rasters that are one class where not zero."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from swath.errors import InputError, Refused
from swath.raster.pixel_sets import number_of
from swath.raster.placing import extent, no_overlap, place
from swath.raster.reader import Raster, open_raster
from swath.raster.remote import shown
from swath.raster.tiled import PixelSet
from swath.segment.align import onto_image
from swath.segment.code_tiles import TiledCodes, tiled_codes
from swath.segment.codes import (
    FIRST_CLASS,
    LAST_CODE,
    VOID,
    Census,
    CodeImage,
    Coding,
    Masked,
    layer_coding,
    legend_coding,
    listed,
    occurring,
    tallied,
    whole_numbers,
)
from swath.segment.legend import EXAMPLE, NamedValues, legend_of, read_legend
from swath.segment.protocol import Segmentation

STRIP_PX = 2**24


@dataclass(frozen=True, eq=False)
class ClassRaster:
    """Classes by pixel, on the image's grid.

    Attributes:
        names: class names; class i has the code FIRST_CLASS + i.
        codes: (rows, columns) of the image, or the same in tiles.
        source: where the classes were read from, for people.
        warnings: sentences for people.
        record: JSON-ready description.
    """

    names: tuple[str, ...]
    codes: CodeImage | TiledCodes = field(repr=False)
    source: str
    warnings: tuple[str, ...]
    record: Mapping[str, Any]

    def known(self) -> PixelSet:
        """(rows, columns) bool: where some class is named."""
        return _between(self.codes, FIRST_CLASS, LAST_CODE)

    def segment(self, name: str) -> Segmentation:
        """The pixels of one of `names`."""
        code = FIRST_CLASS + self.names.index(name)
        mask = _between(self.codes, code, code)
        return Segmentation(mask, method=f'"{name}" in {self.source}', warnings=self.warnings)


def read_class_raster(path: Path, legend_path: Path | None, image: Raster) -> ClassRaster:
    """Read a label raster onto an image's grid.

    Args:
        path: one band of whole numbers, or colours.
        legend_path: JSON legend; None to use the file's own category names.
        image: the image that the labels belong to.

    Raises:
        InputError: the raster or its legend cannot be used as given, or the labels lie elsewhere.
        Refused: the labels say nothing anywhere in the image.
    """
    raster = open_raster(path, tiles=image.tiles)
    named = _legend_in_force(raster, legend_path)
    coding, census = legend_coding(raster, named), Census(raster, named)
    codes, notes = _on_image(raster, image, coding, census)
    notes = (*census.warnings(), *notes)
    if not _between(codes, FIRST_CLASS, LAST_CODE).any():
        raise Refused(f"The labels of {path.name} are void everywhere in the image. Next: give labels that cover it.")
    record = {
        "path": shown(path),
        "sha256": raster.sha256,
        "legend": {str(value): name for value, name in sorted(named.legend.names.items())},
        "void": sorted(named.legend.void),
        "legend_source": named.source,
        **_remembered(codes),
    }
    return ClassRaster(coding.names, codes, f"{path.name}, classes named by {Path(named.source).name}", notes, record)


def read_layer_raster(path: Path, name: str, image: Raster) -> ClassRaster:
    """Read a raster that is one class wherever it is valid and not zero.

    Raises:
        InputError: it has several bands, or lies elsewhere.
    """
    raster = open_raster(path, tiles=image.tiles)
    if len(raster.data_bands) != 1 or raster.complex:
        kind = "complex numbers" if raster.complex else f"{len(raster.data_bands)} bands"
        raise InputError(
            f"The layer {path.name} has {kind}. Next: give a raster of one band that is not zero where the class is."
        )
    codes, notes = _on_image(raster, image, layer_coding(name), None)
    record = {"path": shown(path), "sha256": raster.sha256, "class": name, **_remembered(codes)}
    return ClassRaster((name,), codes, f"the layer {path.name}, where it is not zero", notes, record)


def _remembered(codes: CodeImage | TiledCodes) -> dict[str, bool]:
    """Says in a record that the tiles had been counted by an earlier question."""
    return {"summaries_from_cache": True} if isinstance(codes, TiledCodes) and codes.remembered else {}


def _legend_in_force(raster: Raster, legend_path: Path | None) -> NamedValues:
    """The legend that a person gave, else the file's own; checked against what the raster holds."""
    if raster.complex:
        raise InputError(f"{raster.path.name} holds complex numbers, not classes. Next: give a raster of class values.")
    bands = len(raster.data_bands)
    if legend_path is None:
        own = {value: name for value, name in raster.categories().items() if name.strip()}
        if not own or bands != 1:
            raise InputError(_no_names(raster))
        return NamedValues(legend_of(own), coloured=False, source="its own category names")
    named = read_legend(legend_path)
    rgb = bands == 3 and all(band.dtype == "uint8" for band in raster.data_bands)
    if named.coloured and not (rgb or raster.palette()):
        raise InputError(
            f"The legend {legend_path.name} names colours, but {raster.path.name} is no 8-bit RGB image and has no "
            f"colour table. Next: name its values, like {EXAMPLE}."
        )
    if not named.coloured and bands != 1:
        raise InputError(
            f"{raster.path.name} has {bands} bands, but the legend {legend_path.name} names the values of one. "
            'Next: name colours ("#rrggbb" or "r,g,b"), or give a raster of one band.'
        )
    return named


def _no_names(raster: Raster) -> str:
    """The sentence for a raster whose values or colours mean nothing yet: it lists what occurs.

    Raises:
        InputError: the values are not whole numbers, so that no legend would help.
    """
    table = "has a colour table but " if raster.palette() else ""
    occur = ""
    if len(raster.data_bands) == 1:
        strip = next(_strips(raster, slice(0, raster.shape[0]), slice(0, raster.shape[1])))
        values = whole_numbers(strip[0], raster.path.name).compressed()
        present = occurring(values)[0].tolist() if values.size else []
        occur = f" for its values ({listed([str(value) for value in present])})"
    example = EXAMPLE if occur else '{"#ff0000": "building", "#0000ff": "water"}'
    return (
        f"{raster.path.name} {table}names no classes{occur}. "
        f"Next: write a legend like {example} to a JSON file and give it with --legend FILE."
    )


def _strips(raster: Raster, rows: slice, cols: slice) -> Iterator[Masked]:
    """(band, y, x) strips of the data bands, from top to bottom."""
    step = max(1, STRIP_PX // (cols.stop - cols.start))
    indexes = [band.index for band in raster.data_bands]
    for top in range(rows.start, rows.stop, step):
        yield raster.read(*indexes, rows=slice(top, min(top + step, rows.stop)), cols=cols).data


def _on_image(
    raster: Raster, image: Raster, coding: Coding, census: Census | None
) -> tuple[CodeImage | TiledCodes, tuple[str, ...]]:
    """Codes of a label raster on the image's grid, and warnings about how it lies there."""
    name, image_name = raster.path.name, image.path.name
    where = place(raster.grid, image.grid, name, image_name)
    codes: CodeImage | TiledCodes
    if image.in_tiles or raster.in_tiles:
        codes = tiled_codes(raster, image, coding, census, where)
    else:
        codes = np.concatenate([_coded(strip, coding, census) for strip in _strips(raster, where.rows, where.cols)])
        if not where.same_grid:
            codes = onto_image(codes, raster.grid.window(where.rows, where.cols), image.grid, name)
    if where.same_grid:
        return codes, where.warnings
    inside, valid = _between(codes, VOID, LAST_CODE), image.valid()
    if not inside.any():
        raise no_overlap(name, extent(raster.grid), image_name, extent(image.grid))
    missing = number_of(valid & ~inside)
    if not missing:
        return codes, where.warnings
    share = 100 * missing / number_of(valid)
    return codes, (*where.warnings, f"{name} does not cover {share:.2g} % of the image's valid pixels.")


def _coded(bands: Masked, coding: Coding, census: Census | None) -> CodeImage:
    values = coding.values(bands)
    if census is not None:
        census.add(*tallied(values))
    return coding.codes(values)


def _between(codes: CodeImage | TiledCodes, first: int, last: int) -> PixelSet:
    """Where codes lie between two, both included."""
    if isinstance(codes, TiledCodes):
        return codes.between(first, last)
    return (
        codes == first if first == last else codes >= first if last == LAST_CODE else (codes >= first) & (codes <= last)
    )
