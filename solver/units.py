"""Quantities as people write them, in one canonical unit each, and back.

=========================== ==================== =====================================
function                    canonical unit       examples
=========================== ==================== =====================================
parse_count                 1                    ``2T``, ``1.5B``, ``52k``, ``4096``
parse_whole                 1, whole             ``512``, ``4M``
parse_rate_per_s            1/s                  ``1.2M``, ``1.2M tokens/s``
parse_duration_s            seconds              ``30 days``, ``4 hours``, ``90 min``
parse_bytes                 bytes                ``8 TB``, ``80 GiB``
parse_bandwidth_bytes_per_s bytes per second     ``10 GB/s``, ``400 Gb/s``
parse_gbps                  10^9 bits per second ``400 Gb/s``, ``3.2 Tbps``
parse_usd                   US dollars           ``$250k``, ``250000``, ``250k USD``
parse_mwh                   megawatt-hours       ``100 MWh``, ``500 kWh``
parse_tonnes                tonnes               ``20 t``, ``500 kg``
parse_fraction              1                    ``10%``, ``0.1``
parse_date_or_duration      date, or seconds     ``2026-12-01``, ``30 days``
=========================== ==================== =====================================

Every parser takes text or a number and refuses booleans, NaN, infinity and negative
values with a `QuantityError`, which is a ValueError. What can be read in two ways is
refused, never guessed: ``400 gb`` may be bits or bytes, ``5 m`` minutes or months.
K, M, B and T are decimal (thousand to trillion); KiB, MiB and so on are binary.
"""

import re
from datetime import date
from fractions import Fraction

from solver.languages import language
from solver.quantity import (
    Dimension,
    Quantity,
    QuantityError,
    canonical,
    shown_quantity,
)

__all__ = [
    "DAY",
    "GB",
    "GIB",
    "HOUR",
    "MINUTE",
    "MONTH_HOURS",
    "TB",
    "QuantityError",
    "format_bytes",
    "format_count",
    "format_duration_s",
    "format_fraction",
    "format_mwh",
    "format_tonnes",
    "format_usd",
    "parse_bandwidth_bytes_per_s",
    "parse_bytes",
    "parse_count",
    "parse_date_or_duration",
    "parse_duration_s",
    "parse_fraction",
    "parse_gbps",
    "parse_mwh",
    "parse_rate_per_s",
    "parse_tonnes",
    "parse_usd",
    "parse_whole",
    "unit_word",
]

GB = 10**9  # bytes
TB = 10**12  # bytes
GIB = 2**30  # bytes
MINUTE = 60  # seconds
HOUR = 3600  # seconds
DAY = 86_400  # seconds
MONTH_HOURS = 730  # as cloud providers bill a month: 8,760 hours a year over 12


def _spellings(
    *names: tuple[tuple[str, ...], int | Fraction],
) -> dict[str, int | Fraction]:
    """Return one table of all spellings of some units."""
    return {name: size for group, size in names for name in group}


def _byte_units() -> dict[str, int | Fraction]:
    """Return the units of storage, in bytes."""
    units: dict[str, int | Fraction] = dict.fromkeys(("B", "byte", "bytes"), 1)
    for power, prefix in enumerate("kMGTPE", start=1):
        units[f"{prefix}B"] = 1000**power
        units[f"{prefix.upper()}iB"] = 1024**power
    units["KB"] = 1000
    return units


def _rate_units(per: int) -> dict[str, int | Fraction]:
    """Return the units of bandwidth, one of which is so many bits per second."""
    units: dict[str, int | Fraction] = {}
    for second in ("/s", "/sec", "ps"):
        for power, prefix in enumerate(("", *"kMGTPE")):
            bit = Fraction(1000**power, per)
            for bits in ("b", "bit", "bits"):
                units[f"{prefix}{bits}{second}"] = bit
            units[f"{prefix}B{second}"] = 8 * bit
            if prefix:
                units[f"{prefix.upper()}iB{second}"] = Fraction(8 * 1024**power, per)
    return units


