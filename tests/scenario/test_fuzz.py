"""Tests that no scenario, however mangled, gives anything but an answer or faults."""

from __future__ import annotations

import copy
import json
from datetime import date
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from solver.errors import InputError
from solver.scenario.load import resolve_scenario
from solver.scenario.scenario import Scenario
from solver.yaml_source import DataPath, Source, load_yaml
from tests.scenario.reading import TODAY, read, shipped_catalog
from tests.scenario.test_load import FULL

OFFER = {
    "name": "mine",
    "gpu": "a100-sxm-80gb",
    "gpus_per_node": 8,
    "network": {"gbps_per_node": 1600, "kind": "infiniband"},
    "max_nodes": 64,
    "usd_per_gpu_hour": 2.0,
    "region": "sg",
    "available": [{"from": "2027-01-01", "nodes": 2}],
    "storage": ["lustre", {"name": "x", "kind": "block", "read": 1, "write": 1}],
}
MODEL = {
    "layers": 32,
    "hidden": 4096,
    "ffn": 11008,
    "heads": 32,
    "kv_heads": 8,
    "vocab": 32000,
    "n_experts": 8,
    "experts_topk": 2,
}
VALID: dict[str, Any] = load_yaml(FULL, "s.yaml").data | {
    "model": MODEL,
    "offers": [OFFER],
    "catalog": "include",
}

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, -1, 10**40, 10**5000, float("nan"), float("inf"), 1e300]),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["", " ", "\x00", "/", "..", "<mapping>", "2T", "30 days", "H100"]),
    st.sampled_from([[], [[]], {}, [None], {"a": {"b": []}}, [[1, [2]]], {"": 1}]),
    st.dictionaries(
        st.sampled_from(
            ["min", "max", "tokens", "sequences", "tolerance", "name", "x"]
        ),
        st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=3)),
        max_size=3,
    ),
    st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=3)), max_size=3),
)


def places(data: Any, path: DataPath = ()) -> list[DataPath]:
    """Return the path of everything in some data."""
    found = [path] if path else []
    if isinstance(data, dict):
        for key, value in data.items():
            found += places(value, (*path, key))
    elif isinstance(data, list):
        for position, value in enumerate(data):
            found += places(value, (*path, position))
    return found


PLACES = places(VALID)


def parent_of(data: Any, path: DataPath) -> Any:
    """Return what a place is in."""
    for part in path[:-1]:
        data = data[part]
    return data


def answer(data: dict[str, Any]) -> Scenario | InputError:
    """Return the scenario or the faults of some data."""
    source = Source("s.yaml", data, {})
    try:
        return resolve_scenario(source, shipped_catalog(), today=TODAY)
    except InputError as error:
        for issue in error.issues:
            assert issue.code
            assert len(str(issue)) < 1000
        return error


def test_the_valid_data_is_valid() -> None:
    """Tests that what is mangled below is a scenario before."""
    assert isinstance(answer(copy.deepcopy(VALID)), Scenario)


@given(st.sampled_from(PLACES), JUNK)
def test_any_value_may_be_junk(path: DataPath, junk: Any) -> None:
    """Tests one value replaced by something else."""
    data = copy.deepcopy(VALID)
    parent_of(data, path)[path[-1]] = junk
    answer(data)


@given(st.lists(st.tuples(st.sampled_from(PLACES), JUNK), min_size=2, max_size=5))
def test_several_values_may_be_junk(changes: list[tuple[DataPath, Any]]) -> None:
    """Tests several values replaced, so that faults meet each other."""
    data = copy.deepcopy(VALID)
    for path, junk in changes:
        try:
            parent_of(data, path)[path[-1]] = junk
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    answer(data)


@given(
    st.sampled_from([p for p in PLACES if isinstance(p[-1], str)]), st.text(max_size=8)
)
def test_any_key_may_be_renamed(path: DataPath, name: str) -> None:
    """Tests one key renamed: told unless it is left out or a key of the same place."""
    data = copy.deepcopy(VALID)
    parent = parent_of(data, path)
    parent[name] = parent.pop(path[-1])
    result = answer(data)
    if isinstance(result, InputError):
        assert result.issues


@given(st.sampled_from([p for p in PLACES if isinstance(p[-1], str)]))
def test_any_key_may_be_left_out(path: DataPath) -> None:
    """Tests one key removed."""
    data = copy.deepcopy(VALID)
    del parent_of(data, path)[path[-1]]
    answer(data)


def test_faults_in_one_list_leave_the_rest_alone() -> None:
    """Tests that several faults of a list do not take away what is around it."""
    data = copy.deepcopy(VALID)
    data["constraints"] |= {"purchase": [None, None, None], "regions": ["nowhere"]}
    result = answer(data)
    assert isinstance(result, InputError)
    assert [issue.path for issue in result.issues] == [
        "constraints.purchase[0]",
        "constraints.purchase[1]",
        "constraints.purchase[2]",
        "constraints.regions[0]",
    ]


@given(JUNK)
def test_the_whole_may_be_junk(junk: Any) -> None:
    """Tests data that is no scenario at all."""
    assert isinstance(answer(junk if isinstance(junk, dict) else {"model": junk}),
                      InputError)  # fmt: skip


@given(st.text(max_size=30), st.sampled_from(["x", "[1", "3 days", "{a: b}", ""]))
def test_overrides_may_be_junk(key: str, value: str) -> None:
    """Tests any text given to `--set`."""
    try:
        read(FULL, [f"{key}={value}", key])
    except InputError as error:
        assert error.issues


@given(st.sampled_from(PLACES))
def test_the_order_of_keys_does_not_matter(path: DataPath) -> None:
    """Tests that a scenario is the same whichever key comes first."""
    data = copy.deepcopy(VALID)
    parent = parent_of(data, path)
    if isinstance(parent, dict):
        parent[path[-1]] = parent.pop(path[-1])
    assert answer(data) == answer(copy.deepcopy(VALID))


def test_dates_of_other_readers() -> None:
    """Tests that data from other YAML readers, with dates, is read as well."""
    data = copy.deepcopy(VALID)
    data["constraints"]["deadline"] = date(2027, 1, 1)
    result = answer(data)
    assert isinstance(result, Scenario)
    assert result.constraints.deadline_s == 32 * 86_400


def test_what_was_given_is_not_changed() -> None:
    """Tests that reading leaves the data alone, faulty or not."""
    before = json.dumps(VALID)
    answer(VALID)
    wrong = copy.deepcopy(VALID) | {"limits": 7, "offers": [3]}
    kept = copy.deepcopy(wrong)
    answer(wrong)
    assert wrong == kept
    assert json.dumps(VALID) == before
