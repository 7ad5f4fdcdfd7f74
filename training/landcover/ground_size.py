"""Ground sizes of the Dubai groups, of which nobody states any: estimated from how wide roads and houses are.

A carriageway with its verge is taken to be 10 m wide and a house 15 m, both give or take a factor of 1.5. Of the test
group nothing is estimated: its labels are never read for anything but scores.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from training.landcover.sources import BIT, Sample, load

ROAD_M, HOUSE_M = 10.0, 15.0
SMALLEST_HOUSE_PX = 40


def main() -> None:
    """Write one estimate per group as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    samples = load(given.data, "train", ("dubai",)) + load(given.data, "validation", ("dubai",))
    given.out.write_text(json.dumps(estimates(samples), indent=1) + "\n", encoding="utf-8")


def estimates(samples: list[Sample]) -> dict[str, dict[str, float]]:
    """Per group: ground size in metres by roads, by houses, and their geometric mean."""
    found = {}
    for group in sorted({sample.group for sample in samples}):
        mine = [sample.allowed for sample in samples if sample.group == group]
        road = ROAD_M / float(np.median(np.concatenate([_widths(allowed == BIT["road"]) for allowed in mine])))
        sides = np.concatenate([_sides(allowed == BIT["building"]) for allowed in mine])
        house = HOUSE_M / float(np.median(sides)) if sides.size else road
        mean = float(np.sqrt(road * house))
        found[group] = {"by_roads_m": round(road, 2), "by_houses_m": round(house, 2), "gsd_m": round(mean, 2)}
    return found


def _widths(road: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Widths in pixels along the middle of roads: twice the distance to the verge where that is greatest."""
    depth = cv2.distanceTransform(road.astype(np.uint8), cv2.DIST_L2, 5)
    ridge = (depth > 1) & (depth >= cv2.dilate(depth, np.ones((3, 3), np.uint8)) - 1e-3)
    return np.asarray(2 * depth[ridge], np.float32)


def _sides(building: NDArray[np.bool_]) -> NDArray[np.float64]:
    _, _, stats, _ = cv2.connectedComponentsWithStats(building.astype(np.uint8), connectivity=8)
    areas = stats[1:, cv2.CC_STAT_AREA]
    return np.sqrt(areas[areas >= SMALLEST_HOUSE_PX].astype(float))


if __name__ == "__main__":
    main()
