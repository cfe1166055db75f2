"""The optimisation model: integer columns in, row numbers out.

Only this package imports ortools, and of it only the modules that `problem` pulls
in: `table`, `scaling`, `reduce` and `prune` are plain numpy. Nothing in here reads
files, knows units or handles floats other than in `scaling`.
"""


def ortools_version() -> str:
    """Version of OR-Tools; does not load the solver."""
    import ortools

    return str(ortools.__version__)  # type: ignore[attr-defined]
