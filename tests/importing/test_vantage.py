"""Tests of reading ec2instances.info's instances.json."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from solver.errors import InputError
from solver.importing.quotes import Findings
from solver.importing.tables import Source
from solver.importing.vantage import read_vantage
from tests.importing.lists import VANTAGE, imported, prices, skipped, write


def test_instances(tmp_path: Path) -> None:
    """Tests prices that are text, and memory that is that of all cards."""
    done = imported(tmp_path, "vantage", "instances.json", VANTAGE)
    assert prices(done) == {
        "aws/us-east-1/p4x.metal/on_demand": 27.44705,
        "aws/us-east-1/p5.48xlarge/on_demand": 55.04,
        "aws/us-east-1/p5.48xlarge/reserved-1y": 43.16,
        "aws/us-east-1/p5.48xlarge/reserved-3y": 23.7,
        "aws/us-east-1/p5.48xlarge/spot": 18.2,
    }
    assert skipped(done) == {
        "other-system": ["rhel"],
        "no-price": ["p5.48xlarge"],
        "unknown-gpu": ["AWS Inferentia 32 GB"],
        "cpu-only": ["m5.large"],
    }
    (server,) = done.overlay.servers
    assert (server.gpu, server.vcpus, server.local_nvme_tb) == (
        "a100-sxm-80gb",
        None,
        8.0,
    )
    notes = {offer.id: offer.note for offer in done.overlay.offers}
    assert notes["aws/us-east-1/p5.48xlarge/spot"] == (
        "least of the region's zones at one moment; mean 20.1; interrupted >20% a month"
    )


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        ("{", "json-syntax", ":1:2"),
        ("[" * 200_000, "json-syntax", ":1:1"),
        ("{}", "wrong-type", ":1:1"),
        ("[]", "wrong-type", ":1:1"),
        ('[{"instance_type": "a", "pricing": {}}, 7]', "wrong-type", "[1]"),
        ('[{"instance_type": "p5.48xlarge"}]', "wrong-type", "[0] p5.48xlarge"),
        ("API Name,vCPUs\np5,192\n", "json-syntax", ":1:1"),
    ],
)
def test_files_that_are_none(tmp_path: Path, text: str, code: str, where: str) -> None:
    """Tests that what is no instances.json is one clear fault."""
    with pytest.raises(InputError) as caught:
        imported(tmp_path, "vantage", "instances.json", text)
    (issue,) = caught.value.issues
    assert issue.code == code
    assert str(issue.where).endswith(where)
    assert not (tmp_path / "out").exists()


def test_terms(tmp_path: Path) -> None:
    """Tests that of each length the lowest is taken, and bought with its hours."""
    data = json.loads(json.dumps(VANTAGE[:1]))
    data[0]["pricing"]["us-east-1"]["linux"]["reserved"] = {
        "yrTerm1Standard.noUpfront": "43.16",
        "yrTerm1Standard.allUpfront": "41.5",
        "yrTerm1Savings.noUpfront": "42.0",
        "yrTerm3Convertible.partialUpfront": "25.0",
        "yrTerm3Standard.allUpfront": "dear",
        "block": "30.0",
    }
    done = imported(tmp_path, "vantage", "instances.json", data)
    found = {
        offer.id.rpartition("/")[2]: (offer.usd_per_node_hour, offer.min_term_hours)
        for offer in done.overlay.offers
        if offer.purchase == "reserved"
    }
    assert found == {"reserved-1y": (41.5, 8760.0), "reserved-3y": (25.0, 26280.0)}
    notes = [o.note for o in done.overlay.offers if o.id.endswith("reserved-1y")]
    assert notes == [
        "yrTerm1Standard.allUpfront; what is paid at the start is spread over the term"
    ]
    assert skipped(done)["term"] == ["block"]
    assert skipped(done)["unreadable"] == ["yrTerm3Standard.allUpfront dear"]


def test_yuan_are_no_dollars(tmp_path: Path) -> None:
    """Tests that the regions of China, priced in yuan, are left out."""
    data = json.loads(json.dumps(VANTAGE[:1]))
    data[0]["pricing"]["cn-north-1"] = {"linux": {"ondemand": "390.1"}}
    done = imported(tmp_path, "vantage", "instances.json", data)
    assert skipped(done)["other-currency"] == ["p5.48xlarge"]
    assert {o.region for o in done.overlay.offers} == {"aws/us-east-1"}


def test_odd_values_are_listed(tmp_path: Path) -> None:
    """Tests that an instance of odd values is left out and told, not a crash."""
    odd = json.loads(json.dumps(VANTAGE[:2]))
    odd[0]["pricing"]["us-east-1"]["linux"]["ondemand"] = "N/A"
    odd[0]["pricing"]["us-east-1"]["linux"]["spot_min"] = -3
    odd[0]["pricing"]["us-east-1"]["linux"]["reserved"] = ["x"]
    odd[0]["pricing"]["ap-south-1"] = "none"
    odd[1]["memory"] = [1]
    done = imported(tmp_path, "vantage", "instances.json", odd)
    assert list(prices(done)) == ["aws/us-east-1/p4x.metal/on_demand"]
    assert skipped(done)["unreadable"] == [
        "pricing.ap-south-1",
        "ondemand N/A",
        "spot_min -3",
        "memory [1]",
    ]


ODD = (
    None,
    True,
    0,
    -1,
    1e300,
    float("nan"),
    "x" * 900,
    "\x00",
    [],
    [1],
    {},
    {"a": []},
)
"""Values that no figure has."""


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each object or list within a value, with each of its keys."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from places(inner)


def test_odd_values(tmp_path: Path) -> None:
    """Tests that any value in any place is taken, left out or refused."""
    count = len(list(places(VANTAGE)))
    for number in range(count):
        for odd in ODD:
            data = json.loads(json.dumps(VANTAGE))
            inside, key = list(places(data))[number]
            inside[key] = odd
            file = write(tmp_path, "instances.json", data)
            findings = Findings()
            try:
                read_vantage(Source(file, file.name, "aws"), findings)
            except InputError as error:
                assert all(issue.code and issue.where for issue in error.issues)
            for quote in findings.quotes:
                assert 0 < quote.usd_per_hour < float("inf")
                assert quote.purchase != "reserved" or quote.min_term_hours > 0


def test_a_term_of_no_years_is_left_out(tmp_path: Path) -> None:
    """Tests that a reserved price without a length does not spoil the others."""
    data = json.loads(json.dumps(VANTAGE[:1]))
    data[0]["pricing"]["us-east-1"]["linux"]["reserved"] = {
        "yrTerm0Standard.noUpfront": "1",
        "yrTerm1Standard.noUpfront": "43.16",
    }
    done = imported(tmp_path, "vantage", "instances.json", data)
    assert "yrTerm0Standard.noUpfront" in skipped(done)["term"]
    assert "aws/us-east-1/p5.48xlarge/reserved-1y" in prices(done)
