"""Tests of quantities as people write them."""

import math
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver import units

PARSERS: list[Callable[[Any], Any]] = [
    units.parse_count,
    units.parse_whole,
    units.parse_rate_per_s,
    units.parse_duration_s,
    units.parse_bytes,
    units.parse_bandwidth_bytes_per_s,
    units.parse_gbps,
    units.parse_usd,
    units.parse_fraction,
    units.parse_date_or_duration,
]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2T", 2 * 10**12),
        ("1.5B", 1_500_000_000),
        ("52k", 52_000),
        ("52K", 52_000),
        ("7b", 7 * 10**9),
        ("2 trillion", 2 * 10**12),
        ("1e12", 10**12),
        (1e12, 10**12),
        (4096, 4096),
        (4096.0, 4096),
        ("1,000,000", 10**6),
        ("1_000", 1000),
        ("1.", 1),
        (" 5 M ", 5 * 10**6),
        ("5\u00a0M", 5 * 10**6),
        (0, 0),
        (2**60 + 1, 2**60 + 1),
    ],
)
def test_count_is_exact(value: Any, expected: int) -> None:
    """Tests that whole numbers come out as exact ints, however they are written."""
    count = units.parse_count(value)
    assert count == expected
    assert isinstance(count, int)


def test_count_may_be_broken() -> None:
    """Tests that a number that is not whole is a float, unless one has to be whole."""
    assert units.parse_count("1.5") == 1.5
    assert units.parse_whole("1.5k") == 1500
    with pytest.raises(units.QuantityError, match=r"a whole number, not '1\.5'"):
        units.parse_whole("1.5")


@pytest.mark.parametrize(
    "value", ["1.2M", "1.2M/s", "1.2M tokens/s", "1.2M per second"]
)
def test_rate(value: str) -> None:
    """Tests that a rate may or may not name its unit."""
    assert units.parse_rate_per_s(value) == 1.2e6


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("30 days", 30 * 86400),
        ("4 hours", 4 * 3600),
        ("90 min", 5400),
        ("60 s", 60),
        ("2 weeks", 14 * 86400),
        ("34.2 d", 34.2 * 86400),
        ("1 month", 730 * 3600),
        ("1 year", 8760 * 3600),
        ("45 ms", 0.045),
        ("3 Days", 3 * 86400),
        ("12h", 12 * 3600),
    ],
)
def test_duration(value: str, seconds: float) -> None:
    """Tests that durations are read in every unit people use."""
    assert units.parse_duration_s(value) == pytest.approx(seconds, rel=1e-15)


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("8 TB", 8e12),
        ("80 GiB", 80 * 2**30),
        ("1.5e12 B", 1.5e12),
        ("1EB", 1e18),
        ("5 KB", 5000),
        ("5 kB", 5000),
        ("12 bytes", 12),
    ],
)
def test_bytes(value: str, size: float) -> None:
    """Tests that decimal and binary sizes are told apart."""
    assert units.parse_bytes(value) == size


@pytest.mark.parametrize(
    ("value", "rate"),
    [
        ("10 GB/s", 10e9),
        ("300 MB/s", 300e6),
        ("3.35 TB/s", 3.35e12),
        ("400 Gb/s", 50e9),
        ("400 Gbps", 50e9),
        ("400 Gbit/s", 50e9),
        ("400 GBps", 400e9),
        ("5 GiB/s", 5 * 2**30),
    ],
)
def test_bandwidth(value: str, rate: float) -> None:
    """Tests that bits are an eighth of bytes, and are told apart by case."""
    assert units.parse_bandwidth_bytes_per_s(value) == rate
    assert units.parse_gbps(value) == pytest.approx(rate * 8 / 1e9, rel=1e-15)


@pytest.mark.parametrize(
    ("value", "usd"),
    [
        ("$250k", 250_000),
        ("250000", 250_000),
        ("$1.2M", 1_200_000),
        ("250k USD", 250_000),
        ("USD 250k", 250_000),
        ("US$2", 2),
        ("$1,200.50", 1200.5),
        (2.5, 2.5),
    ],
)
def test_usd(value: Any, usd: float) -> None:
    """Tests that dollars are read with and without their sign."""
    assert units.parse_usd(value) == usd


