"""Tests that no path makes asking after it fail."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from solver.files import exchanged, is_file, is_folder, locked
from tests.cli.running import run

LONG = "a" * 5000


def paths_that_are_none(folder: Path) -> list[Path]:
    """Return paths that no file can have, or that lead nowhere."""
    loop = folder / "loop"
    loop.symlink_to(loop)
    (folder / "file").write_text("x", encoding="utf-8")
    return [
        folder / LONG,
        folder / f"{LONG}.yaml",
        folder / "a\x00b",
        loop,
        loop / "x",
        folder / "file" / "x",
    ]


def test_paths_that_are_none(tmp_path: Path) -> None:
    """Tests names too long or with a NUL, loops of links, and files as folders."""
    for path in paths_that_are_none(tmp_path):
        assert not is_file(path), path
        assert not is_folder(path), path
    assert is_folder(tmp_path)
    assert is_file(tmp_path / "file")


class Forbidden:
    """A path that may not be looked at."""

    def is_file(self) -> bool:
        """Refuse."""
        raise PermissionError(13, "Permission denied")

    def is_dir(self) -> bool:
        """Refuse."""
        raise PermissionError(13, "Permission denied")


def test_where_looking_is_forbidden() -> None:
    """Tests that reading is left to tell that it is forbidden."""
    assert is_file(Forbidden())  # type: ignore[arg-type]
    assert not is_folder(Forbidden())  # type: ignore[arg-type]


SCENARIO = "model: {model}\nworkload: {{tokens: 1B}}\n"


@pytest.mark.parametrize("kind", range(6))
def test_such_paths_are_input_errors(
    tmp_path: Path, kind: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests them as scenario, model, offers, catalog folder and exported model."""
    path = paths_that_are_none(tmp_path)[kind]
    text = SCENARIO.format(model="llama-3.1-8b")
    scenario = tmp_path / "right.yaml"
    scenario.write_text(text, encoding="utf-8")
    words: list[list[str | Path]] = [
        ["solve", path],
        ["scenarios", "show", path],
        ["solve", scenario, "--catalog", path],
        ["solve", scenario, "--export-model", path],
        ["scenarios", "copy", "quickstart-7b", path / "x.yaml"],
    ]
    quoted = str(path).replace("\x00", "\\0")
    for key in ("model", "offers"):
        words.append(["solve", scenario, "--set", f'{key}="{quoted}.json"'])
        words.append(["solve", scenario, "--set", f'{key}="{quoted}"'])
    for line in words:
        ran = run(capsys, *line)
        assert (ran.status, ran.out) == (2, ""), line
        assert ran.err
        assert all(len(told) < 1000 for told in ran.err.splitlines())


def test_an_exchange_is_one_or_none(tmp_path: Path) -> None:
    """Tests that folders swap places where the system can, else stay as they are."""
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        (folder / folder.name).touch()
    done = exchanged(one, other)
    assert (one / "other").exists() == (other / "one").exists() == done
    assert not exchanged(one, tmp_path / "none")
    assert one.exists()


def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    """Tests that two never hold a folder at once, and that nothing is left in it."""
    inside, most = [], []

    def work(number: int) -> None:
        with locked(tmp_path) as alone:
            inside.append(number)
            time.sleep(0.01)
            most.append(len(inside) if alone else 1)
            inside.remove(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert most == [1] * 8
    assert not list(tmp_path.iterdir())
