"""Tests of stored results: each once, nothing lost, and what is refused."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import event

from solver.errors import InputError
from solver.sweeps.process import Owner, is_dead, this_process
from solver.sweeps.record import Record
from solver.sweeps.store import Store, stored_ids, stored_meta

FACTS = {
    "sweep": "s1",
    "catalog": "c1",
    "version": "0.1",
    "today": "2026-11-30",
    "points": 3,
}


def record(name: str, **fields: object) -> Record:
    """An answer without a plan."""
    made = Record(name, 0, {"x": 1}, None, None, "infeasible", "0.1", "c1", "s1")
    return replace(made, **fields)  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return results in a new file."""
    opened = Store.open(str(tmp_path / "r.db"), create=True)
    yield opened
    opened.close()


def test_what_is_stored_comes_back(store: Store) -> None:
    """Tests that a row is what was answered, to the last digit."""
    plan = {"cost_usd": 0.1 + 0.2, "duration_days": 1 / 3, "gpus": 8, "nodes": 1}
    reasons = ({"id": "short.budget", "text": "too dear", "values": {"now": 1}},)
    one = record("a", plan=plan, status="optimal", gap=0.0, bound=0.3)
    other = record("b", number=1, reasons=reasons)
    owner = this_process("run")
    assert store.add([one, other], owner) == {"a", "b"}
    assert list(store.records()) == [one, other]
    with closing(sqlite3.connect(store.place)) as connection:
        row = connection.execute(
            "SELECT cost_usd, gpus, run FROM gpuplan_points WHERE id='a'"
        ).fetchone()
    assert row == (0.1 + 0.2, 8, "run")


def test_nothing_is_stored_twice(store: Store) -> None:
    """Tests that the first answer to a point stays."""
    owner = this_process("run")
    assert store.add([record("a")], owner) == {"a"}
    assert store.add([record("a", status="error"), record("b")], owner) == {"b"}
    assert store.stored() == {"a": "infeasible", "b": "infeasible"}


def test_claims_keep_processes_apart(store: Store) -> None:
    """Tests that a point is in one process's hands at a time."""
    one, other = this_process("one"), this_process("other")
    assert store.claim(["a", "b"], one) == (["a", "b"], [])
    assert store.claim(["a", "b", "c"], other) == (["c"], [])
    store.add([record("a")], one)
    store.release(one)
    assert store.claim(["a", "b"], other) == (["b"], ["a"])
    assert store.claims() == 2


def test_claims_of_the_dead_are_taken(store: Store) -> None:
    """Tests that a killed process holds nothing up, and one far away not for long."""
    gone = replace(this_process("gone"), pid=2**22 + 1)
    reused = replace(this_process("reused"), started="0")
    far = Owner("far", "elsewhere", 1, "1")
    store.claim(["a"], gone)
    store.claim(["b"], reused)
    store.claim(["c"], far)
    ours = this_process("ours")
    assert store.claim(["a", "b", "c"], ours)[0] == ["a", "b"]
    later = time.time() + 3_600
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("solver.sweeps.store.time.time", lambda: later)
        assert store.claim(["c"], ours)[0] == ["c"]


def test_renewed_claims_last(store: Store) -> None:
    """Tests that a process that is still at work keeps what it has claimed."""
    far = Owner("far", "elsewhere", 1, "1")
    now = time.time()
    with pytest.MonkeyPatch.context() as patch:
        store.claim(["a"], far)
        patch.setattr("solver.sweeps.store.time.time", lambda: now + 250)
        store.renew(far)
        patch.setattr("solver.sweeps.store.time.time", lambda: now + 500)
        assert store.claim(["a"], this_process("ours")) == ([], [])


def test_this_process_lives() -> None:
    """Tests that nobody takes the living for dead."""
    assert not is_dead(this_process("x"))
    assert not is_dead(replace(this_process("x"), host="elsewhere", pid=2**22 + 1))


def test_what_differs_is_told(store: Store) -> None:
    """Tests that results of another catalog or version are not added to unseen."""
    assert store.describe(FACTS) == {}
    assert store.describe(FACTS) == {}
    changed = FACTS | {"catalog": "c2", "version": "0.2", "points": 5}
    assert store.describe(changed) == {
        "catalog": ("c1", "c2"),
        "version": ("0.1", "0.2"),
    }
    assert stored_meta(store.place)["points"] == "3"
    store.note(changed)
    assert stored_meta(store.place)["points"] == "5"


