"""Tests of making architecture entries of Hugging Face config.json files.

The files under tests/data/configs hold the sizes of real models, one or more for each
family of the catalog, in the keys of their type; each is named as the catalog's entry.
"""

import json
from dataclasses import fields
from pathlib import Path

import pytest

from solver.catalog.load import load_catalog
from solver.errors import InputError
from solver.importing.models import import_model
from solver.importing.prices import ImportOptions
from solver.performance.inputs import TransformerShape
from solver.performance.transformer import parameter_count
from solver.physics_inputs import shape_of
from solver.scenario.huggingface import MODEL_TYPES, read_config
from tests.project.source import ROOT

CATALOG = load_catalog(environment={})
CONFIGS = {file.stem: file for file in (ROOT / "tests/data/configs").glob("*.json")}

WITHOUT_CONFIG = {"GPT-3", "MT-NLG"}
"""Families that were never released; GPT-2's type has their sizes."""

DIFFERENT = {
    # what a config says otherwise than the entry, and why that is right
    "gemma-3-4b-it": {"vocab"},  # 64 rows more than the padded
    "gemma-4-26b-a4b": {"shared_experts"},
    "mistral-7b-v0.1": {"sliding_window"},
    "mt-nlg-530b": {"vocab"},
    "olmo-7b": {"layer_norm"},  # a norm without weights
    "phi-3-medium-14b": {"sliding_window"},
    "phi-3-small-7b": {"linear_bias", "layer_norm"},
    "phi-3.5-moe": {"qkv_bias", "layer_norm"},
    "qwen1.5-7b": {"vocab"},
    "starcoder2-15b": {"sliding_window"},
}

COUNTED_OTHERWISE = {"glm-4.5", "grok-1"}
"""Their published sizes leave tables out; see tests/catalog/test_shipped.py."""

PUBLISHED = {
    # model cards, where the catalog's entry has no published size: memory
    "codellama-34b": 33.7e9,
    "falcon-7b": 6.92e9,
    "falcon3-7b-base": 7.46e9,
    "gemma-2-9b": 9.24e9,
    "gpt-j-6b": 6.05e9,
    "llama-3.1-8b": 8.03e9,
    "llama-4-scout-17b-16e-instruct": 109e9 - 1.2e9,  # less the vision part
    "minimax-m2.5": 229e9,
    "mistral-7b-v0.1": 7.24e9,
    "olmo-7b": 6.89e9,
    "phi-2": 2.78e9,
    "phi-4": 14.66e9,
    "phi-4-mini-instruct": 3.84e9,
    "pythia-6.9b": 6.86e9,
    "qwen2.5-7b": 7.616e9,
    "qwen3-8b": 8.19e9,
    "qwq-32b": 32.76e9,
    "smollm2-1.7b": 1.71e9,
    "stablelm-3b-4e1t": 2.795e9,
    "tiny-llama-1.1b": 1.1e9,
}


@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_sizes_are_those_of_the_catalog(name: str) -> None:
    """Tests every size that the performance model takes."""
    read, entry = read_config(CONFIGS[name], name), CATALOG.architecture(name)
    found = {
        field.name
        for field in fields(TransformerShape)
        if getattr(read, field.name) != getattr(entry, field.name)
    }
    assert found == DIFFERENT.get(name, set())


REPORTED = {name: CATALOG.architecture(name).reported_params_b for name in CONFIGS}
COMPARED = sorted(
    {name for name, size in REPORTED.items() if size} - COUNTED_OTHERWISE | {*PUBLISHED}
)


@pytest.mark.parametrize("name", COMPARED)
def test_parameters_are_the_published_ones(name: str) -> None:
    """Tests that counts are within 0.5 % of, or round to, the published figure."""
    count = parameter_count(shape_of(read_config(CONFIGS[name], name)))
    published, rounding = PUBLISHED.get(name), 0.0
    if published is None:
        size = REPORTED[name] or 0.0
        digits = len(str(size).removesuffix(".0").partition(".")[2])
        published, rounding = size * 1e9, 0.5 * 10 ** (9 - digits)
    assert abs(count - published) <= max(0.005 * published, rounding), count


def test_only_models_without_a_published_size_are_left_out() -> None:
    """Tests that what is not compared is named."""
    assert set(CONFIGS) - set(COMPARED) - COUNTED_OTHERWISE == {
        # approximate, or published without a count
        *("gemma-3-4b-it", "gemma-4-26b-a4b", "glm-5", "qwen3.5-27b"),
        *("mimo-7b-base", "gpt-neo-2.7b"),
    }


