"""Types of scenario fields: how a value may be written, and what it is read as.

Each type parses what people write with `solver.units` and tells editors, through its
JSON Schema, which forms are accepted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from solver import units
from solver.catalog.bounds import Bounds
from solver.errors import shown
from solver.units import QuantityError

MAX_WHOLE = 10**15
"""Largest whole number that any field accepts."""
MAX_NUMBER = 1e30
MAX_TEXT = 500
"""Characters of a name or a note."""

_DATE = re.compile(r"\s*[0-9]{4}-[0-9]{1,2}-")

MAX_BATCH_SEQUENCES = 10**6
"""A batch of so many sequences has never been run: tokens must be meant."""
_MAGNITUDE = re.compile(r"(?i)[0-9.]\s*(?:m|b|g|t|million|billion|trillion)\s*$")
"""A number with a suffix that batches have when they are counted in tokens."""

TOKENS = Bounds(1, 1e18, "tokens")
"""A thousand times what the largest trainings will see in a decade."""
DATA_BYTES = Bounds(1, 1e24, "bytes")

Parser = Callable[[Any], Any]


def _plain(number: float) -> str:
    """Return a limit as people write it."""
    return f"{number:,.0f}" if number < 1e16 else f"{number:g}"


@dataclass(frozen=True)
class Written:
    """Annotation of a field that is read by a parser.

    Parameters
    ----------
    parse
        Returns the canonical value, or raises a `QuantityError`.
    examples
        How it may be written, for editors.
    kinds
        JSON types that it may have.
    """

    parse: Parser
    examples: tuple[object, ...] = ()
    kinds: tuple[str, ...] = ("number", "string")

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return the schema of a plain validator."""
        return core_schema.no_info_plain_validator_function(self.parse)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the JSON Schema: the accepted JSON types and examples."""
        kinds = list(self.kinds)
        described: dict[str, Any] = {"type": kinds[0] if len(kinds) == 1 else kinds}
        if self.examples:
            described["examples"] = list(self.examples)
        return described


def _positive(parse: Parser) -> Parser:
    """Return a parser that also refuses zero."""

    def parse_positive(value: Any) -> Any:
        number = parse(value)
        if number == 0:
            raise QuantityError("expected more than zero", "out-of-range")
        return number

    return parse_positive


def _limited(parse: Parser, upper: float) -> Parser:
    """Return a parser that also refuses more than a largest value."""

    def parse_limited(value: Any) -> Any:
        number = parse(value)
        if number > upper:
            message = f"the number is too large; expected at most {_plain(upper)}"
            raise QuantityError(message, "out-of-range")
        return number

    return parse_limited


def _within(
    parse: Parser, bounds: Bounds, *, per: float = 1.0, or_zero: bool = False
) -> Parser:
    """Return a parser that also refuses what lies outside of limits.

    Parameters
    ----------
    parse
        Reads the value.
    bounds
        The limits, in their own unit.
    per
        What of the canonical unit is one of the limits' unit.
    or_zero
        Zero is taken as well, though it is below the smallest value.
    """

    def parse_within(value: Any) -> Any:
        number = parse(value)
        if not bounds.allows(number / per) and not (or_zero and number == 0):
            message = f"expected {bounds}, not {shown(value)}"
            raise QuantityError(message, "out-of-range")
        return number

    return parse_within


def _share(value: Any) -> float:
    """Return a fraction below one."""
    fraction = units.parse_fraction(value)
    if fraction >= 1:
        message = f"expected less than 100%, not {shown(value)}"
        raise QuantityError(message, "out-of-range")
    return fraction


EFFICIENCY = Bounds(0.01, 1.2)
"""Software that is a hundred times slower than a tuned one does not train; none is a
fifth faster than NVIDIA's."""


def _efficiency(value: Any) -> float:
    """Return the share of the predicted speed that a team reaches."""
    fraction = units.parse_fraction(value, upper=math.inf)
    if not EFFICIENCY.allows(fraction):
        message = f"expected 0.01 to 1.2 (1% to 120%), not {shown(value)}"
        raise QuantityError(message, "out-of-range")
    return fraction


def _confidence(value: Any) -> float:
    """Return a probability that a limit is kept, strictly between 0 and 1."""
    fraction = units.parse_fraction(value)
    if not 0 < fraction < 1:
        message = f"expected more than 0 and less than 1, not {shown(value)}"
        raise QuantityError(message, "out-of-range")
    return fraction


