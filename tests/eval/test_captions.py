"""Caption measures: by hand, and against the COCO code and NLTK on random texts; words against Stanford's tokenizer."""

from __future__ import annotations

import math
import random
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import snowballstemmer
from nltk.translate.bleu_score import corpus_bleu
from nltk.translate.meteor_score import meteor_score
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge

from swath.errors import InputError
from swath.eval.cases import Case
from swath.eval.metrics import meteor
from swath.eval.metrics.captions import Caption
from swath.eval.metrics.coco import stanford_tokens
from swath.eval.metrics.meteor import meteor_stem
from swath.eval.metrics.ngrams import bleu, cider_d, rouge_l
from swath.eval.metrics.ptb import tokens
from swath.eval.scores import Prediction, score

NEEDS_JAVA = pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java for the official programs")
VOCABULARY = [
    "the",
    "a",
    "image",
    "shows",
    "two",
    "ships",
    "in",
    "green",
    "field",
    "with",
    "trees",
    "and",
    "road",
    "near",
    "top",
    "left",
    "large",
    "small",
    "harbor",
]
CAT, MAT = ["the", "cat", "sat", "on", "the", "mat"], ["the", "cat", "is", "on", "the", "mat"]


def _case(name: str, truth: Any) -> Case:
    return Case(name, Path("a.tif"), "Describe the image.", truth, "caption", ("caption",))


def _random_set(seed: int, n: int = 40) -> tuple[list[str], list[list[str]]]:
    chance = random.Random(seed)
    sentence = lambda: " ".join(chance.choice(VOCABULARY) for _ in range(chance.randint(1, 25)))  # noqa: E731
    references = [[sentence() for _ in range(chance.randint(1, 3))] for _ in range(n)]
    said = []
    for group in references:  # some close to a reference, so that long sequences are shared
        words = group[0].split()
        words[chance.randrange(len(words))] = "harbor"
        said.append(" ".join(words) if chance.random() < 0.6 else sentence())
    return said, references


def _split(said: list[str], references: list[list[str]]) -> list[tuple[list[str], list[list[str]]]]:
    return [(text.split(), [r.split() for r in rs]) for text, rs in zip(said, references, strict=True)]


def test_bleu_by_hand() -> None:
    # 5 of 6 words, 3 of 5 pairs (the cat, on the, the mat), 1 of 4 triples, 0 of 3
    assert bleu([(CAT, [MAT])]) == pytest.approx([5 / 6, math.sqrt(5 / 6 * 3 / 5), (5 / 6 * 3 / 5 / 4) ** (1 / 3), 0])
    # clipped: the reference has "the" twice; as long as the reference
    assert bleu([(["the", "the", "the", "the", "the", "the"], [MAT])])[0] == pytest.approx(2 / 6)
    # three words for six: exp(1 - 6 / 3)
    assert bleu([(CAT[:3], [CAT])])[0] == pytest.approx(math.exp(-1))
    # of references of 2 and 6 words the closest to 3 is that of 2, so that nothing is taken off
    assert bleu([(CAT[:3], [CAT, CAT[:2]])])[0] == 1.0
    assert bleu([([], [CAT])]) == [0, 0, 0, 0]


def test_rouge_l_by_hand() -> None:
    # the longest common subsequence has 5 of 6 words on both sides
    assert rouge_l(CAT, [MAT]) == pytest.approx(5 / 6)
    # precision 1, recall 1/2: (1 + 1.44) / 2 / (1/2 + 1.44)
    assert rouge_l(CAT[:3], [CAT]) == pytest.approx(2.44 / 2 / 1.94)
    assert rouge_l([], [CAT]) == 0.0
    assert rouge_l(["dog"], [CAT]) == 0.0


def test_cider_d_by_hand() -> None:
    pairs = [(["a", "b"], [["a", "b"]]), (["c"], [["d"]])]
    # words and pairs of the first agree fully, three and four words are not there: 10 * (1 + 1) / 4
    assert cider_d(pairs) == pytest.approx([5.0, 0.0])
    # said three times, each count is clipped at once; one pair less than said: exp(-(1 - 0)**2 / 72)
    longer = [(["a", "a"], [["a"]]), (["c"], [["d"]])]
    assert cider_d(longer)[0] == pytest.approx(10 / 4 * 0.5 * math.exp(-1 / 72))
    assert cider_d([(CAT, [CAT])]) == [0.0]  # a single image has no rare words
    assert cider_d([]) == []


def test_meteor_stem_by_hand() -> None:
    # five of six words in two chunks (the cat | on the mat)
    assert meteor_stem(CAT, [MAT]) == pytest.approx(5 / 6 * (1 - 0.5 * (2 / 5) ** 3))
    # ships and ship by their stem; precision 1, recall 1/2, one chunk of two words
    mean = 0.5 / (0.9 + 0.1 * 0.5)
    assert meteor_stem(["two", "ship"], [["two", "ships", "in", "port"]]) == pytest.approx(mean * (1 - 0.5 / 8))
    assert meteor_stem(["dog"], [CAT, ["dog"]]) == pytest.approx(0.5)  # the best reference
    assert meteor_stem([], [CAT]) == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_the_coco_code_agrees(seed: int) -> None:
    said, references = _random_set(seed)
    truths, answers = dict(enumerate(references)), {i: [text] for i, text in enumerate(said)}
    pairs = _split(said, references)
    assert bleu(pairs) == pytest.approx(Bleu(4).compute_score(truths, answers, verbose=0)[0], abs=1e-6)
    assert [rouge_l(*pair) for pair in pairs] == pytest.approx(Rouge().compute_score(truths, answers)[1])
    assert cider_d(pairs) == pytest.approx(Cider().compute_score(truths, answers)[1])


