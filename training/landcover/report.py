"""The card of trained weights, with every number in it: `python -m training.landcover.report --help`.

Writes `landcover.onnx` and `landcover.toml` into one folder and the page `docs/landcover.md`. What is chosen is chosen
on validation groups; then the test groups are read, once.
"""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from swath.segment.networks.card import Roofs, read_card
from training.landcover.choose import Seen, class_offsets, count_rule, domain, doubt, seen
from training.landcover.export import export
from training.landcover.ground_size import estimates
from training.landcover.measure import (
    baselines,
    buildings,
    calibration,
    class_ious,
    counts,
    false_alarms,
    table,
    vegetation,
)
from training.landcover.network import LandCover
from training.landcover.page import page
from training.landcover.sources import CLASSES, Sample, load
from training.landcover.write import toml

LOG = logging.getLogger(__name__)
GSD_M, TRAINED_GSD_M = (0.1, 1.0), (0.1, 1.0)
LICENCE = "MIT, as swath; made from data under CC0 1.0, CC BY 4.0 and ODbL 1.0"
SPEED_SIDE_PX, SPEED_RUNS = 512, 5


def main() -> None:
    """Parse, choose, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True, help="what training.landcover.train wrote")
    parser.add_argument("--without", type=Path, action="append", default=[], help="weights trained without a source")
    parser.add_argument("--out", type=Path, required=True, help="folder of the network and its card")
    parser.add_argument("--page", type=Path, required=True, help="the page for people")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    write(given.data, given.weights, given.without, given.out, given.page)


def write(data: Path, weights: Path, without: list[Path], out: Path, page_file: Path) -> None:
    """Export, choose, measure and write card and page."""
    card, offsets, before = settled(data, weights, out, ("dubai", "hot"))
    training = json.loads(weights.with_suffix(".json").read_text()) if weights.with_suffix(".json").exists() else {}
    roofs, away, validation = chosen(data, card)
    mean, inverse, limit = domain(load(data, "train"))
    beside = {
        "thresholds": {"strict": 0.5 + away, "lax": 0.5 - away},
        "objects": {
            "class": roofs.class_name,
            "centre": roofs.centre,
            "border": roofs.border,
            "seed": roofs.seed,
            "smallest_px": roofs.smallest_px,
            "smallest_alone_px": roofs.smallest_alone_px,
            "smooth_px": roofs.smooth_px,
        },
        "domain": {"mean": mean.round(4).tolist(), "inverse": inverse.round(6).tolist(), "limit": round(limit, 3)},
    }
    card.write_text(toml({**_head(card), **beside}), encoding="utf-8")
    LOG.info("chosen: %s", json.dumps({**beside["objects"], **beside["thresholds"]}))
    validation |= validated(data, card) | {"dubai_group2_without_offsets": before}
    LOG.info("validation: %s", json.dumps(validation))
    numbers = {"validation": validation, **measured(data, card), "elsewhere": left_out(data, without)}
    numbers["processor_seconds_per_512_px"] = speed(card)
    known = load(data, "train", ("dubai",)) + load(data, "validation", ("dubai",))
    shifts = dict(zip(CLASSES, offsets.tolist(), strict=True))
    record = {
        "made": date.today().isoformat(),
        "class_offsets": shifts,
        "ground_size_m": estimates(known),
        "training": training,
    }
    if training:
        record["training"]["kept_step"] = _kept_step(training["history"])
    card.write_text(toml({**_head(card, numbers), **beside, "numbers": numbers, "record": record}), encoding="utf-8")
    page_file.write_text(page(read_card(card), numbers, record), encoding="utf-8")


def settled(
    data: Path, weights: Path, out: Path, sources: tuple[str, ...]
) -> tuple[Path, NDArray[np.float64], dict[str, float]]:
    """A network with the offsets that the validation groups of some sources choose, and group 2 without them."""
    card = exported(weights, out)
    images = [seen(card, sample) for sample in load(data, "validation", sources)]
    offsets = class_offsets(images)
    LOG.info("offsets: %s", dict(zip(CLASSES, offsets.tolist(), strict=True)))
    before = class_ious(table((image.sample, image.classes) for image in images if image.sample.source == "dubai"))
    return exported(weights, out, offsets), offsets, before


def exported(weights: Path, out: Path, offsets: NDArray[np.float64] | None = None) -> Path:
    """A network and a first card for it, with which to choose what the real one states."""
    network = LandCover()
    network.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
    out.mkdir(parents=True, exist_ok=True)
    export(network, out / "landcover.onnx", offsets)
    card = out / "landcover.toml"
    card.write_text(toml(_head(card)), encoding="utf-8")
    return card


def chosen(data: Path, card: Path) -> tuple[Roofs, float, dict[str, Any]]:
    """The rule of objects, the width of the thresholds, and what the validation groups say of both."""
    images = [seen(card, sample) for sample in load(data, "validation", ("dubai", "hot"))]
    known = [seen(card, sample) for sample in load(data, "train", ("hot",))]
    rule, error = count_rule([*known, *(image for image in images if image.sample.source == "hot")])
    away, coverage = doubt(images)
    return rule, away, {"count_error": error, "interval": coverage}


def validated(data: Path, card: Path) -> dict[str, Any]:
    """Numbers on the validation groups, with the rule that was chosen on them."""
    images = {
        source: [seen(card, sample) for sample in load(data, "validation", (source,))] for source in ("dubai", "hot")
    }
    return {
        "dubai_group2": class_ious(table((image.sample, image.classes) for image in images["dubai"])),
        "nepal_386693": buildings((image.sample, image.classes) for image in images["hot"]),
        "counts_nepal_386693": counts(images["hot"]),
    }


def measured(data: Path, card: Path) -> dict[str, Any]:
    """Numbers on the test groups."""
    images: dict[str, list[Seen]] = {}
    for sample in load(data, "test"):
        images.setdefault(sample.source, []).append(seen(card, sample))
        LOG.info("seen %s", sample.name)
    dubai = [(image.sample, image.classes) for image in images["dubai"]]
    confusion = table(dubai)
    numbers: dict[str, Any] = {
        "dubai_group7": class_ious(confusion),
        "confusion_px": {name: [int(n) for n in confusion[i]] for i, name in enumerate(CLASSES)},
        "calibration_dubai_group7": calibration(images["dubai"]),
        "nepal_386694": buildings((image.sample, image.classes) for image in images["hot"]),
        "counts_nepal_386694": counts(images["hot"]),
        "vegetation_california_weak": vegetation((image.sample, image.classes) for image in images["naip"]),
        "false_alarms": false_alarms([*images["naip"], *images["neon"], *images["hot"]]),
    }
    LOG.info("measured: %s", json.dumps(numbers))
    samples: dict[str, list[Sample]] = {name: [image.sample for image in found] for name, found in images.items()}
    numbers["baselines"] = baselines(load(data, "train", ("dubai", "hot")), samples["dubai"], samples["hot"])
    return numbers


def left_out(data: Path, without: list[Path]) -> dict[str, Any]:
    """Buildings on a source that the weights never saw, by source."""
    found: dict[str, Any] = {}
    for weights in without:
        record = json.loads(weights.with_suffix(".json").read_text())
        with tempfile.TemporaryDirectory() as folder:
            known = tuple(source for source in ("dubai", "hot") if source in record["sources"])
            card, _, _ = settled(data, weights, Path(folder), known)
            for source in {"dubai", "hot"} - set(known):
                images = [seen(card, sample) for sample in load(data, "test", (source,))]
                said = buildings((image.sample, image.classes) for image in images)
                found[f"{source}_never_seen"] = {**said, "steps": _kept_step(record["history"])}
    return found


def speed(card: Path) -> float:
    """Median processor seconds for one square tile, both threads added."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(card.with_suffix(".onnx"), options, providers=["CPUExecutionProvider"])
    tile = np.zeros((1, 3, SPEED_SIDE_PX, SPEED_SIDE_PX), np.float32)
    seconds = []
    for _ in range(SPEED_RUNS):
        started = time.process_time()
        session.run(None, {"image": tile})
        seconds.append(time.process_time() - started)
    return round(float(np.median(seconds)), 3)