_COUNT_UNITS = _spellings(
    (("",), 1),
    (("k", "thousand"), 10**3),
    (("m", "million"), 10**6),
    (("b", "g", "billion"), 10**9),
    (("t", "trillion"), 10**12),
)
_COUNT = Dimension("a number", "4096, '52k', '1.5B' or '2T'", _COUNT_UNITS)
_RATE = Dimension("a rate per second", "'1.2M' or '1.2M tokens/s'", _COUNT_UNITS)
_USD = Dimension("an amount in USD", "250000, '$250k' or '1.2M USD'", _COUNT_UNITS)
_FRACTION = Dimension(
    "a fraction",
    "0.1 or '10%'",
    {"": 1, "%": Fraction(1, 100), "percent": Fraction(1, 100)},
)
_DURATION = Dimension(
    "a duration",
    "'30 days', '4 hours' or '90 min'",
    _spellings(
        (("us", "µs", "μs"), Fraction(1, 10**6)),
        (("ms",), Fraction(1, 1000)),
        (("s", "sec", "secs", "second", "seconds"), 1),
        (("min", "mins", "minute", "minutes"), MINUTE),
        (("h", "hr", "hrs", "hour", "hours"), HOUR),
        (("d", "day", "days"), DAY),
        (("w", "week", "weeks"), 7 * DAY),
        (("month", "months"), MONTH_HOURS * HOUR),
        (("y", "year", "years"), 365 * DAY),
    ),
)
_BYTES = Dimension("a size", "'8 TB' or '80 GiB'", _byte_units(), any_case=False)
_BANDWIDTH = Dimension(
    "a bandwidth",
    "'10 GB/s' (bytes) or '400 Gb/s' (bits)",
    _rate_units(8),
    any_case=False,
)
_GBPS = Dimension(
    "a network bandwidth",
    "'400 Gb/s' (bits) or '50 GB/s' (bytes)",
    _rate_units(10**9),
    any_case=False,
)


_ENERGY = Dimension(
    "an energy",
    "'100 MWh' or '500 kWh'",
    _spellings(
        (("wh",), Fraction(1, 10**6)),
        (("kwh",), Fraction(1, 1000)),
        (("mwh",), 1),
        (("gwh",), 1000),
    ),
)
_MASS = Dimension(
    "a mass",
    "'20 t' or '500 kg'",
    _spellings(
        (("g",), Fraction(1, 10**6)),
        (("kg",), Fraction(1, 1000)),
        (("t", "tonne", "tonnes", "ton", "tons"), 1),
        (("kt",), 1000),
    ),
)


def parse_count(value: Quantity) -> int | float:
    """Return a number given with or without K, M, B or T; an int where it is whole."""
    number = canonical(value, _COUNT, "")
    return int(number) if number.denominator == 1 else float(number)


def parse_whole(value: Quantity) -> int:
    """Return a whole number given with or without K, M, B or T."""
    number = parse_count(value)
    if not isinstance(number, int):
        raise QuantityError(
            f"expected a whole number, not '{shown_quantity(value)}'", "wrong-type"
        )
    return number


def parse_rate_per_s(value: Quantity, noun: str = "tokens") -> float:
    """Return a rate in 1/s; ``/s`` and the noun may be written or left out."""
    number: object = value
    if isinstance(value, str):
        pattern = rf"(?i)(?:\s*\b{re.escape(noun)})?\s*(?:/\s*s(?:ec)?|per second)\s*$"
        number = re.sub(pattern, "", value)
    return float(canonical(number, _RATE, "", value))


def parse_duration_s(value: Quantity, default_unit: str | None = None) -> float:
    """Return a duration in seconds.

    Parameters
    ----------
    value
        Number and unit: ``30 days``; also us, ms, s, min, hours, weeks, months of 730
        hours and years of 365 days. Case does not matter.
    default_unit
        Unit of a bare number; without it a bare number is refused.
    """
    return float(canonical(value, _DURATION, default_unit))


