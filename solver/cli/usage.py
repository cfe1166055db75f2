"""What all commands have: a plain usage line, and the option ``--lang``."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from solver.cli.terminal import can_show, note
from solver.languages import ENGLISH, LANGUAGES, chosen, use_language

__all__ = ["PlainUsage"]


class PlainUsage(TyperCommand):
    """A command whose usage says ``SCENARIO``; typer would say ``{SCENARIO}``."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # before --help, which stays the last
        self.params = [*self.params, _language_option()]

    def invoke(self, ctx: Any) -> Any:
        """Run the command in the language that was asked for."""
        asked = ctx.params.pop("lang", None)
        _speak(asked, as_json=bool(ctx.params.get("as_json")))
        return super().invoke(ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what the usage line has after the command's name."""
        arguments = [p for p in self.params if p.param_type_name == "argument"]
        names = [p.metavar or str(p.name).upper() for p in arguments]
        return ["[OPTIONS]", *names]


@cache
def _language_option() -> Any:
    """Return the option that chooses the language of a command.

    Notes
    -----
    Typer makes it from a command of its own: how to make one by hand differs between
    its versions.
    """
    maker = typer.Typer(add_completion=False)
    maker.command()(_spoken)
    return typer.main.get_command(maker).params[0]


def _speak(asked: str | None, *, as_json: bool) -> None:
    """Speak the language that is asked for, as far as the output can show it.

    JSON has other characters than those of ASCII escaped.
    """
    code = chosen(asked, os.environ)
    if code != ENGLISH and not as_json and not can_show(sys.stdout, LANGUAGES[code]):
        note(
            f"gpuplan: the output's encoding, {sys.stdout.encoding}, cannot show "
            f"'{code}', so this is in English; PYTHONIOENCODING=utf-8 changes that"
        )
        code = ENGLISH
    use_language(code)


def _spoken(
    lang: Annotated[
        str | None,
        typer.Option(
            "--lang",
            metavar="|".join(LANGUAGES),
            show_default=False,
            help="Language of the report; GPUPLAN_LANG says it for all commands.",
        ),
    ] = None,
) -> None:
    """Take the option ``--lang``."""
