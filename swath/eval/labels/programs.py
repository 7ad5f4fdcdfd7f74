"""A reference program for a query: the same measurement on the tools' surface, written without any planner."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from swath.eval.labels.query import M2_BY_UNIT, Query


def reference_program(query: Query) -> str:
    """The source of a program that measures a query."""
    reply = _REPLIES[query.measure](query)
    needed = " ".join(reply)
    lines = [f"cover = segment({query.name!r})"]
    if query.other is not None:
        lines.append(f"target = segment({query.other!r})")
    if "patches" in needed or query.sized or query.whole:
        lines += _patches(query)
    if "covered" in needed:
        lines += _covered(query)
    return "\n".join([*lines, *reply]) + "\n"


def _patches(query: Query) -> list[str]:
    """Lines that end with `patches`, the regions that are kept."""
    lines = [f"patches = components(cover{_size(query)})"]
    if query.whole and query.distance_m is not None:
        lines.append(f"patches = near(patches, target, max_distance_m={query.distance_m!r})")
    return lines


def _covered(query: Query) -> list[str]:
    """Lines that end with `covered`, the pixels that count."""
    lines = ["covered = mask_of(patches)" if query.sized or query.whole else "covered = cover"]
    if query.distance_m is not None and not query.whole:
        lines.append(f"covered = within(covered, target, max_distance_m={query.distance_m!r})")
    return lines


def _size(query: Query) -> str:
    low = "larger_than_m2" if query.above else "min_m2"
    bounds = {low: query.min_m2, "max_m2": query.max_m2}
    return "".join(f", {name}={bound!r}" for name, bound in bounds.items() if bound is not None)


def _area(query: Query) -> list[str]:
    return [
        f"reply(area_m2(covered) / {M2_BY_UNIT[query.unit]!r}, kind='quantity', unit={query.unit!r}, objects=covered)"
    ]


def _mean_area(query: Query) -> list[str]:
    return [
        "number = count(patches)",
        f"mean = area_m2(patches) / number / {M2_BY_UNIT[query.unit]!r} if number > 0 else 0.0",
        f"reply(mean, kind='quantity', unit={query.unit!r}, objects=patches)",
    ]


def _power(query: Query) -> list[str]:
    return [
        f"power = solar_power_kw(covered, efficiency={query.efficiency!r})",
        "reply(power, kind='quantity', unit='kW', objects=covered)",
    ]


def _always(*lines: str) -> Callable[[Query], list[str]]:
    return lambda _: list(lines)


_REPLIES: Mapping[str, Callable[[Query], list[str]]] = {
    "share": _always("reply(share_percent(covered), kind='percent', unit='percent', objects=covered)"),
    "count": _always("reply(count(patches), kind='count', unit='count', objects=patches)"),
    "largest_share": _always(
        "first = largest(patches)", "reply(share_percent(first), kind='percent', unit='percent', objects=first)"
    ),
    "area": _area,
    "mean_area": _mean_area,
    "power": _power,
    "any": _always("reply(count(patches) > 0, kind='boolean', objects=patches)"),
    "several": _always("reply(count(patches) > 1, kind='boolean', objects=patches)"),
    "more_area": _always("reply(area_px(cover) > area_px(target), kind='boolean', objects=cover)"),
    "covers": lambda query: [f"reply(share_percent(cover) > {query.percent!r}, kind='boolean', objects=cover)"],
    "pieces": _always("reply(fragmentation(patches), kind='category', objects=patches)"),
}
