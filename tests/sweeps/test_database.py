"""Tests of the place of results: files, URLs, and what their errors say."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from solver.errors import InputError
from solver.sweeps.database import APPLICATION_ID, shown_place, told
from solver.sweeps.process import this_process
from solver.sweeps.store import Store
from solver.sweeps.tables import TABLES


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("results.db", "results.db"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("postgresql://me:secret@host/db", "postgresql://me:***@host/db"),
        ("odd://:@:@", "odd://..."),
    ],
)
def test_no_password_is_shown(place: str, shown: str) -> None:
    """Tests that messages never repeat a password."""
    assert shown_place(place) == shown


@pytest.mark.parametrize(
    ("reason", "code", "said"),
    [
        ("database or disk is full", "results-unwritable", "what is stored stays"),
        ("disk I/O error", "results-unwritable", "cannot be written"),
        (
            "attempt to write a readonly database",
            "results-unwritable",
            "cannot be written",
        ),
        ("database is locked", "results-unwritable", "another process"),
        ("database disk image is malformed", "results-unreadable", "cannot be read"),
        ("connection refused", "results-unreadable", "cannot be read"),
    ],
)
def test_what_a_driver_says(reason: str, code: str, said: str) -> None:
    """Tests that errors of a database are told as what they mean to the user."""
    error = OperationalError("INSERT", {}, Exception(f"{reason}\nmore"))
    with pytest.raises(InputError) as caught, told("r.db"):
        raise error
    (issue,) = caught.value.issues
    assert (issue.code, issue.where) == (code, "r.db")
    assert said in issue.message
    assert "more" not in issue.message


def test_what_the_driver_itself_says() -> None:
    """Tests errors that do not pass through the library above it."""
    with pytest.raises(InputError, match="be written: database or disk"), told("r.db"):
        raise sqlite3.OperationalError("database or disk is full")


def test_another_kind_of_server() -> None:
    """Tests that no package is recommended that would not help."""
    with pytest.raises(InputError) as caught:
        Store.open("postgresq://me:secret@host/db", create=True)
    (issue,) = caught.value.issues
    assert (issue.code, issue.hint) == ("results-unreadable", "postgresql")
    assert "secret" not in str(issue)
    with pytest.raises(InputError, match="expected a file, or a URL"):
        Store.open("mysql://host/db", create=True)


def test_a_file_is_marked_as_ours(tmp_path: Path) -> None:
    """Tests the mark in the head, durable writes, and readers beside a writer."""
    place = tmp_path / "r.db"
    with closing(Store.open(str(place), create=True)) as store:
        with store.engine.connect() as connection:
            mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
            durable = connection.exec_driver_sql("PRAGMA synchronous").scalar()
        assert (mode, durable) == ("wal", 2)
    with closing(sqlite3.connect(place)) as other:
        mark = other.execute("PRAGMA application_id").fetchone()
        names = {row[0] for row in other.execute("SELECT name FROM sqlite_master")}
    assert mark == (APPLICATION_ID,)
    assert set(TABLES.tables) <= names


def test_results_of_a_later_format(tmp_path: Path) -> None:
    """Tests that a file of a format that is not known is refused, and left alone."""
    place = tmp_path / "r.db"
    Store.open(str(place), create=True).close()
    with closing(sqlite3.connect(place)) as other:
        other.execute("UPDATE gpuplan_meta SET value='99' WHERE key='format'")
        other.commit()
    for create in (True, False):
        with pytest.raises(InputError, match="format 99; expected format 1"):
            Store.open(str(place), create=create)


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    """Tests that a read-only file is told when it is written to."""
    place = tmp_path / "r.db"
    Store.open(str(place), create=True).close()
    with closing(Store.open(str(place))) as store:

        def readonly() -> None:
            with store.engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA query_only=ON")

        readonly()
        with pytest.raises(InputError, match="results cannot be written"):
            store.claim(["a"], this_process("x"))


def test_a_url_where_a_file_is_meant() -> None:
    """Tests that SQLite is named by its path alone."""
    with pytest.raises(InputError, match="path of the file instead of a URL"):
        Store.open("sqlite:///r.db", create=True)


def test_runs_are_noted(tmp_path: Path) -> None:
    """Tests that each run leaves a row that tells who added to the results."""
    place = tmp_path / "r.db"
    owner = this_process("run1")
    with closing(Store.open(str(place), create=True)) as store:
        store.begin_run(owner, "2026-11-30T00:00:00", "0.1", "2 processes")
    with closing(sqlite3.connect(place)) as other:
        rows = other.execute("SELECT id, pid, workers FROM gpuplan_runs").fetchall()
    assert rows == [("run1", owner.pid, "2 processes")]
