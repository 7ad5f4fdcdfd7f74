"""Conversion of units by name, through pint; a name is never computed as an expression."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_UNIT = re.compile(
    r"(?P<per>per )?(?P<square>sq(?:uare)?[ _]?)?(?P<name>[A-Za-zµ_]{1,30})\s?(?:\^|\*\*)?(?P<power>[23])?"
)


@lru_cache(maxsize=1)
def _units() -> Any:
    import pint  # 0.2 s to load, and most programs convert nothing

    registry: Any = pint.UnitRegistry(on_redefinition="ignore")
    registry.define("acre = 4046.8564224 meter ** 2")  # the international one; pint's is of US survey feet
    registry.define("ha = hectare")
    return registry


def unit(text: str) -> Any:
    """A unit from its name, "sq" and "per" before it and a power behind it; never an expression to be computed."""
    parts = _UNIT.fullmatch(text.strip())
    if parts is None:
        raise ValueError(f"{text[:40]!r} is not a unit; units are names such as 'm2', 'ha', 'sqft', 'km'.")
    try:
        named = _units().Unit(parts["name"])
    except AttributeError:  # pint's UndefinedUnitError is one
        raise ValueError(f"{text[:40]!r} is not a unit; units are names such as 'm2', 'ha', 'sqft', 'km'.") from None
    power = 2 if parts["square"] else int(parts["power"] or 1)
    return named ** (-power if parts["per"] else power)


def converted(value: float, from_unit: str, to_unit: str) -> float:
    """A quantity in another unit.

    Raises:
        ValueError: an unknown unit, or two of different dimensions.
    """
    origin, wanted = unit(from_unit), unit(to_unit)
    if origin.dimensionality != wanted.dimensionality:
        raise ValueError(f"{from_unit!r} cannot be converted to {to_unit!r}: they do not measure the same thing.")
    return float((value * origin).to(wanted).magnitude)
