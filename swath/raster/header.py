"""Reading a raster's header: bands, roles, and what a careful reader should be warned of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rasterio.enums import MaskFlags

from swath.errors import InputError
from swath.raster.bands import Band, stated, with_roles


def read_bands(dataset: Any, roles: Mapping[str, int] | None, where: str) -> tuple[tuple[Band, ...], tuple[str, ...]]:
    """The bands of an open dataset with their roles, and warnings about them.

    Args:
        dataset: an open dataset with at least one band.
        roles: role to 1-based band number, as a person stated them.
        where: name of the file, for messages.

    Raises:
        InputError: a stated role does not fit the file.
    """
    bands, notes = with_roles(_bands(dataset), _metadata(dataset))
    if roles:
        bands = stated(bands, roles, where)
    return bands, (*notes, *_doubts(bands))


def _bands(dataset: Any) -> list[Band]:
    # Each of these properties goes through all bands, so it is asked once and not for every band.
    facts = zip(
        dataset.indexes,
        dataset.descriptions,
        dataset.dtypes,
        dataset.nodatavals,
        dataset.scales,
        dataset.offsets,
        dataset.colorinterp,
        strict=True,
    )
    return [
        Band(
            index,
            None,
            description or None,
            str(dtype),
            None if nodata is None else float(nodata),
            float(scale),
            float(offset),
            str(colour.name),
        )
        for index, description, dtype, nodata, scale, offset, colour in facts
    ]


def _metadata(dataset: Any) -> Iterable[str]:
    domains = [None, *(name for name in ("IMAGERY", "IMD") if name in dataset.tag_namespaces())]
    for domain in domains:
        for key, value in dataset.tags(ns=domain).items():
            yield f"{key}={value}"


def _doubts(bands: Sequence[Band]) -> Iterable[str]:
    if any(band.dtype.startswith("complex") for band in bands):
        yield "The pixels are complex numbers: nothing is measured from them."
    if any(band.colorinterp == "alpha" and band.role != "alpha" for band in bands):
        yield "A band that the file calls alpha was taken for something else; it hides no pixels."
    if any(band.role == "alpha" for band in bands) and any(b.nodata is not None and b.role != "alpha" for b in bands):
        yield "The file has both an alpha band and nodata: pixels count where both say so."
    for band in bands:
        if band.scale == 0:
            yield f"Band {band.index} states a scale of 0, which would make every value the same; 1 is used."


def unused_mask_file(path: Path, dataset: Any) -> tuple[str, ...]:
    """A warning where a mask lies beside an image and GDAL takes none of it: damaged, or of another size."""
    beside = path.with_name(f"{path.name}.msk")
    fallback = {MaskFlags.all_valid, MaskFlags.nodata, MaskFlags.alpha}
    if not beside.exists() or not all(fallback & set(flags) for flags in dataset.mask_flag_enums):
        return ()
    return (f"The mask {beside.name} beside the image is damaged or of another size: it hides no pixels.",)


def refuse_no_bands(path: Path, dataset: Any) -> None:
    """Check that there are pixels at all.

    Raises:
        InputError: the file has no bands; the message names its subdatasets where it has some.
    """
    if dataset.count > 0:
        return
    names = list(dataset.subdatasets)
    if not names:
        raise InputError(f"{path} holds no bands of pixels. Next: name a raster.")
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    raise InputError(f"{path} holds {len(names)} rasters, none of them at its top. Next: name one of them: {shown}.")
