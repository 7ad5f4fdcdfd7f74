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
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from training.landcover.augment import Crop, crop
from training.landcover.draw import Deck
from training.landcover.losses import classes_loss, roofs_loss
from training.landcover.network import LandCover, pretrained
from training.landcover.recipes import RECIPES, Recipe
from training.landcover.sources import BIT, CLASSES, Sample, load

LOG = logging.getLogger(__name__)
SOURCES = ("dubai", "hot", "naip", "neon")
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
    parser.add_argument(
        "--recipe", choices=list(RECIPES), default="first", help="how; see training/landcover/recipes.py"
    )
    parser.add_argument("--iterations", type=int, help="steps; those of the recipe unless given")
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--without", choices=SOURCES, help="a source to leave out")
    parser.add_argument("--resume", action="store_true", help="go on from where a training into OUT was ended")
    parser.add_argument("--stop-after", type=int, help="end after this many steps; --resume goes on")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.set_num_threads(1)  # the halves of a batch run side by side: fewer waits than threads within each operation
    torch.manual_seed(given.seed)
    sources = tuple(name for name in SOURCES if name != given.without)
    recipe = replace(RECIPES[given.recipe], steps=given.iterations or RECIPES[given.recipe].steps)
    record = {"recipe": given.recipe, "sources": sources, "seed": given.seed, "size_px": recipe.size_px}
    training = Training(pretrained(), load(given.data, "train", sources), sources, recipe, given.seed)
    if given.resume:
        training.restore(torch.load(_state_of(given.out), weights_only=True))
    train(training, load(given.data, "validation", sources), record, given.out, given.stop_after)


def train(
    training: Training, checks: list[Sample], record: dict[str, object], out: Path, stop_after: int | None = None
) -> None:
    """Train with early stopping on the validation groups.

    The best averaged weights so far lie in `out`, and beside it as JSON what was done and the scores as they came, and
    all that going on from the last step needs: a training that is ended early leaves all three.

    Args:
        training: from its last step on.
        checks: samples of the validation groups.
        record: what is to be kept about it.
        out: the weights.
        stop_after: a step after which it ends.
    """
    recipe, history = training.recipe, training.history
    last = min(recipe.steps, stop_after or recipe.steps)
    started = time.monotonic() - (history[-1]["seconds"] if history else 0)
    while training.steps < last:
        training.step()
        if training.steps % recipe.every and training.steps < last:
            continue
        scores = {**validate(training.average, checks), "step": training.steps, "loss": training.recent_loss}
        scores["seconds"] = round(time.monotonic() - started)
        best = max([entry["score"] for entry in history], default=-1.0)
        history.append(scores)
        LOG.info(json.dumps({name: round(value, 4) for name, value in scores.items()}))
        kept = {**record, "halves": recipe.halves, "history": history, "planned_steps": recipe.steps}
        out.with_suffix(".json").write_text(json.dumps(kept))
        torch.save(training.state(), _state_of(out))
        if scores["score"] > best:
            torch.save(training.average.state_dict(), out)
        elif max(range(len(history)), key=lambda i: history[i]["score"]) <= len(history) - 1 - PATIENCE:
            break


def _state_of(out: Path) -> Path:
    return out.with_suffix(".state")


