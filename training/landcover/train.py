"""Train the land-cover network: `python -m training.landcover.train --data DIR --out FILE`."""

from __future__ import annotations

import argparse
import copy
import json
import logging
import math
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from training.landcover.augment import Crop, crop
from training.landcover.draw import Deck
from training.landcover.losses import classes_loss, roofs_loss
from training.landcover.network import LandCover, pretrained
from training.landcover.sources import BIT, CLASSES, Sample, load

LOG = logging.getLogger(__name__)
SOURCES = ("dubai", "hot", "naip", "neon")
HALVES = (
    ("dubai", "dubai", "hot", "naip", "neon"),
    ("dubai", "dubai", "dubai", "hot", "hot"),
    ("dubai", "dubai", "hot", "naip", "neon"),
    ("dubai", "dubai", "hot", "hot", "neon"),
)
"""Sources of the crops of odd and even batches, by half; each half is worked by one thread. A source that is left out
gives its place to the others."""
SIZE = 224
EVERY = 100
PATIENCE = 6
WARM_UP = 40
ENCODER_RATE, DECODER_RATE = 4e-4, 2e-3
EMA = 0.99
"""Averaging of the weights that are kept."""
SETTLED = 0.4
"""Share of the steps after which the decoder's normalisation keeps its statistics: what is trained is what is used."""