def test_every_family_has_a_config() -> None:
    """Tests that no family of the catalog was forgotten."""
    families = {entry.family for entry in CATALOG.entries("architectures").values()}
    tried = {CATALOG.architecture(name).family for name in CONFIGS}
    assert families - WITHOUT_CONFIG <= tried
    types = set()
    for file in CONFIGS.values():
        data = json.loads(file.read_text(encoding="utf-8"))
        types |= {data["model_type"], data.get("text_config", {}).get("model_type")}
    assert types - {None} <= set(MODEL_TYPES)
    assert len(types) > 35


@pytest.mark.parametrize("name", ["qwen2.5-7b", "deepseek-v3", "gemma-3-4b-it"])
def test_an_entry_reads_back(tmp_path: Path, name: str) -> None:
    """Tests that what is written is what was read, and found by its name."""
    done = import_model(CONFIGS[name], tmp_path / "mine", "my-model")
    catalog = load_catalog([tmp_path / "mine"], environment={})
    entry = catalog.architecture("my-model")
    assert entry == done.architecture
    read = read_config(CONFIGS[name], name)
    assert shape_of(entry) == shape_of(read)
    assert (entry.max_seq, entry.note) == (read.max_seq, read.note)
    assert done.count.total == parameter_count(shape_of(read))
    assert not done.replaces
    assert entry.source.startswith("Hugging Face config.json")


def test_names(tmp_path: Path) -> None:
    """Tests where an id comes from: the option, the model, or the folder."""
    config = json.loads(CONFIGS["qwen3-8b"].read_text(encoding="utf-8"))
    folder = tmp_path / "My Model"
    folder.mkdir()
    file = folder / "config.json"
    file.write_text(json.dumps(config), encoding="utf-8")
    assert import_model(folder, tmp_path / "a").file == "architectures/my-model.yaml"
    config["_name_or_path"] = "Qwen/Qwen3-8B"
    file.write_text(json.dumps(config), encoding="utf-8")
    done = import_model(file, tmp_path / "a", options=ImportOptions(as_of="2026-10"))
    assert (done.architecture.id, done.architecture.hf_id) == (
        "qwen3-8b",
        "Qwen/Qwen3-8B",
    )
    assert (done.replaces, done.architecture.as_of) == (True, "2026-10")
    config["_name_or_path"] = "/models/somewhere/here"
    file.write_text(json.dumps(config), encoding="utf-8")
    assert import_model(file, tmp_path / "b").architecture.id == "my-model"


def test_a_path_is_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a file named as folder/config.json is called as its folder."""
    monkeypatch.chdir(tmp_path)
    folder = Path("Qwen3-8B")
    folder.mkdir()
    text = CONFIGS["qwen3-8b"].read_text(encoding="utf-8")
    config = json.loads(text)
    config.pop("_name_or_path", None)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    for number, path in enumerate((folder, folder / "config.json")):
        entry = import_model(path, Path(f"out{number}")).architecture
        assert (entry.id, entry.name, entry.hf_id) == ("qwen3-8b", "qwen3-8b", "")


def test_an_entry_is_not_replaced_unasked(tmp_path: Path) -> None:
    """Tests that a folder may exist, the entry not, unless asked for."""
    out = tmp_path / "mine"
    import_model(CONFIGS["phi-2"], out, "m")
    before = (out / "architectures/m.yaml").read_bytes()
    import_model(CONFIGS["gpt2-xl"], out, "other")
    with pytest.raises(InputError, match="--update") as caught:
        import_model(CONFIGS["gpt2-xl"], out, "m")
    assert caught.value.issues[0].code == "file-exists"
    assert (out / "architectures/m.yaml").read_bytes() == before
    import_model(CONFIGS["gpt2-xl"], out, "m", ImportOptions(update=True))
    assert load_catalog([out], shipped=False).architecture("m").layers == 48


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "json-syntax"),
        ('{"model_type": "lama"}', "unknown-model-type"),
        ('{"model_type": "llama", "hidden_size": 64}', "missing-key"),
        ('{"model_type": "mamba", "num_hidden_layers": 3}', "unknown-model-type"),
    ],
)
def test_files_that_are_none(tmp_path: Path, text: str, code: str) -> None:
    """Tests that wrong files leave nothing behind."""
    file = tmp_path / "x.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        import_model(file, tmp_path / "out")
    assert {issue.code for issue in caught.value.issues} == {code}
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="no such file"):
        import_model(tmp_path / "none.json", tmp_path / "out")