class Training:
    """A training at some step.

    Attributes:
        recipe: how.
        steps: done so far.
        average: averaged weights, which are those that are kept.
        history: scores on the validation groups as they came.
    """

    def __init__(
        self, network: LandCover, samples: list[Sample], sources: tuple[str, ...], recipe: Recipe, seed: int
    ) -> None:
        self.recipe, self.steps = recipe, 0
        self._network = network.to(memory_format=torch.channels_last)
        self.average = copy.deepcopy(self._network).eval()
        self.history: list[dict[str, float]] = []
        self._losses: list[float] = []
        wanted = [[_wanted(recipe.halves[i + turn], sources) for turn in (0, 2)] for i in (0, 1)]
        self._halves = [Half(self._network, samples, wanted[i], [seed, i], recipe) for i in (0, 1)]
        self._optimiser = torch.optim.AdamW(_groups(self._network), weight_decay=1e-2)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._optimiser, lambda step: rate(step, recipe.steps))
        self._pool = ThreadPoolExecutor(len(self._halves))

    @property
    def recent_loss(self) -> float:
        """Mean loss since about the last look at the validation groups."""
        return float(np.mean(self._losses[-self.recipe.every :]))

    def step(self) -> None:
        """One batch."""
        self.steps += 1
        unsettled = self.steps <= SETTLED * self.recipe.steps
        both = [future.result() for future in [self._pool.submit(half.work, unsettled) for half in self._halves]]
        for i, parameter in enumerate(_trained(self._network)):
            parameter.grad = (both[0][1][i] + both[1][1][i]) / 2
        nn.utils.clip_grad_norm_(_trained(self._network), 5.0)
        self._optimiser.step()
        self._schedule.step()
        _agree(self._halves)
        _follow(self.average, self._network, min(EMA, self.steps / (self.steps + 10)))
        self._losses.append(float(np.mean([loss for loss, _ in both])))

    def state(self) -> dict[str, Any]:
        """All that going on from here needs."""
        return {
            "recipe": asdict(self.recipe),
            "steps": self.steps,
            "history": self.history,
            "losses": self._losses,
            "network": self._network.state_dict(),
            "average": self.average.state_dict(),
            "optimiser": self._optimiser.state_dict(),
            "schedule": self._schedule.state_dict(),
            "halves": [half.state() for half in self._halves],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state.

        Raises:
            ValueError: it is one of another recipe.
        """
        if state["recipe"] != asdict(self.recipe):
            raise ValueError("The training to be resumed had another recipe or number of steps.")
        self.steps, self.history, self._losses = state["steps"], state["history"], state["losses"]
        self._network.load_state_dict(state["network"])
        self.average.load_state_dict(state["average"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._schedule.load_state_dict(state["schedule"])
        for half, its in zip(self._halves, state["halves"], strict=True):
            half.restore(its, self._network)


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

    def __init__(
        self, network: LandCover, samples: list[Sample], wanted: list[list[str]], seed: list[int], recipe: Recipe
    ) -> None:
        self.network = network if seed[-1] == 0 else copy.deepcopy(network)
        for mine, shared in zip(self.network.parameters(), network.parameters(), strict=True):
            mine.data = shared.data
        self._samples, self._deck, self._recipe = samples, Deck(samples, recipe.by_class), recipe
        self._wanted, self._random = wanted, np.random.default_rng(seed)

    def work(self, unsettled: bool = True) -> tuple[float, tuple[Tensor, ...]]:
        """Loss and gradients of the next crops; `unsettled`: the decoder normalises by these crops alone."""
        torch.set_num_threads(1)
        self.network.train()
        for stage in self.network.decoder:
            stage.train(unsettled)
        self._wanted.reverse()
        loss = _loss(self.network, self._batch(self._wanted[0]), self._recipe)
        return loss.item(), torch.autograd.grad(loss, _trained(self.network))

    def _batch(self, wanted: list[str]) -> list[Crop]:
        places = [self._deck.draw(source, self._random) for source in wanted]
        return [crop(place, self._samples, self._recipe.size_px, self._random) for place in places]

    def state(self) -> dict[str, Any]:
        """What the next crops depend on."""
        return {"random": self._random.bit_generator.state, "wanted": self._wanted}

    def restore(self, state: dict[str, Any], network: LandCover) -> None:
        """Go on from a state; `network` has the statistics that both halves had agreed on."""
        self._random.bit_generator.state, self._wanted = state["random"], state["wanted"]
        with torch.no_grad():
            for mine, theirs in zip(self.network.buffers(), network.buffers(), strict=True):
                mine.copy_(theirs)


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


def _loss(network: LandCover, crops: list[Crop], recipe: Recipe) -> Tensor:
    # Permuted, not copied: the channels lie last, which is what the convolutions are fastest with.
    image = torch.from_numpy(np.stack([crop.image for crop in crops])).permute(0, 3, 1, 2).float()
    out = network.halved(image).float()
    allowed = torch.from_numpy(np.stack([crop.allowed for crop in crops]))
    centre = torch.from_numpy(np.stack([crop.centre for crop in crops]))
    border = torch.from_numpy(np.stack([crop.border for crop in crops]))
    classes = classes_loss(out[:, : len(CLASSES)], allowed, recipe.doubt)
    return classes + roofs_loss(out[:, len(CLASSES) :], centre, border, recipe.border)


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
