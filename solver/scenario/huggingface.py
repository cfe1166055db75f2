"""Hugging Face ``config.json`` to an architecture.

Model types name the same sizes differently: `solver.scenario.dense_types` and
`solver.scenario.expert_types` have how each type is read.
What cannot be told from the file is not guessed: it is a fault that names the key.

Sources: the configuration classes of Hugging Face's ``transformers`` (names and
defaults of keys), as general knowledge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from solver.catalog.bounds import bounds_of
from solver.catalog.schema import Architecture
from solver.catalog.transformer_rules import size_faults
from solver.errors import MAX_SHOWN, IssueLog, nearest, shown
from solver.scenario.config_keys import EXPERT_KEYS, Config, Size
from solver.scenario.dense_types import DENSE_READERS, Sizes
from solver.scenario.expert_types import EXPERT_READERS
from solver.scenario.json_files import read_json
from solver.scenario.json_places import KeyPlaces

__all__ = ["MODEL_TYPES", "architecture_from_config", "read_config"]

READERS: dict[str, Callable[[Config], Sizes]] = DENSE_READERS | EXPERT_READERS
"""Model type to how it is read."""

MODEL_TYPES = tuple(READERS)
LAYER_KEYS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers")


def read_config(file: Traversable | Path, name: str) -> Architecture:
    """Return the architecture that a config.json describes.

    Parameters
    ----------
    file
        The file.
    name
        What to call it in messages.

    Raises
    ------
    InputError
        It cannot be read, is of an unknown type, or lacks sizes.
    """
    data, places = read_json(file, name)
    return architecture_from_config(data, name, places)


def architecture_from_config(
    data: Mapping[str, Any], name: str, places: KeyPlaces | None = None
) -> Architecture:
    """Return the architecture that the content of a config.json describes.

    Parameters
    ----------
    data
        The content.
    name
        What to call the file in messages.
    places
        Where its keys stand.

    Raises
    ------
    InputError
        It is of an unknown type, or lacks sizes.
    """
    log = IssueLog()
    config = Config(data, name, "", log, places or KeyPlaces())
    config.check_kinds()
    log.raise_if_any()
    model_type = data.get("model_type")
    whole = model_type in READERS and any(key in data for key in LAYER_KEYS)
    if "text_config" in data and not whole:
        config = config.part("text_config")
        config.check_kinds()
        model_type = config.data.get("model_type", model_type)
    if not isinstance(model_type, str) or model_type not in READERS:
        written = model_type if isinstance(model_type, str) else "nothing"
        message = (
            f"the model type {shown(written)} is not known; give the sizes instead"
        )
        hint = nearest(written[:MAX_SHOWN], READERS)
        config.fault("unknown-model-type", message, "model_type", hint)
        log.raise_if_any()
    if model_type not in EXPERT_READERS:
        _refuse_experts(config, str(model_type))
    sizes = READERS[str(model_type)](config)
    log.raise_if_any()
    found = _architecture(sizes, data, config)
    _check(sizes, config)
    log.raise_if_any()
    return found


def _refuse_experts(config: Config, model_type: str) -> None:
    """Log experts in a model of a type that has none, rather than overlook them."""
    for key in EXPERT_KEYS:
        if config.data.get(key):
            known = ", ".join(EXPERT_READERS)
            message = f"the type {model_type} has no experts; those that do: {known}"
            config.fault("contradiction", message, key)


def _architecture(
    sizes: Sizes, data: Mapping[str, Any], config: Config
) -> Architecture:
    """Return the record of some sizes, each within its limits."""
    name = config.where
    title = data.get("_name_or_path")
    title = title if isinstance(title, str) and title.strip() else name
    try:
        return Architecture(
            id="config-json",
            name=title,
            family=str(data.get("model_type", "")),
            source=f"Hugging Face config.json: {name}",
            **sizes,
        )
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            field = str(detail["loc"][0])
            bounds = bounds_of(Architecture, field)
            message = f"{field}: expected {bounds}, not {shown(detail['input'])}"
            config.fault("out-of-range", message, _key_of(sizes, field))
        config.log.raise_if_any()
        raise


def _check(sizes: Sizes, config: Config) -> None:
    """Log sizes that do not go together."""
    derived = not isinstance(sizes["head_dim"], Size) and "kv_lora_rank" not in sizes
    evenly = sizes["head_dim"] == sizes["hidden"] // sizes["heads"]
    rest = {"head_dim": None} if derived and evenly else {}
    for fault in size_faults({**sizes, **rest}):
        config.fault(fault.code, fault.message, _key_of(sizes, fault.field))


def _key_of(sizes: Sizes, field: str) -> str:
    """Return the key of the file under which a size stands."""
    size = sizes.get(field)
    return size.key if isinstance(size, Size) else field