def _sequences(value: Any) -> int:
    """Return sequences a step; what can only be meant as tokens is refused."""
    number: int = _positive(_WHOLE)(value)
    has_magnitude = isinstance(value, str) and _MAGNITUDE.search(value)
    if has_magnitude or number >= MAX_BATCH_SEQUENCES:
        written = f"{value}".strip()
        message = (
            f"'{written}': sequences or tokens? Write {{tokens: {written}}}, or "
            f"{{sequences: {written}}}"
        )
        raise QuantityError(message, "ambiguous-unit")
    return number


def _tokens(value: Any) -> float | str:
    """Return a number of tokens, or the words that stand for Chinchilla's rule."""
    if isinstance(value, str) and word(value) == "compute_optimal":
        return "compute-optimal"
    return float(_within(_COUNT, TOKENS)(value))


def _giga(parse: Parser) -> Parser:
    """Return a parser whose result is in GB/s rather than bytes/s."""
    return lambda value: parse(value) / units.GB


def text(value: Any) -> str:
    """Return free text; a number is taken as written."""
    expected = "expected a word or text"
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise QuantityError(expected, "wrong-type")
    if isinstance(value, int) and value.bit_length() > MAX_TEXT:
        raise QuantityError(expected, "wrong-type")
    written = str(value).strip()
    if not written or "\x00" in written:
        raise QuantityError(expected, "wrong-type")
    if len(written) > MAX_TEXT:
        message = f"expected at most {MAX_TEXT} characters"
        raise QuantityError(message, "out-of-range")
    return written


def word(value: Any) -> Any:
    """Return a word of a fixed list in its canonical spelling: ``on_demand``."""
    if not isinstance(value, str):
        return value
    return value.strip().casefold().replace("-", "_").replace(" ", "_")


def any_of(value: Any) -> Any:
    """Return a list; a single value is a list of one."""
    return [value] if isinstance(value, str | int | float) else value


_COUNT = _positive(_limited(units.parse_count, MAX_NUMBER))
_WHOLE = _limited(units.parse_whole, MAX_WHOLE)


def _seconds(unit: str) -> Parser:
    """Return a parser of durations whose bare numbers have a unit."""
    return _limited(partial(units.parse_duration_s, default_unit=unit), 1e11)


def _when(value: Any) -> date | float:
    """Return a date, or a duration in seconds; a bare number is days."""
    moment = units.parse_date_or_duration(value, "days")
    if not isinstance(moment, date) and not 0 < moment <= 1e11:
        message = f"expected a deadline within 3,000 years, not {shown(value)}"
        raise QuantityError(message, "out-of-range")
    return moment


def _day(value: Any) -> date:
    """Return a date."""
    expected = "expected a date such as 2027-03-31 (year-month-day)"
    if not isinstance(value, str | date):
        raise QuantityError(expected, "wrong-type")
    try:
        day = units.parse_date_or_duration(value)
    except QuantityError as error:
        if error.code == "out-of-range":
            raise
        raise QuantityError(expected, "wrong-type") from None
    if not isinstance(day, date):
        raise QuantityError(expected, "wrong-type")
    return day


def _whole_days(value: Any) -> int:
    """Return a number of whole days; a bare number is days."""
    if isinstance(value, date) or (isinstance(value, str) and _DATE.match(value)):
        message = "expected days such as '14 days'; a date of delivery is `available`"
        raise QuantityError(message, "wrong-type")
    days = units.parse_duration_s(value, "days") / units.DAY
    if days != int(days):
        message = f"expected whole days such as '14 days', not {shown(value)}"
        raise QuantityError(message, "wrong-value")
    return int(days)


def _hours(value: Any) -> float:
    """Return a duration in hours; a bare number is days."""
    return units.parse_duration_s(value, "days") / units.HOUR


def _years(value: Any) -> float:
    """Return a duration in years; a bare number is years."""
    return units.parse_duration_s(value, "years") / (365 * units.DAY)


_WATTS = re.compile(r"(?i)(.*?)\s*(k?)w\s*")


