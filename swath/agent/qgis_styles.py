"""Styles that QGIS takes by itself: a .qml beside a layer of a run folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import quoteattr

INSIDE = (0, 114, 178)
"""Colour of a mask's pixels."""

COUNTED, CONSIDERED = ("230,159,0,255", "solid"), ("120,120,120,255", "dash")
"""Colour and pen of the objects that an answer counted, and of those that were looked at and dropped."""

DROPPED = '"reason" is not null'
"""Only the layer `considered` has this column, and fills it."""


def write_mask_style(mask: Path, names: Mapping[int, str], colours: Mapping[int, tuple[int, int, int]]) -> None:
    """Write the style of a map of classes: 0 is clear.

    Args:
        mask: the GeoTIFF.
        names: class of each value.
        colours: red, green, blue of each value.
    """
    entries = "".join(
        f'<paletteEntry value="{value}" color="#{bytes(colours[value]).hex()}" alpha="255" label={quoteattr(name)}/>'
        for value, name in names.items()
    )
    raster = '<rasterrenderer type="paletted" band="1" opacity="0.6" alphaBand="-1" nodataColor="">'
    _write(mask, f"<pipe>{raster}<colorPalette>{entries}</colorPalette></rasterrenderer></pipe>")


def write_objects_style(objects: Path, geometry_type: str) -> None:
    """Write the style of a GeoPackage of counted and considered objects.

    Args:
        objects: the GeoPackage.
        geometry_type: what its layers hold, such as "MultiPolygon".
    """
    kind = next((kind for word, kind in (("Point", "marker"), ("Line", "line")) if word in geometry_type), "fill")
    rules = (
        f'<rule key="dropped" symbol="1" label="considered, dropped" filter={quoteattr(DROPPED)}/>'
        '<rule key="counted" symbol="0" label="counted" filter="ELSE"/>'
    )
    symbols = _symbol(0, kind, *COUNTED) + _symbol(1, kind, *CONSIDERED)
    _write(
        objects,
        f'<renderer-v2 type="RuleRenderer" symbollevels="0"><rules key="rules">{rules}</rules>'
        f"<symbols>{symbols}</symbols></renderer-v2>",
    )


def _symbol(name: int, kind: str, colour: str, pen: str) -> str:
    layers = {
        "fill": ("SimpleFill", {"style": "no", "outline_color": colour, "outline_style": pen, "outline_width": "0.6"}),
        "line": ("SimpleLine", {"line_color": colour, "line_style": pen, "line_width": "0.6"}),
        "marker": ("SimpleMarker", {"name": "circle", "color": colour, "size": "2", "outline_style": "no"}),
    }
    layer, options = layers[kind]
    told = "".join(f'<Option type="QString" name="{key}" value="{value}"/>' for key, value in options.items())
    inner = f'<layer class="{layer}" enabled="1" pass="0" locked="0"><Option type="Map">{told}</Option></layer>'
    return f'<symbol type="{kind}" name="{name}" alpha="1" clip_to_extent="1">{inner}</symbol>'


def _write(layer: Path, content: str) -> None:
    head = '<!DOCTYPE qgis PUBLIC "http://mrcc.com/qgis.dtd" "SYSTEM">\n'
    style = f'{head}<qgis version="3.22" styleCategories="Symbology">{content}</qgis>\n'
    layer.with_suffix(".qml").write_text(style, encoding="utf-8")
