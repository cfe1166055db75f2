"""Tests of how places, rates and aims are written and refused."""

from __future__ import annotations

import pytest

from solver.catalog.country_groups import COUNTRY_GROUPS, grouped
from solver.scenario.scenario import DEFAULT_TRANSFER, Objective
from tests.scenario.reading import SMALL, only_fault, read


def test_groups_stand_for_their_members() -> None:
    """Tests the EU of 27 and the EEA of 30, in residency and in countries."""
    assert len(COUNTRY_GROUPS["EU"]) == 27
    assert set(COUNTRY_GROUPS["EEA"]) - set(COUNTRY_GROUPS["EU"]) == {"IS", "LI", "NO"}
    scenario = read(SMALL, ["data.residency=[eu, Singapore, DE]"])
    assert scenario.data.residency == (*COUNTRY_GROUPS["EU"], "SG")
    scenario = read(SMALL, ["constraints.countries=EEA"])
    assert scenario.constraints.countries == COUNTRY_GROUPS["EEA"]
    assert "residency" not in scenario.constraints.stated
    assert "residency" in read(SMALL, ["data.residency=EU"]).constraints.stated


def test_whole_groups_are_told_by_their_names() -> None:
    """Tests that codes are shortened where a whole group is among them."""
    assert grouped(("US", *COUNTRY_GROUPS["EU"])) == ("EU", "US")
    assert grouped(COUNTRY_GROUPS["EEA"]) == ("EEA",)
    assert grouped(("DE", "FR")) == ("DE", "FR")
    assert grouped(()) == ()


def test_rates_and_regions() -> None:
    """Tests the assumed rate, a stated one in bits, and regions told once."""
    plain = read(SMALL)
    assert plain.data.transfer_bytes_per_s == DEFAULT_TRANSFER == 1.25e9
    assert plain.data.transfer_is_assumed
    assert plain.serving == ()
    overrides = [
        "data.transfer=40 Gb/s",
        "serving.regions=[aws/us-east-1, gcp/europe-west4, aws/us-east-1]",
        "data.location=aws/eu-central-1",
        "data.storage=aws-s3-standard-ia",
    ]
    scenario = read(SMALL, overrides)
    assert scenario.data.transfer_bytes_per_s == 5e9
    assert not scenario.data.transfer_is_assumed
    assert scenario.serving == ("aws/us-east-1", "gcp/europe-west4")
    assert scenario.data.storage == "aws-s3-standard-ia"


def test_data_outside_of_where_it_may_lie_is_told() -> None:
    """Tests that it is no fault: the data may be on its way."""
    inside = read(SMALL, ["data.location=aws/eu-central-1", "data.residency=EU"])
    assert not [n for n in inside.notices if n.id == "notice.residency.location"]
    outside = read(SMALL, ["data.location=aws/us-east-1", "data.residency=EU"])
    (told,) = [n for n in outside.notices if n.id == "notice.residency.location"]
    assert told.values == {"location": "aws/us-east-1", "country": "US"}


@pytest.mark.parametrize(
    ("override", "code", "path"),
    [
        ("data.residency=[EU, Atlantis]", "unknown-name", "data.residency[1]"),
        ("data.transfer=0", "out-of-range", "data.transfer"),
        ("data.transfer=10 GB", "ambiguous-unit", "data.transfer"),
        ("serving.regions=[aws/nowhere]", "unknown-name", "serving.regions[0]"),
        ("serving.regions=us-east-1", "ambiguous-name", "serving.regions"),
        ("serving.region=aws/us-east-1", "unknown-key", "serving.region"),
        ("data.storage=aws-s3-standard", "conflicting-keys", "data.storage"),
        ("objective=[cost, time, cost]", "contradiction", "objective[2]"),
        ("objective=[carbon, price]", "wrong-value", "objective[1]"),
        ("objective={cost: 0}", "contradiction", "objective"),
        ("constraints.max_carbon=20 MWh", "unknown-unit", "constraints.max_carbon"),
        ("constraints.max_energy=20 t", "unknown-unit", "constraints.max_energy"),
        ("constraints.max_energy=0", "out-of-range", "constraints.max_energy"),
        ("constraints.max_carbon=-1", "out-of-range", "constraints.max_carbon"),
    ],
)
def test_each_fault_is_told_at_its_place(override: str, code: str, path: str) -> None:
    """Tests code and path of what is written wrongly."""
    issue = only_fault(SMALL, [override])
    assert (issue.code, issue.path) == (code, path)


def test_aims_in_every_form() -> None:
    """Tests one, a list, an empty list and a sum."""
    assert read(SMALL, ["objective=carbon"]).objective == Objective("carbon")
    listed = read(SMALL, ["objective=[energy, time]"]).objective
    assert listed == Objective("energy", then=("time",))
    assert listed.levels == ("energy", "time", "cost")
    assert read(SMALL, ["objective=[]"]).objective == Objective("cost")
    priced = read(SMALL, ["objective={usd_per_tonne_co2: 80}"]).objective
    assert (priced.kind, priced.usd_per_tonne_co2) == ("weighted", 80)
    assert priced.needs_carbon
    limited = read(SMALL, ["constraints.max_carbon=500 kg CO2"])
    assert limited.constraints.max_carbon_t == 0.5
    assert limited.counts_carbon