def _kilowatts(value: Any) -> float:
    """Return a power in kW, written with kW or W; a bare number is kW."""
    match = _WATTS.fullmatch(value) if isinstance(value, str) else None
    try:
        if match is None:
            return float(units.parse_count(value))
        number = float(units.parse_count(match[1]))
    except QuantityError as error:
        if error.code == "out-of-range":
            raise
        message = f"expected a power such as '10.2 kW' or '800 W', not {shown(value)}"
        raise QuantityError(message, error.code) from None
    return number if match[2] else number / 1000


def _bandwidth() -> Parser:
    """Return a parser of bytes/s whose bare numbers are GB/s."""
    parse = partial(units.parse_bandwidth_bytes_per_s, default_unit="GB/s")
    return _limited(parse, MAX_NUMBER)


Text = Annotated[str, Written(text, kinds=("string", "number"))]
Count = Annotated[float, Written(_COUNT, ("52k", 4096))]
TokenCount = Annotated[
    float | Literal["compute-optimal"], Written(_tokens, ("2T", "compute-optimal"))
]
Whole = Annotated[int, Written(_WHOLE, (64,))]
PositiveWhole = Annotated[int, Written(_positive(_WHOLE), (64,))]
Sequences = Annotated[int, Written(_sequences, (1024,))]
Rate = Annotated[
    float, Written(_limited(units.parse_rate_per_s, MAX_NUMBER), ("1.2M tokens/s",))
]
Hours = Annotated[float, Written(_seconds("hours"), ("4 hours",))]
PositiveHours = Annotated[
    float, Written(_positive(_seconds("hours")), ("30 min", "50000 hours"))
]
PositiveSeconds = Annotated[float, Written(_positive(_seconds("s")), ("60 s", 60))]
PositiveDays = Annotated[float, Written(_positive(_seconds("days")), ("180 days", 180))]
When = Annotated[date | float, Written(_when, ("30 days", "2027-03-31"))]
Day = Annotated[date, Written(_day, ("2027-03-31",), ("string",))]
Bytes = Annotated[
    float,
    Written(
        _positive(
            _limited(partial(units.parse_bytes, default_unit="GB"), DATA_BYTES.high)
        ),
        ("8 TB",),
    ),
]
Bandwidth = Annotated[float, Written(_bandwidth(), ("10 GB/s",))]
GigabytesPerSecond = Annotated[float, Written(_giga(_bandwidth()), (300, "300 GB/s"))]
Gbps = Annotated[float, Written(_limited(units.parse_gbps, 1e9), (400, "400 Gb/s"))]
PositiveGbps = Annotated[
    float,
    Written(_within(units.parse_gbps, Bounds(1e-3, 1e6, "Gb/s")), (3200, "3.2 Tb/s")),
]
Usd = Annotated[float, Written(_limited(units.parse_usd, 1e15), ("$250k", 2.5))]
Megawatthours = Annotated[
    float, Written(_positive(_limited(units.parse_mwh, 1e12)), ("100 MWh", 100))
]
Tonnes = Annotated[float, Written(_limited(units.parse_tonnes, 1e12), ("20 t", 20))]
Fraction = Annotated[float, Written(units.parse_fraction, ("10%", 0.1))]
Share = Annotated[float, Written(_share, ("10%", 0.1))]
Efficiency = Annotated[float, Written(_efficiency, (1, 0.8, "80%"))]
Confidence = Annotated[float, Written(_confidence, (0.5, 0.9, "90%"))]
PositiveNumber = Annotated[float, Written(_COUNT, (1.5,))]
NumberOrZero = Annotated[
    float, Written(_limited(units.parse_count, MAX_NUMBER), (1, 0.5))
]


def _number(low: float, high: float, unit: str, example: object) -> Written:
    """Return the annotation of a plain number within limits."""
    return Written(_within(units.parse_count, Bounds(low, high, unit)), (example,))


def _whole(low: int, high: int, unit: str, example: object) -> Written:
    """Return the annotation of a whole number within limits."""
    return Written(_within(units.parse_whole, Bounds(low, high, unit)), (example,))


def _usd(high: float, unit: str) -> Written:
    """Return the annotation of a price within limits."""
    return Written(_within(units.parse_usd, Bounds(0, high, unit)), ("$250", 2.5))


_STORAGE_RATE = partial(units.parse_bandwidth_bytes_per_s, default_unit="GB/s")

