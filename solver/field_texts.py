"""What fields mean: the docstrings below them, read when they are asked for.

pydantic could keep these itself, but would read the sources at each start.
"""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache

__all__ = ["field_texts"]


def field_texts(model: type) -> dict[str, str]:
    """Return the text below each field of a class and of those that it extends."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if base.__module__.startswith("solver."):
            found |= _texts(base.__module__).get(base.__name__, {})
    return found


@cache
def _texts(module: str) -> dict[str, dict[str, str]]:
    """Return the text below each field of each class of a module."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {
        node.name: _texts_in(node)
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }


def _texts_in(node: ast.ClassDef) -> dict[str, str]:
    """Return the text below each field of one class."""
    return {
        field.target.id: inspect.cleandoc(str(after.value.value))
        for field, after in zip(node.body, node.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
    }
