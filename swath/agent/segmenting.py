"""Writes the pixels of one class to a file, without a question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from swath.agent.ask import open_desk
from swath.agent.object_files import write_vector
from swath.agent.outputs import check_output
from swath.agent.request import Request
from swath.errors import InputError
from swath.raster.write import write_mask
from swath.tools.masks import segment
from swath.tools.regions import components


def write_class(image: Path, class_name: str, output: Path, vector: Path | None, **options: Any) -> str:
    """Segment one class and write it.

    Args:
        image: the raster.
        class_name: a class, or a word that people use for it.
        output: GeoTIFF to write, one bit a pixel on the image's grid.
        vector: GeoPackage to write the class's objects to.
        options: where classes come from, as for `swath.ask`.

    Returns:
        A sentence on what was written.

    Raises:
        Refused: the class is not known here.
        InputError: a file cannot be used or written, or would overwrite one that is read.
    """
    desk = open_desk(image, f"segment {class_name}", program="", **options)
    _check_outputs(output, vector, desk.request)
    site = desk.open()
    mask = segment(site, class_name)
    write_mask(output, mask.pixels, site.raster.grid)
    share = 100.0 * mask.size_px / max(int(site.valid.sum()), 1)
    said = f"{mask.name}: {mask.size_px:,} pixels, {share:.2f} % of the valid ones, written to {output}"
    if vector is not None:
        regions = components(site, mask)
        write_vector(vector, regions, site)
        said += f"; {len(regions):,} objects written to {vector}"
    return "\n".join([said, *(f"  note: {sentence}" for sentence in site.warnings)])


def _check_outputs(output: Path, vector: Path | None, request: Request) -> None:
    if output.suffix.lower() not in (".tif", ".tiff"):
        raise InputError(f"A mask is written as a GeoTIFF, which {output} is not by its name. Next: end it in .tif.")
    read = (request.image, request.labels, request.legend, *request.layers.values())
    check_output(output, read)
    if vector is None:
        return
    if vector.suffix.lower() != ".gpkg":
        raise InputError(f"--vector writes a GeoPackage, which {vector} is not by its name. Next: end it in .gpkg.")
    check_output(vector, (*read, output))
