"""Pictures as files (needs matplotlib, the extra ``plots``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from solver.errors import InputError, Issue, shown
from solver.languages import ENGLISH, LANGUAGES, language, speaking

__all__ = [
    "check_drawing",
    "check_picture",
    "has_letters",
    "new_figure",
    "readable",
    "save_picture",
]

P = ParamSpec("P")
R = TypeVar("R")

_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "SimHei",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Noto Sans CJK JP",  # how matplotlib calls the file of all five Noto Sans CJK
    "Arial Unicode MS",
)
"""Fonts with Chinese letters, the best first."""


def check_picture(path: Path) -> None:
    """Refuse a picture that could not be drawn, before any work is done.

    Raises
    ------
    InputError
        The name has no ending that tells the format, or matplotlib is missing.
    """
    if not path.suffix:  # matplotlib would write another file than the one named
        message = "the picture cannot be written: its name has to end in .png or .svg"
        raise InputError([Issue("file-unwritable", message, str(path))])
    check_drawing("--plot")
    kind = path.suffix.lower().lstrip(".")
    if kind not in new_figure(1, 1).canvas.get_supported_filetypes():
        message = (
            "the picture cannot be written: expected a name that ends in .png, .svg or "
            f".pdf, not {shown(path.suffix)}"
        )
        raise InputError([Issue("file-unwritable", message, str(path))])


def has_letters() -> bool:
    """Return whether a font here has the letters of the language that is spoken."""
    return language() == ENGLISH or _fonts(language()) != ()


def readable(draw: Callable[P, R]) -> Callable[P, R]:
    """Let a function draw with fonts that have the letters of the language.

    Where there is none, the picture is labelled in English.
    """

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> R:
        if language() == ENGLISH:
            return draw(*args, **kwargs)
        fonts = _fonts(language())
        if not fonts:
            with speaking(ENGLISH):
                return draw(*args, **kwargs)
        import matplotlib as mpl

        with mpl.rc_context({"font.family": [*fonts, "DejaVu Sans"]}):
            return draw(*args, **kwargs)

    return drawn


@cache
def _fonts(code: str) -> Sequence[str]:
    """Return the best font with the letters of a language; none where none has."""
    from matplotlib.ft2font import FT2Font

    files = _installed()
    for name in _FONTS:
        if name in files:
            known = FT2Font(files[name]).get_charmap()
            if all(ord(letter) in known for letter in LANGUAGES[code]):
                return (name,)
    return ()


def _installed() -> Mapping[str, str]:
    """Return the file of each font, also of those installed since matplotlib looked."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    seen = {font.fname for font in fontManager.ttflist}
    for path in sorted(set(findSystemFonts()) - seen):
        with suppress(OSError, RuntimeError):  # a file that is no font that it reads
            fontManager.addfont(path)
    return {font.name: font.fname for font in fontManager.ttflist}


def check_drawing(option: str) -> None:
    """Refuse what an option asks for where matplotlib is missing.

    Raises
    ------
    InputError
        It is.
    """
    try:
        import matplotlib as mpl
    except ImportError:
        message = "drawing needs matplotlib: pip install 'gpuplan[plots]'"
        raise InputError([Issue("bad-usage", message, option)]) from None
    mpl.use("Agg")


def new_figure(width: float, height: float, *, free: bool = False) -> Any:
    """An empty picture of so many inches; matplotlib has to be there.

    ``free`` leaves the placing of axes to the caller.
    """
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout=None if free else "constrained")


def save_picture(figure: Any, path: Path) -> None:
    """Write a picture in the format of the file's ending.

    Raises
    ------
    InputError
        The file cannot be written, or matplotlib does not know the format.
    """
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        message = f"the picture cannot be written: {error}"
        raise InputError([Issue("file-unwritable", message, str(path))]) from None