Samples = Annotated[float, _number(1, 1e18, "samples", "52k")]
Epochs = Annotated[float, _number(1e-6, 1e6, "epochs", 1.5)]
BatchTokens = Annotated[float, _number(1, 1e15, "tokens", "4M")]
BatchSequences = Annotated[int, _whole(1, 10**9, "sequences", 1024)]
SequenceTokens = Annotated[int, _whole(1, 10**8, "tokens", 4096)]
DocumentTokens = Annotated[float, _number(1, 1e9, "tokens", 600)]
BytesPerToken = Annotated[float, _number(1e-3, 1e9, "bytes", 4)]
SampleBytes = Annotated[
    float,
    Written(
        _within(partial(units.parse_bytes, default_unit="B"), Bounds(1, 1e15, "bytes")),
        ("117 kB",),
    ),
]
DecodeRate = Annotated[float, _number(1e-6, 1e9, "samples/s", 219)]
LoaderCount = Annotated[int, _whole(1, 10_000, "workers", 8)]
TextBytesPerToken = Annotated[float, _number(0.1, 100, "bytes", 4.2)]
Weight = Annotated[float, _number(0, 1e9, "", 1)]
Degree = Annotated[int, _whole(1, 10**6, "", 8)]
DegreeOrZero = Annotated[int, _whole(0, 10**6, "", 8)]
NodeCount = Annotated[int, _whole(1, 10**6, "nodes", 64)]
SpareCount = Annotated[int, _whole(0, 64, "nodes", 2)]
Stock = Annotated[int, _whole(0, 10**6, "nodes", 64)]
LeadDays = Annotated[
    int, Written(_within(_whole_days, Bounds(0, 3650, "days")), ("14 days",))
]
"""Whole days from an order to usable nodes."""
TermHours = Annotated[
    float,
    Written(
        _within(_hours, Bounds(0, 1e5, "hours")), ("30 days", "3 months", "1 year")
    ),
]
"""Hours that are paid for at least."""
StockGpus = Annotated[int, _whole(0, 10**7, "GPUs", 256)]
StockThreads = Annotated[int, _whole(0, 10**8, "vCPUs", 1920)]
Workers = Annotated[int, _whole(1, 256, "threads", 1)]
Seed = Annotated[int, _whole(0, 2**31 - 1, "", 0)]
HostGb = Annotated[float, _number(0.1, 1e6, "GB", 2048)]
HostThreads = Annotated[float, _number(1, 1e5, "threads", 192)]
DriveTb = Annotated[float, _number(0, 1e6, "TB", 30.72)]
UsdPerGpuHour = Annotated[float, _usd(1e4, "USD per GPU-hour")]
UsdPerNodeHour = Annotated[float, _usd(1e6, "USD per node-hour")]
UsdPerNodeMonth = Annotated[float, _usd(1e8, "USD per node and month")]
UsdPerNode = Annotated[
    float,
    Written(_within(units.parse_usd, Bounds(1, 1e8, "USD per node")), ("$300k",)),
]
Years = Annotated[
    float, Written(_within(_years, Bounds(0.1, 10, "years")), ("4 years", 4))
]
"""Years of use."""
Resale = Annotated[
    float, Written(_within(units.parse_fraction, Bounds(0, 0.99)), ("20%", 0.2))
]
UsdPerKwh = Annotated[
    float,
    Written(_within(units.parse_usd, Bounds(0, 10, "USD per kWh")), ("$0.09", 0.09)),
]
Pue = Annotated[float, _number(1, 10, "", 1.3)]
Kilowatts = Annotated[
    float, Written(_within(_kilowatts, Bounds(0.01, 1e3, "kW")), ("10.2 kW", 10.2))
]
UsdPerGbMonth = Annotated[float, _usd(1e4, "USD per GB and month")]
NodeRate = Annotated[
    float,
    Written(
        _within(_STORAGE_RATE, Bounds(1e-6, 1e6, "GB/s"), per=units.GB), ("10 GB/s",)
    ),
]
"""Storage, of one node."""
TotalRate = Annotated[
    float,
    Written(
        _within(_STORAGE_RATE, Bounds(1e-6, 1e9, "GB/s"), per=units.GB, or_zero=True),
        ("100 GB/s",),
    ),
]
"""Storage, of all nodes together; zero is as good as not stated."""