def main() -> None:
    """Parse, train, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--without", choices=SOURCES, help="a source to leave out")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.set_num_threads(1)  # the halves of a batch run side by side: fewer waits than threads within each operation
    torch.manual_seed(given.seed)
    sources = tuple(name for name in SOURCES if name != given.without)
    train(given.data, sources, given.iterations, given.seed, given.out)


def train(data: Path, sources: tuple[str, ...], iterations: int, seed: int, out: Path) -> None:
    """Train with early stopping on the validation groups.

    The best averaged weights so far lie in `out`, and beside it as JSON what was done and the scores as they came: a
    training that is ended early leaves both.
    """
    samples, checks = load(data, "train", sources), load(data, "validation", sources)
    network, started = pretrained().to(memory_format=torch.channels_last), time.monotonic()
    average = copy.deepcopy(network).eval()
    wanted = [[_wanted(HALVES[i + turn], sources) for turn in (0, 2)] for i in (0, 1)]
    halves = [Half(network, samples, wanted[i], [seed, i]) for i in (0, 1)]
    optimiser = torch.optim.AdamW(_groups(network), weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: rate(step, iterations))
    pool = ThreadPoolExecutor(len(halves))
    history: list[dict[str, float]] = []
    best, losses = -1.0, []
    for step in range(1, iterations + 1):
        both = [future.result() for future in [pool.submit(half.work, step <= SETTLED * iterations) for half in halves]]
        for i, parameter in enumerate(_trained(network)):
            parameter.grad = (both[0][1][i] + both[1][1][i]) / 2
        nn.utils.clip_grad_norm_(_trained(network), 5.0)
        optimiser.step()
        schedule.step()
        _agree(halves)
        _follow(average, network, min(EMA, step / (step + 10)))
        losses.append(float(np.mean([loss for loss, _ in both])))
        if step % EVERY and step < iterations:
            continue
        scores = {**validate(average, checks), "step": step, "loss": float(np.mean(losses[-EVERY:]))}
        scores["seconds"] = round(time.monotonic() - started)
        history.append(scores)
        LOG.info(json.dumps({name: round(value, 4) for name, value in scores.items()}))
        record = {"sources": sources, "seed": seed, "size_px": SIZE, "halves": HALVES, "history": history}
        out.with_suffix(".json").write_text(json.dumps({**record, "planned_steps": iterations}))
        if scores["score"] > best:
            best = scores["score"]
            torch.save(average.state_dict(), out)
        elif max(range(len(history)), key=lambda i: history[i]["score"]) <= len(history) - 1 - PATIENCE:
            break


def rate(step: int, steps: int) -> float:
    """Share of the learning rate: a warm-up, then down half a cosine."""
    return min((step + 1) / WARM_UP, 1.0) * (0.01 + 0.99 * (1 + math.cos(math.pi * min(step / steps, 1))) / 2)


def validate(network: LandCover, samples: list[Sample]) -> dict[str, float]:
    """How the validation groups are seen: mean IoU on the Dubai one, IoU of buildings on the Nepal one.

    Elsewhere the share of pixels that are given a class that they may be. `score`, by which the kept weights are
    chosen, is the mean of the first two: a fourth of the forest is one blue picture, by which training ended early.
    """
    found: dict[str, float] = {}
    sources = sorted({sample.source for sample in samples})
    for source in sources:
        table: Counter[tuple[str, str]] = Counter()
        for sample in samples:
            if sample.source == source:
                _tally(table, logits(network, sample.image)[: len(CLASSES)].argmax(0), sample.allowed)
        if source in ("naip", "neon"):
            found[source] = table["pixels", "allowed"] / table["pixels", "known"]
            continue
        names = CLASSES if source == "dubai" else ("building",)
        found |= {f"{source}_{name}": table[name, "both"] / max(table[name, "any"], 1) for name in names}
        found[source] = float(np.mean([found[f"{source}_{name}"] for name in names]))
    found["score"] = float(np.mean([found[source] for source in ("dubai", "hot") if source in found]))
    return found


def logits(network: LandCover, image: np.ndarray) -> np.ndarray:
    """(7, rows, columns) of a whole image, padded by reflection to multiples of 32."""
    rows, cols = image.shape[:2]
    padded = np.pad(image, ((0, -rows % 32), (0, -cols % 32), (0, 0)), mode="reflect")
    with torch.no_grad():
        out = network(torch.from_numpy(padded).permute(2, 0, 1)[None].float())
    return out[0, :, :rows, :cols].numpy()


def _tally(table: Counter[tuple[str, str]], found: np.ndarray, allowed: np.ndarray) -> None:
    known = allowed > 0
    table["pixels", "known"] += int(known.sum())
    table["pixels", "allowed"] += int(((allowed >> found) & 1).sum())
    for i, name in enumerate(CLASSES):
        mine, theirs = (found == i) & known, allowed == BIT[name]
        table[name, "both"] += int((mine & theirs).sum())
        table[name, "any"] += int((mine | theirs).sum())


class Half:
    """One half of every batch: its own crops, and a copy of the network that shares the parameters."""

    def __init__(self, network: LandCover, samples: list[Sample], wanted: list[list[str]], seed: list[int]) -> None:
        self.network = network if seed[-1] == 0 else copy.deepcopy(network)
        for mine, shared in zip(self.network.parameters(), network.parameters(), strict=True):
            mine.data = shared.data
        self._samples, self._deck = samples, Deck(samples)
        self._wanted, self._random = wanted, np.random.default_rng(seed)

    def work(self, unsettled: bool = True) -> tuple[float, tuple[Tensor, ...]]:
        """Loss and gradients of the next crops; `unsettled`: the decoder normalises by these crops alone."""
        torch.set_num_threads(1)
        self.network.train()
        for stage in self.network.decoder:
            stage.train(unsettled)
        self._wanted.reverse()
        loss = _loss(self.network, self._batch(self._wanted[0]))
        return loss.item(), torch.autograd.grad(loss, _trained(self.network))

    def _batch(self, wanted: list[str]) -> list[Crop]:
        places = [self._deck.draw(source, self._random) for source in wanted]
        return [crop(place, self._samples, SIZE, self._random) for place in places]


def _agree(halves: list[Half]) -> None:
    """Both copies of the network go on with the mean of the statistics that each has seen."""
    with torch.no_grad():
        for mine, other in zip(*(half.network.decoder.buffers() for half in halves), strict=True):
            if mine.dtype.is_floating_point:
                mine.copy_((mine + other) / 2)
                other.copy_(mine)


def _wanted(half: tuple[str, ...], sources: tuple[str, ...]) -> list[str]:
    return [name if name in sources else sources[i % 2] for i, name in enumerate(half)]


def _trained(network: LandCover) -> list[nn.Parameter]:
    return [*network.encoder.trained(), *network.decoder.parameters(), *network.heads.parameters()]


def _groups(network: LandCover) -> list[dict[str, object]]:
    encoder = network.encoder.trained()
    return [{"params": encoder, "lr": ENCODER_RATE}, {"params": _trained(network)[len(encoder) :], "lr": DECODER_RATE}]


def _loss(network: LandCover, crops: list[Crop]) -> Tensor:
    # Permuted, not copied: the channels lie last, which is what the convolutions are fastest with.
    image = torch.from_numpy(np.stack([crop.image for crop in crops])).permute(0, 3, 1, 2).float()
    out = network.halved(image).float()
    allowed = torch.from_numpy(np.stack([crop.allowed for crop in crops]))
    centre = torch.from_numpy(np.stack([crop.centre for crop in crops]))
    border = torch.from_numpy(np.stack([crop.border for crop in crops]))
    return classes_loss(out[:, : len(CLASSES)], allowed) + roofs_loss(out[:, len(CLASSES) :], centre, border)


def _follow(average: LandCover, network: LandCover, keep: float) -> None:
    with torch.no_grad():
        theirs = network.state_dict()
        for name, value in average.state_dict().items():
            if value.dtype.is_floating_point:
                value.lerp_(theirs[name], 1 - keep)
            else:
                value.copy_(theirs[name])


if __name__ == "__main__":
    main()
