"""Styles beside the layers of a run, read by QGIS itself where it is installed."""

from __future__ import annotations

import json
import os
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import swath

QUESTION = "How many buildings are within 5 m of water?"
PYTHON = Path("/usr/bin/python3")
LOOK = """
import json, sys
from qgis.core import QgsApplication, QgsRasterLayer, QgsVectorLayer
application = QgsApplication([], False)
application.initQgis()
folder, found = sys.argv[1], {}
for name in ("counted", "considered"):
    layer = QgsVectorLayer(f"{folder}/objects.gpkg|layername={name}", name, "ogr")
    said, loaded = layer.loadDefaultStyle()
    rules = [rule.label() for rule in layer.renderer().rootRule().children()]
    context_rules = []
    for feature in layer.getFeatures():
        from qgis.core import QgsExpression, QgsExpressionContext, QgsExpressionContextUtils
        context = QgsExpressionContext(QgsExpressionContextUtils.globalProjectLayerScopes(layer))
        context.setFeature(feature)
        expression = QgsExpression(layer.renderer().rootRule().children()[0].filterExpression())
        context_rules.append(bool(expression.evaluate(context)))
    found[name] = {"valid": layer.isValid(), "crs": layer.crs().authid(), "loaded": loaded, "rules": rules,
                   "dropped": context_rules, "count": layer.featureCount()}
layer = QgsRasterLayer(sys.argv[2], "mask")
found["mask"] = {"valid": layer.isValid(), "crs": layer.crs().authid(), "kind": layer.renderer().type(),
                 "classes": [[entry.value, entry.label, entry.color.name()] for entry in layer.renderer().classes()]}
print(json.dumps(found))
"""


@pytest.fixture
def run(village: Any, tmp_path: Path) -> Path:
    return Path(str(swath.ask(village.image, QUESTION, out=tmp_path, **village.options).run))


def test_every_layer_has_its_style(run: Path) -> None:
    layers = [run / "objects.gpkg", *(run / "masks").glob("*.tif")]
    assert len(layers) >= 3
    for layer in layers:
        assert ET.parse(layer.with_suffix(".qml")).getroot().tag == "qgis"


def test_names_stay_text(village: Any, tmp_path: Path) -> None:
    legend = tmp_path / "hostile.json"
    legend.write_text(json.dumps({"1": 'roof"/><x a="', "2": "water", "3": "grass"}), encoding="utf-8")
    program = 'reply(segment("water"), kind="mask", objects=segment("water"))'
    found = swath.ask(village.image, "x", program=program, labels=village.image, legend=legend, out=tmp_path / "runs")
    assert found.mask is not None, found.reason
    entry = ET.parse(Path(str(found.mask.path)).with_suffix(".qml")).getroot().find(".//paletteEntry")
    assert entry is not None
    assert (entry.get("value"), entry.get("label")) == ("1", "water")


def test_qgis_takes_the_styles(run: Path, village: Any) -> None:
    probe = "import qgis.core"
    if not PYTHON.exists() or subprocess.run([PYTHON, "-c", probe], capture_output=True, check=False).returncode:
        pytest.skip("QGIS with its Python bindings (Debian: python3-qgis) is not installed")
    mask = next(path for path in (run / "masks").glob("*.tif") if "building" in path.name)
    environment = {"PATH": os.environ["PATH"], "HOME": str(run), "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run([PYTHON, "-c", LOOK, run, mask], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    for name, dropped in (("counted", False), ("considered", True)):
        layer = found[name]
        assert (layer["valid"], layer["loaded"], layer["crs"]) == (True, True, "EPSG:32631")
        assert layer["rules"] == ["considered, dropped", "counted"]
        assert layer["dropped"] == [dropped] * layer["count"]
    assert found["counted"]["count"] == village.near_canal
    assert found["considered"]["count"] == village.houses - village.near_canal
    assert found["mask"]["kind"] == "paletted"
    assert found["mask"]["crs"] == "EPSG:32631"
    assert found["mask"]["classes"] == [[1, mask.stem, "#0072b2"]]