def _kept_step(history: list[dict[str, float]]) -> int:
    """The step whose weights were kept."""
    return int(max(history, key=lambda entry: entry["score"])["step"])


def _head(card: Path, numbers: dict[str, Any] | None = None) -> dict[str, Any]:
    head: dict[str, Any] = {
        "name": "landcover",
        "file": "landcover.onnx",
        "licence": LICENCE,
        "input": {"tile": 512, "multiple": 32, "gsd_m": list(GSD_M), "trained_gsd_m": list(TRAINED_GSD_M)},
        "output": {"classes": list(CLASSES), "channels": len(CLASSES) + 2, "activation": "softmax"},
    }
    if numbers is not None:
        head["sha256"] = read_card(card).sha256
        head["sentences"] = sentences(numbers)
    return head


def sentences(numbers: dict[str, Any]) -> dict[str, Any]:
    """What people are told with every answer."""
    ious, nepal, count = numbers["dubai_group7"], numbers["nepal_386694"], numbers["counts_nepal_386694"]
    false, wild = numbers["false_alarms"], numbers["false_alarms"]["neon"]
    unseen = numbers.get("elsewhere", {}).get("hot_never_seen")
    strange = f" ({unseen['iou']:.2f} there by a shorter training without that town)" if unseen else ""
    beside = numbers["validation"]["counts_nepal_386693"]
    wet = round(false["naip"]["water"] * false["naip"]["chips"])
    always = (
        "Classes come from pixels alone, by the small embedded network landcover: on a part of Dubai that it never saw "
        f"it reaches a mean IoU of {ious['mean']:.2f} over five classes; elsewhere most classes were never checked."
    )
    return {
        "always": [always],
        "of_class": {
            "building": f"Buildings: IoU {ious['building']:.2f} in Dubai and {nepal['iou']:.2f} in an unseen part of a "
            f"town in Nepal{strange}; on {count['within_range']:.0%} of {count['chips']} dense chips there the count "
            "was within the range in which people agree "
            f"({beside['within_range']:.0%} of {beside['chips']} in the column beside it); false buildings on "
            f"{wild['building']:.0%} of {wild['chips']} forest plots.",
            "road": f"Roads: IoU {ious['road']:.2f} in Dubai; false roads on {wild['road']:.0%} of {wild['chips']} "
            "forest plots; never checked elsewhere.",
            "water": f"Water: IoU {ious['water']:.2f} in Dubai; on {wet} of {false['naip']['chips']} Californian "
            "images without any it marks more than 1 % as water.",
            "vegetation": f"Vegetation: IoU {ious['vegetation']:.2f} in Dubai and "
            f"{numbers['vegetation_california_weak']:.2f} against infrared masks in California.",
            "land": f"Bare land: IoU {ious['land']:.2f} in Dubai, never checked elsewhere.",
        },
    }


if __name__ == "__main__":
    main()
