"""The only code that opens files of pixels: grids and ground sizes, valid pixels, bands, windows, writing."""

import os

# PROJ inside GDAL prints to the terminal by itself ("Cannot find proj.db" for a CRS in kilometres) unless told not to
# before rasterio is loaded; what matters of it arrives as an error all the same.
os.environ.setdefault("PROJ_DEBUG", "0")