def test_fraction() -> None:
    """Tests that per cent and fractions are read, up to the upper bound."""
    assert units.parse_fraction("10%") == units.parse_fraction(0.1) == 0.1
    assert units.parse_fraction("150%", upper=2) == 1.5
    with pytest.raises(units.QuantityError, match="at most 100%") as caught:
        units.parse_fraction("150%")
    assert caught.value.code == "out-of-range"
    with pytest.raises(units.QuantityError, match="'10%'"):
        units.parse_fraction(10)


def test_date_or_duration() -> None:
    """Tests that dates are dates and all else is a duration."""
    day = date(2026, 12, 1)
    assert units.parse_date_or_duration("2026-12-01") == day
    assert units.parse_date_or_duration(day) == day
    assert units.parse_date_or_duration("30 days") == 30 * units.DAY
    assert units.parse_date_or_duration(30, "days") == 30 * units.DAY


@pytest.mark.parametrize(
    "value", ["12/01/2026", "01-12-2026", "2026-13-01", "2026-12-01T10:00", "tomorrow"]
)
def test_odd_dates_are_refused(value: str) -> None:
    """Tests that a date that is none, or could be two, is refused."""
    with pytest.raises(units.QuantityError, match=re_quoted(value)):
        units.parse_date_or_duration(value)


def re_quoted(value: str) -> str:
    """Return a pattern for the value in quotes."""
    return f"'{value}'"


@pytest.mark.parametrize("parse", PARSERS)
@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        None,
        [],
        {},
        "",
        "   ",
        "many",
        "nan",
        "inf",
        math.nan,
        math.inf,
        -math.inf,
        "-5",
        "1e999999999",
        "1e-999999999",
        pytest.param(10**5000, id="huge"),
        pytest.param("9" * 5000, id="long"),
        "1,5",
        "1.2.3",
        "--1",
        "\u0663",
        pytest.param("5 \ud800", id="surrogate"),
        "1e",
    ],
)
def test_nonsense_is_refused(parse: Callable[[Any], Any], value: Any) -> None:
    """Tests that no parser takes what is no quantity, nor does any take long."""
    with pytest.raises(units.QuantityError) as caught:
        parse(value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("parse", "value"),
    [
        (units.parse_duration_s, -5),
        (units.parse_bytes, "-5 TB"),
        (units.parse_gbps, -1),
        (units.parse_usd, -0.01),
        (units.parse_fraction, "-1%"),
        (units.parse_count, "-2T"),
    ],
)
def test_negative_is_refused(parse: Callable[..., Any], value: Any) -> None:
    """Tests that a negative quantity is told from an unreadable one."""
    arguments = {"default_unit": "s"} if parse is units.parse_duration_s else {}
    with pytest.raises(units.QuantityError, match="cannot be negative") as caught:
        parse(value, **arguments)
    assert caught.value.code == "out-of-range"


@pytest.mark.parametrize("parse", [units.parse_bandwidth_bytes_per_s, units.parse_gbps])
@pytest.mark.parametrize("unit", ["gb", "gb/s", "gbps", "GBPS", "GB", "Gb"])
def test_bits_or_bytes_is_asked(parse: Callable[[str], float], unit: str) -> None:
    """Tests that a bandwidth that may be bits or bytes is refused with the question."""
    with pytest.raises(
        units.QuantityError, match=r"GB/s \(bytes\) or Gb/s \(bits\)\?"
    ) as caught:
        parse(f"400 {unit}")
    assert caught.value.code == "ambiguous-unit"


@pytest.mark.parametrize("unit", ["tb", "Tb", "tB"])
def test_size_in_bits_is_asked(unit: str) -> None:
    """Tests that a size that may be bits is refused with the question."""
    with pytest.raises(units.QuantityError, match=r"TB \(bytes\) or Tb \(bits\)\?"):
        units.parse_bytes(f"8 {unit}")


def test_minutes_or_months_is_asked() -> None:
    """Tests that five m are neither minutes nor months."""
    with pytest.raises(units.QuantityError, match="min or months"):
        units.parse_duration_s("5 m")


def test_bare_number_needs_a_default_unit() -> None:
    """Tests that a number without unit is refused unless one is documented."""
    assert units.parse_duration_s(5, "days") == units.parse_duration_s("5", "days")
    assert units.parse_bandwidth_bytes_per_s(300, "GB/s") == 300e9
    assert units.parse_gbps(400) == 400
    with pytest.raises(units.QuantityError, match="unit is missing") as caught:
        units.parse_bytes(8)
    assert caught.value.code == "missing-unit"