@pytest.mark.parametrize("seed", range(5))
def test_nltk_agrees(seed: int) -> None:
    pairs = [pair for pair in _split(*_random_set(seed)) if len(pair[0]) >= 4]  # NLTK counts a try in shorter ones
    for n in range(1, 5):
        theirs = corpus_bleu([rs for _, rs in pairs], [text for text, _ in pairs], weights=(1 / n,) * n)
        assert bleu(pairs)[n - 1] == pytest.approx(theirs)
    stemmer = SimpleNamespace(stem=snowballstemmer.stemmer("english").stemWord)
    without_synonyms = SimpleNamespace(synsets=lambda word: [])
    chance = random.Random(seed)
    for _ in range(30):  # without repeated words there is one way to match them
        pair = [chance.sample(VOCABULARY, chance.randint(1, 15)) for _ in range(2)]
        theirs = meteor_score([pair[0]], pair[1], stemmer=stemmer, wordnet=without_synonyms)
        assert meteor_stem(pair[1], [pair[0]]) == pytest.approx(theirs)


def test_words() -> None:
    assert tokens("It's a dog's life; don't “quote” it!") == [
        "it",
        "'s",
        "a",
        "dog",
        "'s",
        "life",
        "do",
        "n't",
        "quote",
        "it",
    ]
    assert tokens("State-of-the-art, 1,234 m² at 10:30 (U.S.)") == (
        ["state-of-the-art", "1,234", "m", "²", "at", "10:30", "-lrb-", "u.s.", "-rrb-"]
    )
    assert tokens("cannot – 50%") == ["can", "not", "50", "%"]
    assert tokens("") == []


CAPTIONS = (
    "The high-resolution image from GoogleEarth features a ground track field located slightly towards the right.",
    "The field's color is green, and it's surrounded by trees (dense). There are 12 small vehicles; some are parked!",
    "In the bottom-right, a T-shaped pier isn't used: the boats' sides \"touch\" it, 3.5m away... They're 50% white.",
    "Two tennis courts, one blue/green - the other red - lie next to 1,234 houses & a U.S. road #1.",
)


@NEEDS_JAVA
def test_stanford_s_tokenizer_agrees_on_captions() -> None:
    theirs = stanford_tokens([[text] for text in CAPTIONS])
    assert [[" ".join(tokens(text))] for text in CAPTIONS] == theirs


def _pairs() -> list[tuple[Case, Prediction]]:
    pairs = [(_case(str(i), [text]), Prediction.of_text(text)) for i, text in enumerate(CAPTIONS[:2])]
    return [*pairs, (_case("x", CAPTIONS[2]), Prediction("refused", reason="no"))]


@NEEDS_JAVA
def test_the_official_totals() -> None:
    found = Caption("official").total(_pairs())
    plain = Caption().total(_pairs())
    assert 0.3 < found.pop("METEOR") < 0.9  # of summed counts, so that one empty caption of three takes off what is its
    assert Caption("official").total(_pairs()[:2])["METEOR"] == pytest.approx(1.0)
    assert plain.pop("METEOR-stem") == pytest.approx(2 / 3, abs=0.01)
    assert found == pytest.approx(plain)


def test_totals_keep_what_was_not_answered() -> None:
    found = Caption().total(_pairs())
    assert found["ROUGE_L"] == pytest.approx(2 / 3)
    assert found["Avg_L"] == (len(CAPTIONS[0].split()) + len(CAPTIONS[1].split())) / 3
    said = sum(len(tokens(text)) for text in CAPTIONS[:2])
    wanted = sum(len(tokens(text)) for text in CAPTIONS[:3])
    assert found["BLEU-4"] == pytest.approx(math.exp(1 - wanted / said))
    assert Caption().total([]) == {}


def test_without_its_package_meteor_stem_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meteor, "_stem", lambda: None)
    found = Caption().total(_pairs())
    assert "METEOR-stem" not in found
    assert "METEOR" not in found


def test_without_java_the_official_rule_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(InputError, match=r"need Java and the package pycocoevalcap\. Next: install both"):
        Caption("official").total(_pairs())


def test_a_caption_s_own_score() -> None:
    assert score(_case("1", CAPTIONS[0]), Prediction.of_text(CAPTIONS[0])).verdict == "right"
    found = score(_case("1", ["The cat is on the mat."]), Prediction.of_text("The dog sat!"))
    assert (found.verdict, found.metric) == ("wrong", "caption")
    assert found.value == pytest.approx(2.44 * (1 / 3) * (1 / 6) / (1 / 6 + 1.44 / 3))
    assert score(_case("1", "a"), Prediction("answered", 5)).verdict == "unparsable"