def parse_bytes(value: Quantity, default_unit: str | None = None) -> float:
    """Return a size in bytes.

    The units are B, kB, MB, GB ... (decimal) and KiB, MiB, GiB ... (binary). A bare
    number is in the default unit; without one it is refused.
    """
    return float(canonical(value, _BYTES, default_unit))


def parse_bandwidth_bytes_per_s(
    value: Quantity, default_unit: str | None = None
) -> float:
    """Return a bandwidth in bytes per second.

    The units are ``GB/s``, ``GBps`` (bytes) and ``Gb/s``, ``Gbps``, ``Gbit/s`` (bits),
    with any prefix; the case of b and B matters. A bare number is in the default unit;
    without one it is refused.
    """
    return float(canonical(value, _BANDWIDTH, default_unit))


def parse_gbps(value: Quantity, default_unit: str | None = "Gb/s") -> float:
    """Return a network bandwidth in gigabits per second.

    The units are those of `parse_bandwidth_bytes_per_s`.
    """
    return float(canonical(value, _GBPS, default_unit))


def parse_usd(value: Quantity) -> float:
    """Return an amount in US dollars: ``$250k``, ``250k USD``, ``$1,200.50``."""
    number: object = value
    if isinstance(value, str):
        number = re.sub(r"(?i)^\s*(?:usd|us\$|\$)\s*(?=[0-9.])", "", value, count=1)
        number = re.sub(r"(?i)\s*(?:usd|us\$|\$)\s*$", "", number, count=1)
    return float(canonical(number, _USD, "", value))


def parse_mwh(value: Quantity) -> float:
    """Return an energy in MWh, from Wh, kWh, MWh or GWh; a bare number is MWh."""
    return float(canonical(value, _ENERGY, "mwh"))


def parse_tonnes(value: Quantity) -> float:
    """Return a mass in tonnes (1,000 kg), from g, kg, t or kt; a bare number is t.

    ``CO2`` or ``CO2e`` may follow the unit.
    """
    mass: object = value
    if isinstance(value, str):
        mass = re.sub(r"(?i)\s*(?:of\s+)?co2(?:e|eq)?\s*$", "", value)
    return float(canonical(mass, _MASS, "t", value))


def parse_fraction(value: Quantity, upper: float = 1.0) -> float:
    """Return a fraction given as such or in per cent.

    Parameters
    ----------
    value
        ``0.1`` or ``10%``.
    upper
        The largest fraction allowed.
    """
    fraction = float(canonical(value, _FRACTION, ""))
    if fraction > upper:
        limit = f"at most {format_fraction(upper)}"
        message = (
            f"expected a fraction of {limit}, such as 0.1 or '10%', "
            f"not '{shown_quantity(value)}'"
        )
        raise QuantityError(message, "out-of-range")
    return fraction


def parse_date_or_duration(
    value: Quantity | date, default_unit: str | None = None
) -> date | float:
    """Return a date written as ``2026-12-01``, or else a duration in seconds.

    Parameters
    ----------
    value
        The date or the duration.
    default_unit
        Unit of a bare number; without it a bare number is refused.
    """
    if isinstance(value, date):
        return value
    if isinstance(value, str) and re.match(r"\s*[0-9]+[-/][0-9]+[-/]", value):
        try:
            if re.fullmatch(r"\s*[0-9]{4}-[0-9]{2}-[0-9]{2}\s*", value):
                return date.fromisoformat(value.strip())
        except ValueError:
            message = f"there is no such date as '{shown_quantity(value)}'"
            raise QuantityError(message, "out-of-range") from None
        message = (
            "expected a date such as 2026-12-01 (year-month-day), "
            f"not '{shown_quantity(value)}'"
        )
        raise QuantityError(message, "wrong-type")
    return parse_duration_s(value, default_unit)


