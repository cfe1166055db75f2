"""Tests that a written plan is read back with what was asked."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.acting.basis import acting_on_file
from solver.acting.plan_file import PlanFile, read_plan
from solver.acting.route import route_of
from solver.errors import InputError
from solver.plan import PlanResult
from solver.planning.answering import answer
from solver.report.as_json import result_as_json
from solver.scenario.load import load_scenario, resolve_scenario
from solver.verify import verify
from solver.yaml_source import load_yaml
from tests.planning.jobs import A100, TOY, catalog, job
from tests.planning.phased import apart

CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 12,
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "vocab_size": 32000,
    "max_position_embeddings": 4096,
}


@cache
def solved() -> PlanResult:
    """A plan of the toy model."""
    return answer(job(), catalog(), alternatives=0)


def written(folder: Path, result: PlanResult, **changes: Any) -> Path:
    """Write an answer to a file, some of its keys replaced."""
    path = folder / "plan.json"
    data = json.loads(result_as_json(result)) | changes
    path.write_text(json.dumps(data, indent=2), encoding="utf-8")
    return path


def faults(path: Path) -> list[tuple[str, str | None, str | None]]:
    """What is wrong with a file: code, place and path of each fault."""
    with pytest.raises(InputError) as told:
        read_plan(path)
    return [(issue.code, issue.where, issue.path) for issue in told.value.issues]


def test_a_plan_round_trips_and_still_verifies(tmp_path: Path) -> None:
    """Tests that plan, scenario and day are those that were solved."""
    read = read_plan(written(tmp_path, solved()))
    assert isinstance(read, PlanFile)
    assert read.notices == ()
    (only,) = read.jobs
    assert only.plan == solved().plan
    asked = job()
    assert read.day == asked.start_date
    assert replace(read.scenario, file=asked.file) == replace(
        asked,
        architecture=read.scenario.architecture,  # says where it was stated
        supply=read.scenario.supply,
    )
    assert verify(only.plan, only.scenario, read.catalog) == []


def test_each_phase_is_a_job_of_its_own(tmp_path: Path) -> None:
    """Tests that a chain is read with the scenario and the days of each phase."""
    scenario, result = apart()
    result = replace(result, request=answer_request(scenario))
    read = read_plan(written(tmp_path, result))
    assert [j.phase for j in read.jobs] == ["pre-train", "extend"]
    assert [j.plan for j in read.jobs] == [phase.plan for phase in result.phases]
    assert [(j.start_day, j.end_day) for j in read.jobs] == [
        (phase.start_day, phase.end_day) for phase in result.phases
    ]
    assert [j.scenario.workload for j in read.jobs] == [
        phase.scenario.workload for phase in scenario.phases
    ]


def answer_request(scenario: Any) -> dict[str, Any]:
    """What was asked, as an answer keeps it."""
    from dataclasses import asdict

    from solver.acting.request import request_of

    return asdict(request_of(scenario, catalog()))


def test_the_document_names_no_other_file(tmp_path: Path) -> None:
    """Tests that files of models and offers, and overrides, are in the document."""
    (tmp_path / "model.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    (tmp_path / "offers.csv").write_text(
        "name,gpu,gpus_per_node,max_nodes,usd_per_gpu_hour,region\n"
        "ours,a100-sxm-80gb,8,1,2.00,sg\n",
        encoding="utf-8",
    )
    text = yaml.safe_dump(
        {
            "model": "model.json",
            "workload": {"tokens": "5B", "sequence_length": 2048},
            "offers": "offers.csv",
        }
    )
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    first = load_scenario(
        tmp_path / "mine.yaml",
        catalog(),
        ["workload.tokens=6B", "constraints.deadline=2027-03-31"],
    )
    again = resolve_scenario(
        load_yaml(yaml.safe_dump(first.document), "elsewhere.yaml"),
        catalog(),
        today=first.start_date,
    )
    assert again.name == first.name == "mine"
    assert again.workload == first.workload
    assert again.workload.tokens == 6e9
    assert again.constraints == first.constraints
    assert [o.id for o in again.supply.offers] == [o.id for o in first.supply.offers]
    sizes = ("layers", "hidden", "ffn", "heads", "kv_heads", "vocab", "max_seq")
    assert [getattr(again.architecture, s) for s in sizes] == [
        getattr(first.architecture, s) for s in sizes
    ]


def test_models_beside_the_policy_are_placed_too(tmp_path: Path) -> None:
    """Tests that the file of a reward model is replaced by its sizes."""
    (tmp_path / "reward.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    data = {
        "model": TOY,
        "workload": {
            "method": "ppo",
            "samples": 1000,
            "alignment": {"reward_model": "reward.json"},
        },
        "offers": [A100],
    }
    source = load_yaml(yaml.safe_dump(data), "toy.yaml")
    scenario = resolve_scenario(source, catalog(), base=tmp_path)
    placed = scenario.document["workload"]["alignment"]["reward_model"]
    assert placed["layers"] == CONFIG["num_hidden_layers"]
    assert placed["kv_heads"] == CONFIG["num_key_value_heads"]
    assert source.data["workload"]["alignment"]["reward_model"] == "reward.json"


def test_another_version_or_catalog_is_told(tmp_path: Path) -> None:
    """Tests that a plan of other figures is read, and says so."""
    request = dict(solved().request or {})
    request["catalog"] = {"digest": "another", "folders": []}
    path = written(tmp_path, solved(), versions={"gpuplan": "0.0.1"}, request=request)
    ids = [notice.id for notice in read_plan(path).notices]
    assert ids == ["notice.plan.version", "notice.plan.catalog"]


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"ok": False}, None, "this has errors in it"),
        ({"schema_version": 2}, "schema_version", "expected schema_version 1, not 2"),
        ({"plan": None, "status": "infeasible"}, "plan", "'infeasible'"),
        ({"request": None}, "request", "solve the scenario again"),
    ],
)
def test_other_json_is_refused(
    tmp_path: Path, changes: dict[str, Any], path: str | None, words: str
) -> None:
    """Tests that an answer without a usable plan is refused with what it lacks."""
    file = written(tmp_path, solved(), **changes)
    with pytest.raises(InputError) as told:
        read_plan(file)
    (issue,) = told.value.issues
    assert (issue.code, issue.path) == ("not-a-plan", path)
    assert words in issue.message


def broken_plan(data: dict[str, Any]) -> None:
    """Spoil two figures of a plan."""
    data["plan"]["nodes"] = "four"
    del data["plan"]["layout"]["tp"]


def broken_day(data: dict[str, Any]) -> None:
    """Spoil the day."""
    data["request"]["day"] = "tomorrow"


def broken_request(data: dict[str, Any]) -> None:
    """Spoil the scenario."""
    data["request"]["scenario"]["workload"]["tokens"] = "5 bananas"


def broken_catalog(data: dict[str, Any]) -> None:
    """Leave the catalog out."""
    del data["request"]["catalog"]


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (
            broken_plan,
            [("missing-key", "plan.layout.tp"), ("wrong-type", "plan.nodes")],
        ),
        (broken_day, [("wrong-value", "request.day")]),
        (broken_request, [("unknown-unit", "workload.tokens")]),
        (broken_catalog, [("missing-key", "request.catalog")]),
    ],
)
def test_every_fault_has_its_place(
    tmp_path: Path,
    spoil: Callable[[dict[str, Any]], None],
    told: list[tuple[str, str]],
) -> None:
    """Tests that all faults of a changed file are told with file, line and path."""
    data = json.loads(result_as_json(solved()))
    spoil(data)
    path = written(tmp_path, solved(), **data)
    found = faults(path)
    assert sorted((code, at or "") for code, _, at in found) == sorted(told)
    assert all((where or "").startswith(f"{path}:") for _, where, _ in found)


def test_no_file_and_no_json(tmp_path: Path) -> None:
    """Tests that a missing file and one that is no JSON are told as such."""
    (code, _, _), *_ = faults(tmp_path / "none.json")
    assert code == "file-not-found"
    (tmp_path / "text.json").write_text("Rent 4 nodes", encoding="utf-8")
    ((code, where, _),) = faults(tmp_path / "text.json")
    assert code == "json-syntax"
    assert where == f"{tmp_path / 'text.json'}:1:1"


@pytest.mark.parametrize(
    ("place", "value", "code"),
    [
        (("nodes",), -4, "out-of-range"),
        (("steps",), 10**400, "out-of-range"),
        (("layout", "micro_batch"), 0, "out-of-range"),
        (("layout", "layers_per_stage"), [-1], "out-of-range"),
        (("step_time_s",), 0, "out-of-range"),
        (("cost_usd",), -1, "out-of-range"),
        (("cost_parts_usd", "compute"), -1, "out-of-range"),
        (("step_time_parts_s",), {}, "missing-key"),
        (("memory_gib",), {}, "missing-key"),
        (("memory_gib", "capacity"), 0, "out-of-range"),
        (("order_date",), "soon", "wrong-value"),
        (("layout", "rollout_nodes"), 10**39, "out-of-range"),
        (("layout", "precision"), "bf61", "wrong-value"),
        (("purchase",), "gift", "wrong-value"),
        (("input", "loader_cores_needed"), {"a": 1}, "wrong-type"),
        (("input", "read_gb_per_s"), "$(id)", "wrong-type"),
        (("slice",), {"card": "a30"}, "missing-key"),
        (("batch_ramp",), {"from": 0}, None),
        (("nodes",), 3, "plan-changed"),
        (("layout", "dp"), 7, "plan-changed"),
        (("layout", "layers_per_stage"), [], "plan-changed"),
        (("offer",), "nobody/nowhere", "plan-changed"),
        (("cost_usd",), 1.0, "plan-changed"),
        (("step_time_s",), 1e-3, "plan-changed"),
    ],
)
@pytest.mark.parametrize("of_chain", [False, True])
def test_an_edited_plan_is_refused(
    tmp_path: Path,
    place: tuple[str, ...],
    value: Any,
    code: str | None,
    *,
    of_chain: bool,
) -> None:
    """Tests that no figure of a plan, or of a phase, can be changed unseen."""
    result = solved()
    if of_chain:
        scenario, result = apart()
        result = replace(result, request=answer_request(scenario))
    data = json.loads(result_as_json(result))
    part = data["phases"][1]["plan"] if of_chain else data["plan"]
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    told = faults(written(tmp_path, result, **data))
    codes = {"missing-key", "wrong-type"} if code is None else {code}
    assert {each for each, _, _ in told} == codes
    assert all((where or "").count(":") >= 2 for _, where, _ in told)
    if code != "plan-changed":
        above = "phases[1].plan" if of_chain else "plan"
        assert all((at or "").startswith(f"{above}.{place[0]}") for _, _, at in told)


def test_a_plan_of_another_catalog_is_not_held_to_this_one(tmp_path: Path) -> None:
    """Tests that figures of another catalog are told by a notice alone."""
    request = dict(solved().request or {})
    request["catalog"] = {"digest": "another", "folders": []}
    data = json.loads(result_as_json(solved()))
    data["plan"]["cost_usd"] = 1.0
    data["request"] = request
    (notice,) = read_plan(written(tmp_path, solved(), **data)).notices
    assert notice.id == "notice.plan.catalog"


@pytest.mark.parametrize("versions", [None, "0.1", 3, [], {"gpuplan": []}])
def test_versions_may_be_anything(tmp_path: Path, versions: Any) -> None:
    """Tests that a file without its versions is one of another version."""
    path = written(tmp_path, solved(), versions=versions)
    assert [n.id for n in read_plan(path).notices] == ["notice.plan.version"]


JUNK = (None, -1, 0, 1.5, 1e308, 10**400, "", "x", [], {}, [1], {"a": 1}, True)
SEEN = ("plan", "leases", "moves", "total", "request", "versions", "phases")


def places_in(data: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in JSON data, of lists the first two."""
    found: list[tuple[Any, ...]] = []
    items = data.items() if isinstance(data, dict) else enumerate(data[:2])
    for key, value in items:
        found.append((*above, key))
        if isinstance(value, dict | list):
            found += places_in(value, (*above, key))
    return found


