"""Tests that what was measured is read, and every fault told at once."""

from pathlib import Path

import pytest

from solver.acting.measured import PARTS, Measurement, read_measured
from solver.errors import InputError


def faults(*words: str, files: tuple[Path, ...] = ()) -> list[tuple[str, str | None]]:
    """Codes and hints of what is wrong."""
    with pytest.raises(InputError) as told:
        read_measured(words, files)
    return [(issue.code, issue.hint) for issue in told.value.issues]


@pytest.mark.parametrize(
    ("word", "value", "unit"),
    [
        ("step_time=5.9s", 5.9, "s"),
        ("step_time=5900 ms", 5.9, "s"),
        ("step_time=5.9", 5.9, "s"),
        ("tokens_per_s=760k", 760e3, "tokens/s"),
        ("tokens_per_s=1.2M tokens/s", 1.2e6, "tokens/s"),
        ("mfu=41%", 0.41, "1"),
        ("mfu=0.41", 0.41, "1"),
        ("peak_memory=71GiB", 71.0, "GiB"),
        ("peak_memory=71", 71.0, "GiB"),
        ("peak_memory=80 GB", 80e9 / 2**30, "GiB"),
        ("checkpoint=1 min", 60.0, "s"),
        ("data_read=3GB/s", 3.0, "GB/s"),
        ("data_read=24 Gb/s", 3.0, "GB/s"),
        ("data_parallel=300 ms", 0.3, "s"),
        ("data_stall=0s", 0.0, "s"),
    ],
)
def test_figures_are_read_with_their_units(word: str, value: float, unit: str) -> None:
    """Tests each figure in the units that people write."""
    (found,) = read_measured([word]).figures.values()
    assert found.value == pytest.approx(value)
    assert found.unit == unit
    assert found.count == 1


def test_failures_have_a_time() -> None:
    """Tests the number of failures and the seconds in which they came."""
    assert read_measured(["failures=3/7 days"]).failures == (3.0, 7 * 86_400.0)
    assert read_measured(["failures=0/12 hours"]).failures == (0.0, 12 * 3600.0)


def test_all_faults_are_told_at_once() -> None:
    """Tests codes and the nearest spelling of eight faults in one go."""
    found = faults(
        "stp_time=5.9s",
        "step_time=0s",
        "mfu=150%",
        "peak_memory=nan",
        "data_read=3gb",
        "checkpoint=-4s",
        "tokens_per_s",
        "failures=3",
    )
    codes = [code for code, _ in found]
    assert len(codes) == 8
    assert ("unknown-name", "step_time") in found
    assert codes.count("out-of-range") == 3
    assert "ambiguous-unit" in codes


@pytest.mark.parametrize(
    "word",
    [
        "failures=3/0 s",
        "failures=-1/7 days",
        "failures=x/7 days",
        "failures=3/7",
        "step_time=inf",
        "step_time=1e99s",
        "step_time=",
        "=5s",
        "peak_memory=71 GiBs",
    ],
)
def test_what_is_no_figure_is_refused(word: str) -> None:
    """Tests that each is one clear fault."""
    assert len(faults(word)) == 1


def test_a_figure_is_measured_once() -> None:
    """Tests that two values typed for one figure are refused."""
    assert ("duplicate-name", None) in faults("mfu=40%", "mfu=41%")


def test_the_median_of_a_table_counts(tmp_path: Path) -> None:
    """Tests a CSV of many steps: median, and what eight of ten lie between."""
    table = tmp_path / "steps.csv"
    rows = [f"{5 + i / 10} s,{70 + i}" for i in range(11)]
    table.write_text("step_time,peak_memory\n" + "\n".join(rows) + "\n,\n", "utf-8")
    found = read_measured([], [table]).figures
    assert found["step_time"] == Measurement("step_time", 5.5, "s", 11, 5.1, 5.9)
    assert found["peak_memory"].value == 75.0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.yaml", "step_time: [5 s, 6 s, 10 s]\nmfu: 40%\n"),
        ("m.json", '{"step_time": [5, 6, 10], "mfu": 0.4}'),
    ],
)
def test_mappings_are_read_too(tmp_path: Path, name: str, text: str) -> None:
    """Tests YAML and JSON, and that what is typed wins."""
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    found = read_measured(["mfu=44%"], [file])
    assert found.value("step_time") == 6.0
    assert found.value("mfu") == 0.44
    assert found.value("checkpoint") is None


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("m.yaml", "[1, 2]", "wrong-type"),
        ("m.yaml", "step_time: []", "wrong-value"),
        ("m.yaml", "stepp_time: 5 s", "unknown-name"),
        ("m.csv", "", "wrong-type"),
        ("m.csv", "step_time\nfast\n", "wrong-type"),
    ],
)
def test_wrong_files_are_told(tmp_path: Path, name: str, text: str, code: str) -> None:
    """Tests files of another form, empty ones, and wrong cells."""
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    assert code in [found for found, _ in faults(files=(file,))]


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Tests a missing file and one that is no text, beside a wrong word."""
    binary = tmp_path / "b.csv"
    binary.write_bytes(b"\xff\xfe\x00\x01")
    files = (tmp_path / "none.csv", binary)
    codes = [code for code, _ in faults("stp_time=1", files=files)]
    assert codes == ["file-unreadable", "file-unreadable", "unknown-name"]


def test_parts_are_those_of_a_step() -> None:
    """Tests that every part that a step can have may be measured, and the stall."""
    from dataclasses import fields

    from solver.performance.inputs import AlignedStepTime

    assert {f.name for f in fields(AlignedStepTime)} == set(PARTS) - {"data_stall"}