def test_unknown_unit_names_the_nearest() -> None:
    """Tests that a misspelled unit is answered with the right one."""
    with pytest.raises(units.QuantityError, match="unknown unit 'hourz'") as caught:
        units.parse_duration_s("5 hourz")
    assert caught.value.hint in ("hour", "hours")
    assert caught.value.code == "unknown-unit"
    assert f"(did you mean '{caught.value.hint}'?)" in str(caught.value)
    assert "did you mean" not in caught.value.message


def test_other_currencies_are_refused() -> None:
    """Tests that euros are not taken for dollars."""
    for value in ("\u20ac250", "250 EUR"):
        with pytest.raises(units.QuantityError, match="USD"):
            units.parse_usd(value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (units.format_usd(412_345.6), "$412,346"),
        (units.format_usd(2), "$2.00"),
        (units.format_usd(0), "$0.00"),
        (units.format_usd(0.0125), "$0.0125"),
        (units.format_usd(999.996), "$1,000"),
        (units.format_usd(-412.3), "-$412.30"),
        (units.format_usd(1234.5, decimals=2), "$1,234.50"),
        (units.format_duration_s(34.2 * units.DAY), "34.2 days"),
        (units.format_duration_s(5.1 * units.HOUR), "5.1 h"),
        (units.format_duration_s(3599), "1.0 h"),
        (units.format_duration_s(750), "12.5 min"),
        (units.format_duration_s(1.234), "1.23 s"),
        (units.format_duration_s(0.045), "45 ms"),
        (units.format_duration_s(3e-5), "30 us"),
        (units.format_duration_s(0), "0 s"),
        (units.format_bytes(8e12), "8 TB"),
        (units.format_bytes(999_999), "1 MB"),
        (units.format_bytes(79.1 * units.GIB, binary=True), "79.1 GiB"),
        (units.format_bytes(0), "0 B"),
        (units.format_count(2e12), "2T"),
        (units.format_count(6_738_415_616), "6.74B"),
        (units.format_count(999_999), "1M"),
        (units.format_count(4096), "4,096"),
        (units.format_count(0.5), "0.5"),
        (units.format_fraction(0.1), "10%"),
        (units.format_fraction(0.4729), "47.3%"),
    ],
)
def test_format(text: str, expected: str) -> None:
    """Tests that quantities are shown as people write them."""
    assert text == expected


@given(st.floats(min_value=1e-5, max_value=1e9))
def test_duration_round_trip(seconds: float) -> None:
    """Tests that a duration is read back to what it was shown as."""
    back = units.parse_duration_s(units.format_duration_s(seconds).replace(",", ""))
    assert back == pytest.approx(seconds, rel=0.051)


@given(st.floats(min_value=1, max_value=1e18), st.booleans())
def test_bytes_round_trip(size: float, binary: bool) -> None:
    """Tests that a size is read back to what it was shown as."""
    back = units.parse_bytes(units.format_bytes(size, binary=binary))
    assert back == pytest.approx(size, rel=0.006)


@given(st.integers(min_value=0, max_value=10**15))
def test_count_round_trip(count: int) -> None:
    """Tests that a number is read back to what it was shown as."""
    back = units.parse_count(units.format_count(count))
    assert back == pytest.approx(count, rel=0.006)


@given(st.floats(min_value=0, max_value=1e12))
def test_usd_round_trip(usd: float) -> None:
    """Tests that an amount is read back to within what is shown of it."""
    back = units.parse_usd(units.format_usd(usd))
    assert back == pytest.approx(usd, rel=0.0006, abs=0.0051)


@given(st.just(0.0) | st.floats(min_value=1e-30, max_value=1e30))
def test_numbers_read_alike_with_and_without_quotes(number: float) -> None:
    """Tests that a number means the same to YAML and to us."""
    assert units.parse_count(repr(number)) == units.parse_count(number)


@given(st.text(max_size=40) | st.from_regex(r"\A[0-9.,eE+-]{1,12} ?[a-zA-Z/%$]{0,8}\Z"))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Tests that no text whatever makes a parser fail in another way."""
    for parse in PARSERS:
        try:
            value = parse(text)
        except units.QuantityError:
            continue
        assert isinstance(value, date) or (math.isfinite(value) and value >= 0)
