"""Opening the database of a sweep's results: a SQLite file, or a server by its URL."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, create_engine, event, make_url, text
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    NoSuchModuleError,
    SQLAlchemyError,
)

from solver.errors import InputError, Issue, nearest
from solver.files import is_folder

if TYPE_CHECKING:
    from sqlalchemy import Engine

__all__ = ["check_there", "opened", "shown_place", "told"]

APPLICATION_ID = 0x67707377
"""In the head of a SQLite file, says that it is of gpuplan's sweeps ("gpsw")."""

POSTGRESQL = ("postgresql", "postgres", "postgresql+psycopg")
"""What a URL of a server may begin with."""

_EXPECTED = "expected a file, or a URL such as postgresql://user@host/database"

_BUSY_S = 30.0
"""How long a process waits for another one to end its transaction."""


def shown_place(place: str) -> str:
    """A file or URL as messages show it: without the password."""
    if "://" not in place:
        return place
    try:
        return make_url(place).render_as_string(hide_password=True)
    except (ArgumentError, ValueError):  # a port that is no number, for one
        return place.partition("://")[0] + "://..."


def opened(place: str, *, create: bool) -> Engine:
    """The database of results.

    Parameters
    ----------
    place
        A file, or a URL such as ``postgresql://user@host/database``.
    create
        Whether a file that is not there is made.

    Raises
    ------
    InputError
        There is no such file, it holds something else, or the server is not reached.
    """
    with told(place):
        if "://" in place:
            return _server(place)
        return _file(Path(place), create=create)


def _file(path: Path, *, create: bool) -> Engine:
    if is_folder(path):
        raise _refusal("results-unreadable", "this is a folder; expected a file", path)
    try:
        size = path.stat().st_size
    except OSError:
        size = None
    if size is None and not create:
        raise _refusal("file-not-found", "there are no results yet", path)
    if not is_folder(path.parent):
        message = f"there is no folder '{path.parent}' to write to"
        raise _refusal("results-unwritable", message, path)
    url = URL.create("sqlite", database=str(path))  # a name may hold ? or %
    engine = create_engine(url, connect_args={"timeout": _BUSY_S})
    _with_transactions(engine)
    with engine.connect() as connection:
        known = connection.execute(text("PRAGMA application_id")).scalar()
        tables = connection.execute(text("SELECT count(*) FROM sqlite_master")).scalar()
        if known != APPLICATION_ID and (tables or known or (size and not create)):
            message = "this SQLite file holds something else than results of a sweep"
            raise _refusal("results-unreadable", message, path)
        found = connection.execute(text("PRAGMA quick_check(1)")).scalar()
        if found != "ok":
            message = f"the file is damaged: {found}"
            raise _refusal("results-unreadable", message, path)
    return engine


def _with_transactions(engine: Engine) -> None:
    """Make each transaction of SQLite durable, and writers wait for each other.

    Notes
    -----
    In write-ahead mode readers and one writer do not wait for each other; with
    ``synchronous=FULL`` what is committed outlives a loss of power
    (https://www.sqlite.org/wal.html, https://www.sqlite.org/pragma.html). The driver
    begins transactions late, and could then not wait for its turn.
    """

    def begin_by_hand(connection: Any, _: Any) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.close()

    event.listen(engine, "connect", begin_by_hand)
    event.listen(engine, "begin", lambda c: c.exec_driver_sql(_begin(c)))


def _begin(connection: Any) -> str:
    """Readers begin as usual; a writer takes its turn at once."""
    options = connection.get_execution_options()
    return "BEGIN IMMEDIATE" if options.get("gpuplan_writes") else "BEGIN"


def _server(place: str) -> Engine:
    try:
        url = make_url(place)
        if url.drivername == "sqlite":
            message = "expected the path of the file instead of a URL"
            raise _refusal("results-unreadable", message, shown_place(place))
        if url.drivername not in POSTGRESQL:
            hint = nearest(url.drivername, POSTGRESQL)
            raise _refusal("results-unreadable", _EXPECTED, shown_place(place), hint)
        url = url.set(drivername="postgresql+psycopg")
        engine = create_engine(url, pool_pre_ping=True)
    except (ArgumentError, NoSuchModuleError, ValueError):
        where = shown_place(place)
        raise _refusal("results-unreadable", _EXPECTED, where) from None
    except ModuleNotFoundError as error:
        message = f"the database needs {error.name}: pip install 'gpuplan[postgresql]'"
        raise _refusal("bad-usage", message, shown_place(place)) from None
    with engine.connect():
        return engine


def check_there(place: str, known: os.stat_result) -> None:
    """Refuse to go on with a SQLite file that was deleted, replaced or cut short.

    What is written to a deleted file is lost, and the system tells nobody.

    Raises
    ------
    InputError
        It is not the file that was opened, whose facts are ``known``.
    """
    try:
        now = Path(place).stat()
    except OSError:
        message = "the file is gone: it was deleted or moved while it was in use"
        raise _refusal("results-unwritable", message, place) from None
    same = (now.st_dev, now.st_ino) == (known.st_dev, known.st_ino)
    if not same or now.st_size < known.st_size:
        message = "another program has replaced or cut the file while it was in use"
        raise _refusal("results-unwritable", message, place)


@contextmanager
def told(place: str) -> Iterator[None]:
    """Tell what the database says as a fault of the user's place.

    Raises
    ------
    InputError
        The database cannot be read or written.
    """
    try:
        yield
    except DBAPIError as error:
        raise _of_driver(error.orig or error, place) from None
    except sqlite3.Error as error:  # of what is asked of the driver itself
        raise _of_driver(error, place) from None
    except SQLAlchemyError as error:
        message = f"the database failed: {error}"
        raise _refusal("results-unreadable", message, shown_place(place)) from None


def _of_driver(error: BaseException, place: str) -> InputError:
    """What a driver's error means for the user."""
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    full = ("full", "readonly", "read-only", "disk I/O", "unable to open", "No space")
    if any(word in reason for word in full):
        message = f"the results cannot be written: {reason}; what is stored stays"
        return _refusal("results-unwritable", message, shown_place(place))
    if "locked" in reason:
        message = f"another process holds the results for too long: {reason}"
        return _refusal("results-unwritable", message, shown_place(place))
    message = f"the results cannot be read: {reason}"
    return _refusal("results-unreadable", message, shown_place(place))


def _refusal(
    code: str, message: str, place: str | Path, hint: str | None = None
) -> InputError:
    return InputError([Issue(code, message, str(place), hint=hint)])
