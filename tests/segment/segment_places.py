"""Where the small rasters of these tests lie."""

from __future__ import annotations

import pyproj
from affine import Affine

UTM = pyproj.CRS.from_epsg(32645)
NORTH_UP = Affine(10.0, 0.0, 300_000.0, 0.0, -10.0, 3_060_000.0)
