"""Charts as inline SVG whose colours are the page's (needs matplotlib).

matplotlib draws each colour of the palette as a value of its own, which is replaced by
the CSS variable of its name afterwards. Text stays text. A chart is drawn as wide as a
phone's column, one unit a CSS pixel, so that its text has the size of the page's.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

from solver.report.palette import LIGHT
from solver.report.pictures import new_figure

__all__ = ["WIDTH", "Bar", "bars", "drawn", "ink", "inline"]

WIDTH = 360
"""Width of a chart, CSS pixels."""

_ROW = 36
"""Height of a labelled bar."""

_THICK = 8
"""Height of the bar itself."""

_SVG = "{http://www.w3.org/2000/svg}"

_INK = {name: f"#{n:02x}00fe" for n, name in enumerate(LIGHT, start=1)}

_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.size": 12,
    "axes.linewidth": 0.8,
    "svg.image_inline": True,
}

_FONT = re.compile(r"(font-family:[^;\"]*;?|(?<=px )'[^;\"]*)")


@dataclass(frozen=True, slots=True)
class Bar:
    """One labelled bar.

    Parameters
    ----------
    label, value
        What it is and how much, as shown.
    start, end
        From and to, as parts of the whole.
    colour
        Name of its colour.
    whisker
        Ends of an interval around its end, as parts of the whole; None without.
    """

    label: str
    value: str
    start: float
    end: float
    colour: str = "c0"
    whisker: tuple[float, float] | None = None


def ink(name: str) -> str:
    """Return what matplotlib is to draw with for a colour of the palette."""
    return _INK[name]


def drawn(
    key: str,
    title: str,
    text: str,
    size: tuple[float, float],
    draw: Callable[[Any], None],
) -> str:
    """Return a chart as one SVG element that names and describes itself.

    Parameters
    ----------
    key
        Tells it apart from the others of the page.
    title, text
        What it shows, in few words and in a sentence.
    size
        Width and height, CSS pixels.
    draw
        Draws on the figure it is given.
    """
    import matplotlib as mpl

    file = io.BytesIO()
    with mpl.rc_context({**_SETTINGS, "svg.hashsalt": key}), warnings.catch_warnings():
        # the browser has the glyphs that matplotlib's font lacks
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = new_figure(size[0] / 72, size[1] / 72, free=True)
        figure.patch.set_alpha(0)
        draw(figure)
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return inline(file.getvalue(), key, title, text)


def inline(svg: bytes, key: str, title: str, text: str) -> str:
    """Return matplotlib's file as part of a page: own ids, the page's colours.

    ``key``, ``title`` and ``text`` as those of `drawn`.
    """
    root = ET.fromstring(svg)  # noqa: S314 -- matplotlib wrote it a moment ago
    for extra in root.findall(f"{_SVG}metadata"):
        root.remove(extra)
    for group in root.findall(f"{_SVG}defs"):
        for style in group.findall(f"{_SVG}style"):  # would hold for the whole page
            group.remove(style)
    values = (value for node in root.iter() for value in node.attrib.values())
    used = set(re.findall(r"#([\w-]+)", " ".join(values)))
    for node in root.iter():
        name = node.get("id")
        if name is not None and name in used:
            node.set("id", f"{key}-{name}")
        elif name is not None:
            del node.attrib["id"]
        for attribute, value in node.attrib.items():
            if attribute != "id":
                own = re.sub(r"(?<=url\()#|^#(?=\w)", f"#{key}-", value)
                node.set(attribute, _FONT.sub("", own) if node.text else own)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {"role": "img", "aria-labelledby": f"{key}-title {key}-desc"}
    for place, (tag, words) in enumerate((("title", title), ("desc", text))):
        element = ET.Element(f"{_SVG}{tag}", {"id": f"{key}-{tag}"})
        element.text = words
        root.insert(place, element)
    ET.register_namespace("", _SVG.strip("{}"))
    ET.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    found = ET.tostring(root, encoding="unicode")
    return re.sub(
        r"#([0-9a-f]{2})00fe\b", lambda match: f"var(--{_NAMES[match[0]]})", found
    )


_NAMES = {value: name for name, value in _INK.items()}


def bars(
    key: str, title: str, text: str, rows: Sequence[Bar], stack: Sequence[Bar] = ()
) -> str:
    """Return labelled bars, one below the other: label and value stand over each.

    Parameters
    ----------
    key, title, text
        As `drawn`.
    rows
        The bars.
    stack
        Bars drawn as one, above all others, without labels.
    """
    above = 30 if stack else 0
    height = above + _ROW * len(rows) + 4

    def draw(figure: Any) -> None:
        axes = canvas(figure, WIDTH, height)
        for bar in stack:
            _block(axes, bar, 4, 16)
        for number, bar in enumerate(rows):
            top = above + number * _ROW
            axes.text(0, top + 14, bar.label, color=ink("ink"))
            axes.text(WIDTH, top + 14, bar.value, color=ink("ink"), ha="right")
            axes.add_patch(_rectangle(0, top + 20, WIDTH, _THICK, ink("free")))
            _block(axes, bar, top + 20, _THICK)
            _whisker(axes, bar, top + 20 + _THICK / 2)

    return drawn(key, title, text, (WIDTH, height), draw)


def canvas(figure: Any, width: float, height: float) -> Any:
    """Return axes without frame over a whole figure, one unit a pixel, y downwards."""
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    return axes


def _block(axes: Any, bar: Bar, top: float, thick: float) -> None:
    """Draw one bar; what there is of it is never thinner than a line."""
    width = max((bar.end - bar.start) * WIDTH, 1.5)
    left = min(bar.start * WIDTH, WIDTH - width)
    axes.add_patch(_rectangle(left, top, width, thick, ink(bar.colour)))


def _whisker(axes: Any, bar: Bar, y: float) -> None:
    """Draw the interval around the end of a bar."""
    if bar.whisker is None:
        return
    low, high = (end * WIDTH for end in bar.whisker)
    axes.plot([low, high], [y, y], color=ink("ink"), linewidth=1.5)
    for end in (low, high):
        axes.plot([end, end], [y - 6, y + 6], color=ink("ink"), linewidth=1.5)


def _rectangle(left: float, top: float, width: float, height: float, fill: str) -> Any:
    """Return a filled rectangle without a frame."""
    from matplotlib.patches import Rectangle

    return Rectangle((left, top), width, height, facecolor=fill, edgecolor="none")
