"""Areas and shares of classes as an error matrix of reference samples corrects them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_

from swath.errors import Refused
from swath.raster.ground import Ground
from swath.raster.pixel_sets import number_of
from swath.segment.error_matrix import FEW_SAMPLES, NORMAL_95, REST, ErrorMatrix
from swath.segment.vocabulary import canonical
from swath.tools import kernels
from swath.tools.handles import Mask, Regions
from swath.tools.site import SAMPLE, Site

ADJUSTING = frozenset({"segment", "area_m2", "share_percent", "ratio", "convert"})
"""What a program may call while an error matrix is in force: whatever else it measured would be uncorrected."""


def check_adjusting(site: Site, tool_name: str) -> None:
    """Refuse a tool that an error matrix does not correct.

    Raises:
        Refused: there is an error matrix, and the tool is none of `ADJUSTING`.
    """
    if site.errors is not None and tool_name not in ADJUSTING:
        raise Refused(_only_classes(f"{tool_name} measures something else"))


def check_adjusted(site: Site) -> None:
    """Refuse what a program measured if an error matrix is in force that it never used.

    Raises:
        Refused: so it is.
    """
    if site.errors is not None and SAMPLE not in site.doubts:
        raise Refused(_only_classes("this measures none of them"))


def adjusted_share(site: Site, of: Mask | Regions, ground: Ground) -> float:
    """The share of the valid ground that a class truly has, from 0 to 1, under the present doubt.

    Args:
        site: the image, with an error matrix.
        of: the mask of a whole class.
        ground: by which pixels are weighted.

    Raises:
        Refused: it is no whole class, or the classes of the matrix do not divide the image.
        InputError: a class that is mapped has too few samples.
    """
    errors = site.errors
    if errors is None:
        raise RuntimeError("the site has no error matrix")
    name = _class_of(site, of, errors)
    whole = kernels.mask_area_m2(site.valid, ground)
    mapped = {row: part / whole for row, part in _strata(site, errors, ground)} if whole else {}
    share, error = errors.share(name, mapped)
    site.doubts.add(SAMPLE)
    plain = kernels.mask_area_m2(site.mask_of(of).pixels, ground) / whole if whole else 0.0
    _say(site, errors, of.name, (plain, share), mapped)
    if not errors.sampled:
        ends = min(plain, share), max(plain, share)
    else:
        ends = max(share - NORMAL_95 * error, 0.0), min(share + NORMAL_95 * error, 1.0)
    return {-1: ends[0], 0: share, 1: ends[1]}[site.nudge.sample]


def _only_classes(why: str) -> str:
    return (
        f"An error matrix corrects the area and the share of whole classes, and {why}. "
        "Next: ask for the area or the share of a class in the image, or leave --confusion out."
    )


def _class_of(site: Site, of: Mask | Regions, errors: ErrorMatrix) -> str:
    """The class of the reference whose mask something is."""
    named = next(iter(of.classes)) if len(of.classes) == 1 else ""
    if not named or of is not site.class_mask(named):
        raise Refused(_only_classes(f"{of.name} is none"))
    name = canonical(named, errors.reference_classes)
    if name is None:
        raise Refused(
            f'The error matrix of {errors.source} has no reference class "{named}": it knows '
            f"{', '.join(errors.reference_classes)}. Next: ask about one of these."
        )
    return name


def _strata(site: Site, errors: ErrorMatrix, ground: Ground) -> Iterator[tuple[str, float]]:
    """The ground of every class of the map, which have to divide the image among them."""
    masks = {}
    known = site.backend.classes()
    for row in errors.counts:
        name = canonical(row, known)
        if name is not None:
            masks[row] = site.class_mask(name).pixels
        elif row not in REST:
            raise Refused(
                f'The map has no class "{row}", which the error matrix of {errors.source} has samples of: it knows '
                f"{', '.join(known) or 'none'}. Next: rename its rows, or call what is left over other."
            )
    if not masks:
        raise Refused(f"No row of the error matrix of {errors.source} is a class of the map.")
    rest = [row for row in errors.counts if row not in masks]
    together = reduce(or_, masks.values())
    left = number_of(site.valid) - number_of(together)
    _check_division(errors, sum(map(number_of, masks.values())) - number_of(together), left, rest)
    yield from ((row, kernels.mask_area_m2(pixels, ground)) for row, pixels in masks.items())
    if rest:
        yield rest[0], kernels.mask_area_m2(site.valid & ~together, ground)


def _check_division(errors: ErrorMatrix, shared: int, left: int, rest: list[str]) -> None:
    if shared:
        raise Refused(
            f"{shared:,} pixels belong to several rows of the error matrix of {errors.source}, whose samples cannot be "
            "weighted then. Next: use a map whose classes exclude each other."
        )
    if left and not rest:
        raise Refused(
            f"{left:,} valid pixels belong to no row of the error matrix of {errors.source}. "
            "Next: add a row called other, with the reference samples that were drawn there."
        )
    if len(rest) > 1:
        raise Refused(f"The error matrix of {errors.source} has more than one row for the rest: {', '.join(rest)}.")


def _say(site: Site, errors: ErrorMatrix, name: str, shares: tuple[float, float], mapped: dict[str, float]) -> None:
    plain, share = (f"{100 * part:.4g} %" for part in shares)
    said = f"The map shows {plain} of {name}; the error matrix of {errors.source} corrects it to {share}"
    if errors.sampled:
        site.warn(
            f"{said} (stratified estimator of Olofsson et al. 2014, {errors.samples:,} reference samples, 95 % "
            "confidence interval), if they were drawn at random within each class of the map in the area measured."
        )
    else:
        site.warn(
            f"DOUBTFUL: {said}, if the model errs here as it did on the images of its own test; nothing shows that it "
            "does. The interval reaches from the mapped to the corrected value and is no confidence interval."
        )
    few = [row for row, weight in mapped.items() if weight and sum(errors.counts[row].values()) < FEW_SAMPLES]
    if few:
        site.warn(
            f"Fewer than {FEW_SAMPLES} reference samples lie where the map says {', '.join(few)}: the confidence "
            "interval may be too narrow."
        )