@cache
def answers() -> tuple[dict[str, Any], ...]:
    """Plans whose files have as many kinds of parts as there are."""
    bought = {"buy_usd_per_node": 90_000, "years": 4, "usd_per_gpu_hour": None}
    jobs = (
        job(),
        job(
            workload={"method": "grpo", "tokens": None, "samples": 50_000},
            constraints={"memory_headroom": "5%"},
        ),
        job([{**A100, **bought}], {"purchase": ["bought"]}),
    )
    found = [answer(each, catalog(), alternatives=0) for each in jobs]
    scenario, chain = apart()
    found.append(replace(chain, request=answer_request(scenario)))
    assert all(each.status == "optimal" for each in found)
    return tuple(json.loads(result_as_json(each)) for each in found)


@settings(max_examples=60)
@given(data=st.data())
def test_no_edited_file_breaks_what_reads_it(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Tests that junk anywhere, of any catalog, is a told fault or a plan to act on."""
    edited = copy.deepcopy(data.draw(st.sampled_from(answers())))
    edited["request"]["catalog"]["digest"] = data.draw(
        st.sampled_from([edited["request"]["catalog"]["digest"], "another"])
    )
    seen = {key: edited[key] for key in SEEN if edited.get(key)}
    *way, last = data.draw(st.sampled_from(places_in(seen)))
    part = edited
    for key in way:
        part = part[key]
    part[last] = data.draw(st.sampled_from(JUNK))
    path = tmp_path_factory.mktemp("edited") / "plan.json"
    path.write_text(json.dumps(edited), encoding="utf-8")
    try:
        acting = acting_on_file(read_plan(path))
        route = route_of(acting).as_dict()
    except InputError as error:
        assert all(issue.message for issue in error.issues)
    else:
        assert route["steps"]
