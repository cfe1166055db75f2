"""Tests of reading tables of measurements."""

from pathlib import Path

import pytest

from solver.accuracy.tables import parsed, read_tables, shipped_tables, unread_columns
from solver.errors import InputError
from tests.accuracy.tables import STEP, write_table


def test_shipped_tables_are_whole() -> None:
    """Tests that every shipped row is read, whatever its quality."""
    assert [name for _, name in shipped_tables()] == [
        "memory.csv",
        "runs.csv",
        "step_times.csv",
    ]
    rows, skipped = read_tables(None)
    assert not skipped
    counts = {m: sum(m in row.metrics for row in rows) for m in ("step_time", "memory")}
    assert counts == {"step_time": 3835, "memory": 2973}
    assert len({row.id for row in rows if "step_time" in row.metrics}) == 3835


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("12", 12.0),
        ("1,024", 1024.0),
        ("1,234,567.5", 1234567.5),
        ("1e3", 1000.0),
        ("", None),
        ("nan", None),
        ("3,5", None),
        ("50%", None),
        ("8k", None),
    ],
)
def test_numbers(cell: str, value: float | None) -> None:
    """Tests that only finite numbers are read."""
    assert parsed(cell) == value
    assert parsed("inf") is None
    assert parsed("twelve") is None


def test_the_columns_tell_what_was_measured(tmp_path: Path) -> None:
    """Tests that one table may hold step times and memory."""
    both = {**STEP, "peak_memory_gib": "40"}
    rows, _ = read_tables([write_table(tmp_path / "both.csv", both)])
    assert rows[0].metrics == ("step_time", "memory")


def test_a_file_that_is_no_table(tmp_path: Path) -> None:
    """Tests that all files that hold no measurements are named at once."""
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError) as caught:
        read_tables([tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "none.csv"])
    codes = [issue.code for issue in caught.value.issues]
    assert codes == ["missing-key", "not-utf8", "file-unreadable"]


@pytest.mark.parametrize(
    ("column", "cell", "reason"),
    [
        ("n_gpus", "x", "n_gpus 'x' is not a whole number of 1 or more"),
        ("mbs", "2.5", "mbs '2.5' is not a whole number"),
        ("tp", "0", "tp '0' is not a whole number"),
        ("gbs", "-4", "gbs '-4' is not a positive number"),
        ("gated", "maybe", "gated 'maybe' is not yes or no"),
        ("step_time_s", "4 s", "step_time_s '4 s' is not a positive number"),
    ],
)
def test_a_cell_that_is_no_number(
    tmp_path: Path, column: str, cell: str, reason: str
) -> None:
    """Tests that a mistyped cell is told, never taken for an empty one."""
    good = {**STEP, "id": "good", "cp": "0", "shared_experts": "0", "ep": ""}
    table = write_table(tmp_path / "t.csv", good, {**STEP, column: cell})
    rows, skipped = read_tables([table])
    assert [row.id for row in rows] == ["good"]
    assert [line.id for line in skipped] == ["run-1"]
    assert skipped[0].reason.startswith(reason)


def test_columns_that_nothing_reads_are_told(tmp_path: Path) -> None:
    """Tests that a misspelled column has a hint, and all shipped ones are known."""
    odd = {"intrenode_gbps_per_gpu": "100", "weather": "fair"}
    table = write_table(tmp_path / "t.csv", {**STEP, **odd})
    rows, _ = read_tables([table])
    found = [(line.column, line.hint) for line in unread_columns(rows)]
    assert found == [
        ("intrenode_gbps_per_gpu", "internode_gbps_per_gpu"),
        ("weather", None),
    ]
    assert unread_columns(read_tables(None)[0]) == []


def test_comments_and_names(tmp_path: Path) -> None:
    """Tests that comments may stand before the columns, and the file is the source."""
    path = tmp_path / "t.csv"
    path.write_text("# ours, of May\n# all\nid,step_time_s\n#1,4\n")
    ((row,), _) = read_tables([path])
    assert (row.id, row.source, row.where) == ("#1", str(path), f"{path}:4")


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("id;step_time_s\na;1\n", "missing-key", "commas are expected .* semicolons"),
        ("id\tstep_time_s\na\t1\n", "missing-key", "commas are expected .* tabs"),
        ("id,gbs,GBS ,step_time_s\na,1,2,3\n", "duplicate-key", "stands here twice"),
    ],
)
def test_headers_that_could_be_misread(
    tmp_path: Path, text: str, code: str, message: str
) -> None:
    """Tests that no column is lost to another sign or to its double."""
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_tables([path])
    assert [issue.code for issue in caught.value.issues] == [code]


def test_columns_without_a_name_may_repeat(tmp_path: Path) -> None:
    """Tests that a spreadsheet's empty columns do no harm, nor does its mark."""
    path = tmp_path / "t.csv"
    path.write_text("\ufeffid,step_time_s,,\na,1,,\n", encoding="utf-8")
    rows, _ = read_tables([path])
    assert rows[0].number("step_time_s") == 1.0


def test_rows_of_another_width(tmp_path: Path) -> None:
    """Tests that a row with too many cells is skipped, one with too few is not."""
    path = tmp_path / "t.csv"
    path.write_text("id,step_time_s\na,1,2,3\nb\n\nc,4\n")
    rows, skipped = read_tables([path])
    assert [row.id for row in rows] == ["b", "c"]
    assert [(s.id, s.reason[:7]) for s in skipped] == [("a", "4 cells")]
