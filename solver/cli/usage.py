"""The usage line of a command, with its arguments as its help names them."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

__all__ = ["PlainUsage"]


class PlainUsage(TyperCommand):
    """A command whose usage says ``SCENARIO``; typer would say ``{SCENARIO}``."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what the usage line has after the command's name."""
        arguments = [p for p in self.params if p.param_type_name == "argument"]
        names = [p.metavar or str(p.name).upper() for p in arguments]
        return ["[OPTIONS]", *names]
