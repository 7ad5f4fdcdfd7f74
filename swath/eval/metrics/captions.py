"""Descriptions held against references."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from swath.eval.cases import Case
from swath.eval.metrics.coco import meteor_1_5, require_java, stanford_tokens
from swath.eval.metrics.meteor import meteor_stem
from swath.eval.metrics.ngrams import Pairs, bleu, cider_d, rouge_l
from swath.eval.metrics.ptb import tokens
from swath.eval.metrics.rules import one_of
from swath.eval.scores import Prediction, Score

RULES = ("plain", "official")
RIGHT_FROM = 0.5


class Caption:
    """The metric `caption`: by our own tokenizer (`plain`), or by the programs of the official scoring (`official`).

    A caption's own value is ROUGE_L. No benchmark calls a caption right or wrong; ours is right from 0.5 upwards, so
    that a set has an accuracy, and the measures that are published are those of `total`.
    """

    def __init__(self, rule: str = "plain") -> None:
        self._official = one_of("caption", rule, RULES) == "official"
        self.name = "caption:official" if self._official else "caption"

    def score(self, case: Case, prediction: Prediction) -> Score:
        """Hold an answered prediction against a text or a list of texts."""
        if not isinstance(prediction.answer, str):
            return Score(self.name, None, "unparsable", f"{type(prediction.answer).__name__} is no text")
        value = rouge_l(tokens(prediction.answer), [tokens(text) for text in _references(case)])
        why = f"ROUGE_L {value:.4f}, right from {RIGHT_FROM:g} by our own line"
        return Score(self.name, value, "right" if value >= RIGHT_FROM else "wrong", why)

    def total(self, pairs: Sequence[tuple[Case, Prediction]]) -> dict[str, float]:
        """Measures of the whole set, from 0 to 1 (CIDEr-D to 10); what was not answered counts as an empty caption.

        Returns:
            "BLEU-1" to "BLEU-4", "ROUGE_L", "CIDEr-D", "Avg_L" (words between spaces); and "METEOR" where it is the
            official one, "METEOR-stem" where it is not.

        Raises:
            InputError: `official` without Java or the package pycocoevalcap.
        """
        said = [_said(prediction) for _, prediction in pairs]
        references = [_references(case) for case, _ in pairs]
        if not pairs:
            return {}
        measures: dict[str, float] = {}
        if self._official:
            require_java()
            answers = [group[0] for group in stanford_tokens([[text] for text in said])]
            truths = stanford_tokens(references)
            measures["METEOR"] = meteor_1_5(answers, truths)
            tokenized = _pairs(str.split, answers, truths)
        else:
            tokenized = _pairs(tokens, said, references)
            stems = [meteor_stem(*pair) for pair in tokenized]
            if None not in stems:
                measures["METEOR-stem"] = _mean([stem or 0.0 for stem in stems])
        return {
            **{f"BLEU-{n}": value for n, value in enumerate(bleu(tokenized), start=1)},
            "ROUGE_L": _mean([rouge_l(*pair) for pair in tokenized]),
            "CIDEr-D": _mean(cider_d(tokenized)),
            **measures,
            "Avg_L": _mean([len(text.split()) for text in said]),
        }


def _pairs(words: Callable[[str], list[str]], said: Sequence[str], references: Sequence[Sequence[str]]) -> Pairs:
    return [(words(text), [words(r) for r in group]) for text, group in zip(said, references, strict=True)]


def _said(prediction: Prediction) -> str:
    answered = prediction.status == "answered" and isinstance(prediction.answer, str)
    return prediction.answer if answered else ""


def _references(case: Case) -> list[str]:
    return [case.truth] if isinstance(case.truth, str) else [str(text) for text in case.truth]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
