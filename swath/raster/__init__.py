"""The only code that opens files of pixels: grids and ground sizes, valid pixels, bands, windows, writing."""
