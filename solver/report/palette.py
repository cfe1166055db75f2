"""The colours of HTML pages, in a light and a dark theme, and the style sheet of both.

Charts name a colour; the page gives it its value, so that one drawing suits both themes
and paper.
"""

from __future__ import annotations

__all__ = ["DARK", "LIGHT", "STAGES", "TEXT_ON", "contrast", "variables"]

LIGHT: dict[str, str] = {
    "page": "#f4f6f8",
    "surface": "#ffffff",
    "ink": "#16202b",
    "muted": "#54606d",
    "line": "#d5dce3",
    "accent": "#0b5cad",
    "good": "#156c33",
    "warn": "#8a4a00",
    "bad": "#a9251b",
    "land": "#dfe5ea",
    "free": "#eef1f4",
    "c0": "#2f6fb7",
    "c1": "#c96a12",
    "c2": "#1f8f83",
    "c3": "#8656b3",
    "c4": "#bf3f66",
    "c5": "#71811f",
    "c6": "#5d7183",
    "s0": "#cfe2f7",
    "s1": "#fbdcc0",
    "s2": "#c8ebe5",
    "s3": "#e5d6f3",
    "s4": "#f8d1dc",
    "s5": "#e4e9bb",
    "s6": "#d6dee5",
    "s7": "#f6e7ac",
}
"""Name of a colour to its value on a light page."""

DARK: dict[str, str] = {
    "page": "#0e1318",
    "surface": "#161d25",
    "ink": "#e8eef4",
    "muted": "#a3b0bd",
    "line": "#303b46",
    "accent": "#7cb9ff",
    "good": "#5fd07f",
    "warn": "#eab555",
    "bad": "#ff938a",
    "land": "#29343f",
    "free": "#212b35",
    "c0": "#5b9be0",
    "c1": "#e8914a",
    "c2": "#46b8aa",
    "c3": "#ae85d8",
    "c4": "#e37495",
    "c5": "#a3b44c",
    "c6": "#8ba0b3",
    "s0": "#1d4166",
    "s1": "#613a16",
    "s2": "#14504a",
    "s3": "#472f61",
    "s4": "#622739",
    "s5": "#444d17",
    "s6": "#3a4753",
    "s7": "#574811",
}
"""The same on a dark one."""

STAGES = 8
"""Colours for stages of the pipeline, s0 and on; more stages begin again."""

TEXT_ON: tuple[tuple[str, str], ...] = (
    *((text, "page") for text in ("ink", "muted", "accent", "warn")),
    *((text, "surface") for text in ("ink", "muted", "accent", "good", "warn", "bad")),
    *(("ink", f"s{number}") for number in range(STAGES)),
    ("ink", "free"),
)
"""Every pair of text and ground that the pages use."""


def variables(colours: dict[str, str]) -> str:
    """Return the colours as declarations of CSS."""
    return "".join(f"--{name}:{value};" for name, value in colours.items())


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21.

    Notes
    -----
    Relative luminance and ratio as in the Web Content Accessibility Guidelines 2.2.
    """
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    """Return the relative luminance of a colour, 0 to 1."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
