"""Tests that the code stays in small pieces, and tested."""

import statistics

from solver.languages import ENGLISH, LANGUAGES
from tests.project.source import ROOT, functions, line_count, python_files, tree_of

MAX_MODULE_LINES = 500
MAX_P90_FUNCTION_LINES = 40
MAX_FUNCTION_LINES = 90
MIN_TEST_LINES_PER_SOURCE_LINE = 0.7


def function_lengths() -> dict[str, int]:
    """Return the lines of each function of the package, its docstring included."""
    return {
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}": (node.end_lineno or 0)
        - node.lineno
        + 1
        for path in python_files("solver")
        for node in functions(tree_of(path))
    }


def test_no_module_is_long() -> None:
    """Tests that every module can be read in one sitting."""
    lengths = {path: line_count(path) for path in python_files("solver")}
    long = [
        f"{path.relative_to(ROOT)}: {length} lines"
        for path, length in lengths.items()
        if length > MAX_MODULE_LINES
    ]
    assert not long, "\n".join(long)


def test_most_functions_are_short() -> None:
    """Tests that nine in ten functions fit on a screen, and none is a monster."""
    lengths = function_lengths()
    p90 = statistics.quantiles(lengths.values(), n=10)[-1]
    longest = sorted(lengths.items(), key=lambda item: -item[1])[:10]
    assert p90 <= MAX_P90_FUNCTION_LINES, (p90, longest)
    assert longest[0][1] <= MAX_FUNCTION_LINES, longest


def test_there_is_enough_test_code() -> None:
    """Tests that tests keep pace with the source.

    A translation is a table of texts without code, whose lines are all held against the
    English ones in test_translations.
    """
    translations = {f"solver/messages/{code}" for code in LANGUAGES if code != ENGLISH}
    source = sum(
        line_count(path)
        for path in python_files("solver")
        if not path.relative_to(ROOT).as_posix().startswith(tuple(translations))
    )
    tests = sum(map(line_count, python_files("tests")))
    assert tests >= MIN_TEST_LINES_PER_SOURCE_LINE * source, (tests, source)
