"""Whether a TIFF says that it has a CRS; GDAL calls one that it cannot read the same as none.

Source: OGC GeoTIFF 1.1 (19-008r4), annex B; TIFF 6.0, section 2; BigTIFF as libtiff writes it.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

GEO_KEY_DIRECTORY = 34735
MODEL_TYPE, PROJECTED, GEOGRAPHIC = 1024, 1, 2


def declares_crs(path: Path) -> bool:
    """Whether the first image of a TIFF states a projected or geographic CRS; False of anything else."""
    try:
        with path.open("rb") as file:
            keys = _geo_keys(file)
    except (OSError, struct.error, KeyError):
        return False
    triples = zip(keys[4::4], keys[5::4], keys[7::4], strict=False)
    return any(key == MODEL_TYPE and place == 0 and value in (PROJECTED, GEOGRAPHIC) for key, place, value in triples)


def _geo_keys(file: BinaryIO) -> tuple[int, ...]:
    order = {b"II": "<", b"MM": ">"}[file.read(2)]

    def take(layout: str) -> tuple[int, ...]:
        return struct.unpack(order + layout, file.read(struct.calcsize("=" + layout)))

    big = take("H")[0] == 43
    if big:
        take("HH")
    (start,) = take("Q" if big else "I")
    file.seek(start)
    for _ in range(take("Q" if big else "H")[0]):
        tag, _, count = take("HHQ" if big else "HHI")
        (place,) = take("Q" if big else "I")
        if tag == GEO_KEY_DIRECTORY:
            file.seek(place)
            return take(f"{min(count, 4096)}H")
    return ()