def format_usd(usd: float, decimals: int | None = None) -> str:
    """Return an amount as ``$412,346``, ``$2.50`` or ``$0.0125``.

    Parameters
    ----------
    usd
        Amount in US dollars; may be negative.
    decimals
        Digits after the point; by default none from $1,000 and two below, four for
        amounts under ten cents.
    """
    amount = abs(usd)
    if decimals is None:
        decimals = 0 if amount >= 999.995 else 4 if 0 < amount < 0.1 else 2
    sign = "-" if usd < 0 else ""
    return f"{sign}${amount:,.{decimals}f}"


def format_mwh(energy_mwh: float) -> str:
    """Return an energy in MWh as ``1.2 GWh``, ``310 MWh`` or ``512 kWh``."""
    size = abs(energy_mwh)
    if size >= 999.5:
        return f"{_three_digits(energy_mwh / 1000)} GWh"
    if size >= 0.9995:
        return f"{_three_digits(energy_mwh)} MWh"
    return f"{_three_digits(energy_mwh * 1000)} kWh"


def format_tonnes(mass_t: float) -> str:
    """Return a mass in tonnes as ``4.5 t`` or ``830 kg``."""
    if abs(mass_t) >= 0.9995:
        return f"{_three_digits(mass_t)} t"
    return f"{_three_digits(mass_t * 1000)} kg"


def format_duration_s(duration_s: float) -> str:
    """Return a duration in seconds as ``34.2 days``, ``5.1 h`` or ``45 ms``."""
    size = abs(duration_s)
    if size >= 2 * DAY:
        return f"{duration_s / DAY:,.1f} {unit_word('days')}"
    if size >= 59.95 * MINUTE:
        return f"{duration_s / HOUR:.1f} {unit_word('h')}"
    if size >= 59.95:
        return f"{duration_s / MINUTE:.1f} {unit_word('min')}"
    if size >= 0.9995 or size == 0:
        return f"{_three_digits(duration_s)} {unit_word('s')}"
    if size >= 0.9995e-3:
        return f"{_three_digits(duration_s * 1e3)} {unit_word('ms')}"
    return f"{_three_digits(duration_s * 1e6)} {unit_word('us')}"


_UNIT_WORDS = {
    "zh": {
        "days": "天",
        "hours": "小时",
        "h": "小时",
        "min": "分钟",
        "s": "秒",
        "ms": "毫秒",
        "us": "微秒",
    }
}
"""Units that a language writes in words of its own."""


def unit_word(unit: str) -> str:
    """Return a unit of time as the language that is spoken writes it after a number."""
    return _UNIT_WORDS.get(language(), {}).get(unit, unit)


def format_bytes(size_bytes: float, *, binary: bool = False) -> str:
    """Return a size in bytes as ``8 TB`` or, in binary units, as ``79.1 GiB``."""
    step, infix = (1024, "i") if binary else (1000, "")
    prefixes = "KMGTPE" if binary else "kMGTPE"
    size, unit = size_bytes, "B"
    for prefix in prefixes:
        if abs(size) < step - 0.5:
            break
        size, unit = size / step, f"{prefix}{infix}B"
    return f"{_three_digits(size)} {unit}"


def format_count(count: float) -> str:
    """Return a number as ``2T``, ``6.74B``, ``52k``, or ``4,096`` below 10,000."""
    if abs(count) < 9_999.5:
        return f"{_three_digits(count)}" if count % 1 else f"{count:,.0f}"
    number: float = count
    for suffix in ("k", "M", "B"):
        number /= 1000
        if abs(number) < 999.5:
            return f"{_three_digits(number)}{suffix}"
    return f"{_three_digits(number / 1000)}T"


def format_fraction(fraction: float) -> str:
    """Return a fraction in per cent with at most one decimal: ``10%``, ``47.3%``."""
    return f"{round(fraction * 100, 1):g}%"


def _three_digits(number: float) -> str:
    """Return a number to three significant digits, or whole where it has more."""
    size = abs(number)
    decimals = 0 if size >= 99.95 else 1 if size >= 9.995 else 2
    text = f"{number:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
