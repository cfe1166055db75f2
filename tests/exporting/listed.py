"""Reading words by lists of real programs' options, which lie in ``data``."""

from __future__ import annotations

import csv
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from functools import cache
from pathlib import Path

DATA = Path(__file__).with_name("data")
KINDS = {"int": int, "float": float, "eval": str}
STANDS_FOR = "7"
"""What takes the place of a variable where words are read."""


@cache
def parser(name: str) -> ArgumentParser:
    """A parser of the options that a list has, which knows no other."""
    found = ArgumentParser(prog=name, allow_abbrev=False, exit_on_error=False)
    lines = (DATA / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        if row["takes"] == "nothing":
            found.add_argument(row["option"], action="store_true", default=None)
            continue
        many = {"one": None, "any": "*", "one or more": "+"}
        takes = row["takes"]
        found.add_argument(
            row["option"],
            nargs=many[takes] if takes in many else int(takes),
            type=KINDS.get(row["type"], str),
            choices=row["choices"].split("|") if row["choices"] else None,
            default=None,
        )
    return found


def read_words(name: str, words: Sequence[str]) -> Namespace:
    """The options in words; a variable counts as a number."""
    filled = [STANDS_FOR if word.startswith("${") else word for word in words]
    found, unknown = parser(name).parse_known_args(filled)
    assert not unknown, f"{name} has no {unknown}"
    return found
