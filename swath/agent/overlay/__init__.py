"""The picture of a run: what was counted, drawn on the image, with scale bar and legend."""
