"""Pictures as files (needs matplotlib, the extra ``plots``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from solver.errors import InputError, Issue, shown

__all__ = ["check_picture", "new_figure", "save_picture"]


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
    try:
        import matplotlib as mpl
    except ImportError:
        message = "drawing needs matplotlib: pip install 'gpuplan[plots]'"
        raise InputError([Issue("bad-usage", message, "--plot")]) from None
    mpl.use("Agg")
    kind = path.suffix.lower().lstrip(".")
    if kind not in new_figure(1, 1).canvas.get_supported_filetypes():
        message = (
            "the picture cannot be written: expected a name that ends in .png, .svg or "
            f".pdf, not {shown(path.suffix)}"
        )
        raise InputError([Issue("file-unwritable", message, str(path))])


def new_figure(width: float, height: float) -> Any:
    """An empty picture of so many inches; matplotlib has to be there."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


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