def test_results_that_are_not_there(tmp_path: Path) -> None:
    """Tests that asking makes no file, and that an empty file is none yet."""
    place = tmp_path / "r.db"
    assert (stored_meta(str(place)), stored_ids(str(place))) == ({}, set())
    assert not place.exists()
    with pytest.raises(InputError, match="no results yet"):
        Store.open(str(place))
    place.touch()
    assert stored_meta(str(place)) == {}
    Store.open(str(place), create=True).close()
    assert stored_meta(str(place)) == {"format": "1"}


def refusal(place: Path) -> str:
    """Why a place is refused, both for reading and for adding to it."""
    with pytest.raises(InputError) as caught:
        Store.open(str(place), create=True)
    with pytest.raises(InputError) as again:
        Store.open(str(place))
    assert again.value.issues[0].code == caught.value.issues[0].code
    return f"{caught.value.issues[0].code}: {caught.value.issues[0].message}"


def test_files_that_are_no_results(tmp_path: Path) -> None:
    """Tests that text, another program's database and a folder are left alone."""
    text = tmp_path / "notes.txt"
    text.write_text("budget: 3\n" * 200, encoding="utf-8")
    assert "results-unreadable" in refusal(text)
    assert text.read_text(encoding="utf-8").startswith("budget")
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE customers (name TEXT)")
    assert "something else" in refusal(other)
    assert "folder" in refusal(tmp_path)


def test_a_damaged_file_is_told(store: Store) -> None:
    """Tests that a file with bytes overwritten is refused, not half read."""
    store.add([record(str(i), error="x" * 500) for i in range(400)], this_process("r"))
    store.close()
    path = Path(store.place)
    data = bytearray(path.read_bytes())
    assert len(data) > 60_000
    data[8_192:40_960] = os.urandom(32_768)
    path.write_bytes(data)
    assert "results-unreadable" in refusal(path)


def test_a_full_disk_loses_nothing(store: Store) -> None:
    """Tests that what is stored stays when there is no room for more."""
    owner = this_process("run")
    store.add([record("a")], owner)
    store.engine.dispose()  # so that each connection is a new one, with the limit
    event.listen(
        store.engine, "connect", lambda c, _: c.execute("PRAGMA max_page_count=20")
    )
    with pytest.raises(InputError, match=r"full.*what is stored stays"):
        store.add([record(f"r{i}", error="x" * 900) for i in range(500)], owner)
    store.engine.dispose()
    with closing(Store.open(store.place)) as again:
        assert again.stored() == {"a": "infeasible"}


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """Tests that a place that cannot be written is told before any work."""
    with pytest.raises(InputError, match="no folder"):
        Store.open(str(tmp_path / "no" / "r.db"), create=True)
    with pytest.raises(InputError, match="expected a file, or a URL"):
        Store.open("nosuch://a/b", create=True)


def test_a_file_that_is_deleted_while_in_use(store: Store) -> None:
    """Tests that nothing is written into a file that is gone, and said to be stored."""
    Path(store.place).unlink()
    with pytest.raises(InputError, match="the file is gone"):
        store.add([record("a")], this_process("run"))
    assert not Path(store.place).exists()


def test_a_file_that_is_cut_or_replaced_while_in_use(store: Store) -> None:
    """Tests that results are not put into another file than the one opened."""
    path = Path(store.place)
    path.write_bytes(b"")
    with pytest.raises(InputError, match="replaced or cut"):
        store.claim(["a"], this_process("run"))
    path.rename(path.with_suffix(".old"))
    path.write_bytes(b"x" * 10_000)
    with pytest.raises(InputError, match="replaced or cut"):
        store.claim(["a"], this_process("run"))
    assert path.read_bytes() == b"x" * 10_000


@pytest.mark.parametrize(
    "name", ["r?x=1.db", "a%41.db", "b#c.db", "it's; --.db", "模.db"]
)
def test_names_of_files(name: str, tmp_path: Path) -> None:
    """Tests that a file has the name that it was given, whatever that holds."""
    Store.open(str(tmp_path / name), create=True).close()
    assert name in {path.name for path in tmp_path.iterdir()}
    assert stored_meta(str(tmp_path / name)) == {"format": "1"}


def test_errors_can_be_forgotten(store: Store) -> None:
    """Tests that points that ended in an error can be answered again."""
    owner = this_process("run")
    store.add([record("a"), record("b", status="error", error="x")], owner)
    assert store.forget_errors() == 1
    assert store.stored() == {"a": "infeasible"}
