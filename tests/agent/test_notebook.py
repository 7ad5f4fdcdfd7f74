"""What a notebook shows, through IPython's own display machinery."""

from __future__ import annotations

import io
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from PIL import Image

import swath
from swath.agent.ask import open_desk
from swath.errors import InputError
from swath.tools.masks import segment
from swath.tools.regions import components
from swath.trace.reading import load_run

QUESTION = "How many buildings are within 5 m of water?"


def html_of(shown: Any) -> str:
    formats, _ = DisplayFormatter().format(shown)
    return str(formats["text/html"])


def picture_in(html: str) -> Image.Image:
    found = re.search(r'src="data:image/png;base64,([^"]+)"', html)
    assert found is not None
    return Image.open(io.BytesIO(b64decode(found.group(1))))


@pytest.fixture
def answer(village: Any, tmp_path: Path) -> swath.Answer:
    return swath.ask(village.image, QUESTION, out=tmp_path, **village.options)


def test_an_answer_shows_its_words_and_its_picture(answer: swath.Answer) -> None:
    html = html_of(answer)
    assert answer.text.split(":")[0] in html
    assert QUESTION in html
    assert picture_in(html).size == answer.show().size


def test_objects_are_a_table_of_places(answer: swath.Answer, village: Any) -> None:
    table = answer.objects
    assert len(table) == answer.answer == village.near_canal
    assert table.crs.to_epsg() == 32631
    assert table.geometry.area.tolist() == pytest.approx([village.house_m2] * village.near_canal)
    assert table.area_m2.tolist() == pytest.approx([village.house_m2] * village.near_canal)


def test_what_a_run_did_not_keep_is_said(village: Any, tmp_path: Path) -> None:
    light = swath.ask(village.image, QUESTION, out=tmp_path, keep="light", **village.options)
    with pytest.raises(InputError, match="The run did not keep its objects"):
        _ = light.objects
    with pytest.raises(InputError, match="The run kept no picture"):
        light.show()
    assert "<img" not in html_of(light)
    refused = swath.ask(village.image, "Who owns the buildings?", out=tmp_path, **village.options)
    with pytest.raises(InputError, match="No objects stand behind this answer"):
        _ = refused.objects


def test_words_stay_words(village: Any, tmp_path: Path) -> None:
    attack = "How many <script>alert(1)</script> are there?"
    html = html_of(swath.ask(village.image, attack, out=tmp_path, **village.options))
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_a_run_shows_its_steps(answer: swath.Answer) -> None:
    html = html_of(load_run(Path(str(answer.run))))
    assert "segment(&quot;building&quot;)" in html
    assert picture_in(html).format == "PNG"


def test_masks_and_regions_show_where_they_are(village: Any) -> None:
    site = open_desk(village.image, "", program="", **village.options).open()
    water = segment(site, "water")
    html = html_of(water)
    assert f"{water.size_px:,} px, {village.canal_m2:g} m2" in html
    blue = (np.asarray(picture_in(html)) == (0, 114, 178)).all(axis=2)
    assert (blue == water.pixels).all()
    houses = components(site, segment(site, "building"))
    html = html_of(houses)
    assert html.count("<tr>") == 1 + village.houses
    assert f"<td>{village.house_m2:g}</td><td>47, 20, 63, 30</td>" in html
