"""Tests where the keys of a JSON text stand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from solver.errors import InputError
from solver.scenario.huggingface import read_config
from solver.scenario.json_places import key_places, nested_too_deep

TEXT = r"""{
  "a": {"b": [1, {"c": "}, \"d\": {"}, {"c": 2}]},
  "e,": null, "a": 3
}
"""


def test_places() -> None:
    """Tests keys in objects and lists, with brackets and commas in text."""
    places = key_places(TEXT)
    assert places.marks == {
        ("a",): (2, 3),
        ("a", "b"): (2, 9),
        ("a", "b", 1, "c"): (2, 19),
        ("a", "b", 2, "c"): (2, 41),
        ("e,",): (3, 3),
    }
    assert places.twice == [(("a",), (3, 15))]
    assert places.where("f", ("a", "b", 0)) == "f:2:9"
    assert places.where("f", ("x",)) == "f"


def test_depth() -> None:
    """Tests that the place of the bracket too many is found."""
    assert nested_too_deep("[" * 60 + "]" * 60) is None
    assert nested_too_deep("[\n" * 61) == (61, 1)


LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 172,
    "num_attention_heads": 8,
    "num_hidden_layers": 4,
    "vocab_size": 1000,
}


@pytest.mark.parametrize(
    ("more", "code", "path"),
    [
        ('"hidden_act": true', "wrong-type", "hidden_act"),
        ('"text_config": 7', "wrong-type", "text_config"),
        ('"attention_dropout": "no"', "wrong-type", "attention_dropout"),
        ('"num_local_experts": 8', "contradiction", "num_local_experts"),
        ('"num_hidden_layers": 5', "duplicate-key", "num_hidden_layers"),
        ('"tie_word_embeddings": 1', "wrong-type", "tie_word_embeddings"),
        ('"num_key_value_heads": 3', "not-divisible", "num_key_value_heads"),
        ('"max_position_embeddings": -1', "wrong-type", "max_position_embeddings"),
    ],
)
def test_faults_have_the_line_of_their_key(
    tmp_path: Path, more: str, code: str, path: str
) -> None:
    """Tests that what is wrong with a config.json is told at its line."""
    lines = [f'  "{key}": {json.dumps(value)},' for key, value in LLAMA.items()]
    text = "\n".join(["{", *lines, f"  {more}", "}"])
    file = tmp_path / "config.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_config(file, "config.json")
    (issue,) = caught.value.issues
    assert (issue.code, issue.path) == (code, path)
    assert issue.where == "config.json:8:3"
