"""Units that answers may carry, and what people call them."""

from __future__ import annotations

from typing import Literal

Dimension = Literal["area", "length", "volume", "power", "angle", "count", "share", "ratio", "density", "pixels"]

DIMENSIONS: dict[str, Dimension] = {
    "m2": "area", "ha": "area", "km2": "area", "acre": "area", "sqft": "area", "sqyd": "area", "sqmi": "area",
    "cm2": "area", "sqin": "area",
    "m": "length", "km": "length", "cm": "length", "mm": "length", "ft": "length", "yd": "length", "mi": "length",
    "in": "length",
    "m3": "volume", "km3": "volume",
    "W": "power", "kW": "power", "MW": "power", "GW": "power",
    "deg": "angle", "count": "count", "percent": "share", "ratio": "ratio", "px": "pixels",
    "per km2": "density", "per ha": "density", "per acre": "density", "per sqmi": "density",
}  # fmt: skip

SHOWN: dict[str, str] = {
    "m2": "m²", "km2": "km²", "cm2": "cm²", "sqft": "sq ft", "sqyd": "sq yd", "sqmi": "sq mi", "sqin": "sq in",
    "m3": "m³", "km3": "km³",
    "percent": "%", "deg": "°", "count": "", "ratio": "", "acre": "acres",
    "per km2": "per km²", "per sqmi": "per sq mi",
}  # fmt: skip
