"""YAML documents with a comment before them and long texts as blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from solver.exporting.shell import commented

__all__ = ["yaml_text"]

_WIDTH = 1000
"""Characters of a line: words are never folded, so that commands can be found."""


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, and no anchors."""

    def ignore_aliases(self, _data: Any) -> bool:
        """Return that equal parts are written out each time."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Return a text as YAML: a block where it has several lines."""
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def yaml_text(
    comments: Iterable[str], *documents: Mapping[str, Any], more: str = ""
) -> str:
    """Return documents as YAML, their keys in the order in which they are given.

    Parameters
    ----------
    comments
        Sentences at the top.
    more
        Lines between the sentences and the first document, comments too.
    """
    written = [
        yaml.dump(
            dict(document),
            Dumper=_Dumper,
            sort_keys=False,
            allow_unicode=True,
            width=_WIDTH,
        )
        for document in documents
    ]
    top = "\n".join(commented(comments))
    return f"{top}\n{more}" + "---\n".join(written)
