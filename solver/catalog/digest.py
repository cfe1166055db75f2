"""One word for all that a catalog says, so that two can be told apart."""

from __future__ import annotations

import hashlib
from typing import Any

from solver.catalog.load import Catalog

__all__ = ["catalog_digest"]

_LENGTH = 24


def catalog_digest(catalog: Catalog) -> str:
    """Digest of every file of a catalog's folders."""
    total = hashlib.sha256()
    for folder in catalog.folders:
        for name, file in sorted(_files(folder.root, "")):
            total.update(f"\n{name}\n".encode())
            total.update(file.read_bytes())
        total.update(b"\n--\n")
    return total.hexdigest()[:_LENGTH]


def _files(folder: Any, above: str) -> list[tuple[str, Any]]:
    """Files that a catalog is read from, with their paths in its folder."""
    found = []
    for item in folder.iterdir():
        name = f"{above}{item.name}"
        if item.name.startswith((".", "_")):
            continue
        if item.is_dir():
            if item.name != "measurements":
                found += _files(item, f"{name}/")
        elif item.name.endswith((".yaml", ".yml", ".csv")):
            found.append((name, item))
    return found
