"""The keys of a Hugging Face ``config.json``, read one by one with their faults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from solver.errors import IssueLog
from solver.scenario.json_places import KeyPlaces

__all__ = ["EXPERT_KEYS", "Config", "Size"]

MAX_SIZE = 10**9

TEXT_KEYS = ("model_type", "hidden_act", "activation_function", "torch_dtype", "dtype")
RATE_KEYS = (
    "dropout",
    "attention_dropout",
    "hidden_dropout",
    "residual_dropout",
    "resid_pdrop",
    "attn_pdrop",
    "embd_pdrop",
    "rms_norm_eps",
    "layer_norm_eps",
    "layer_norm_epsilon",
    "initializer_range",
    "rope_theta",
)
PART_KEYS = ("text_config", "attn_config", "ffn_config", "vision_config")
EXPERT_KEYS = (
    "num_local_experts",
    "num_experts",
    "n_routed_experts",
    "moe_num_experts",
    "num_experts_per_tok",
    "moe_intermediate_size",
    "n_shared_experts",
)


class Size(int):
    """A size that remembers the key under which it was read."""

    key = ""


class Config:
    """The keys of a config.json, and the faults met in reading them.

    Parameters
    ----------
    data
        The file's content.
    where
        What to call the file in messages.
    prefix
        Path of the data in the file, for models whose text part is nested.
    log
        Receives the faults.
    places
        Where the keys stand in the file.
    """

    def __init__(
        self,
        data: Mapping[str, Any],
        where: str,
        prefix: str,
        log: IssueLog,
        places: KeyPlaces,
    ) -> None:
        self.data = data
        self.where = where
        self.prefix = prefix
        self.log = log
        self.places = places

    def size(self, *keys: str, default: int | None = None) -> int:
        """Return a whole number under the first of some keys that is there.

        Without a default a missing key is a fault.
        """
        for key in keys:
            value = self.data.get(key)
            if value is None:
                continue
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not whole or not 0 <= value <= MAX_SIZE:
                self.fault("wrong-type", "expected a whole number", key)
                return 1
            size = Size(value)
            size.key = key
            return size
        if default is None:
            message = f"'{keys[0]}' is needed" + (
                f" (or {', '.join(keys[1:])})" if len(keys) > 1 else ""
            )
            self.fault("missing-key", message, keys[0])
            return 1
        return default

    def positions(self, key: str, value: str) -> list[int] | None:
        """Return where a value stands in a list; None if there is no such list."""
        found = self.data.get(key)
        if found is None:
            return None
        if not isinstance(found, list):
            self.fault("wrong-type", "expected a list", key)
            return None
        return [place for place, item in enumerate(found) if item == value]

    def flag(self, key: str, *, default: bool) -> bool:
        """Return a true or false value."""
        value = self.data.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.fault("wrong-type", "expected true or false", key)
            return default
        return value

    def part(self, key: str) -> Config:
        """Return a nested mapping, empty if there is none."""
        value = self.data.get(key)
        if value is not None and not isinstance(value, dict):
            self.fault("wrong-type", "expected an object", key)
        nested = value if isinstance(value, dict) else {}
        prefix = f"{self.prefix}{key}."
        return Config(nested, self.where, prefix, self.log, self.places)

    def completed(self, usual: Mapping[str, Any]) -> Config:
        """Return these keys, and some values where a key is missing."""
        data = {**usual, **self.data}
        return Config(data, self.where, self.prefix, self.log, self.places)

    def has_dropout(self, *keys: str) -> bool:
        """Return whether any of some dropout rates is above zero."""
        rates = [self.data.get(key) for key in keys]
        return any(isinstance(rate, int | float) and rate > 0 for rate in rates)

    def fault(self, code: str, message: str, key: str, hint: str | None = None) -> None:
        """Log a fault of a key."""
        path = f"{self.prefix}{key}"
        where = self.places.where(self.where, tuple(path.split(".")))
        self.log.add(code, message, where, path, hint)

    def check_kinds(self) -> None:
        """Log values of well-known keys that are of another kind than they can be."""
        kinds: tuple[tuple[tuple[str, ...], tuple[type, ...], str], ...] = (
            (TEXT_KEYS, (str,), "expected text"),
            (RATE_KEYS, (int, float), "expected a number"),
            (PART_KEYS, (dict,), "expected an object"),
        )
        for keys, types, expected in kinds:
            for key in keys:
                value = self.data.get(key)
                wrong = isinstance(value, bool) or not isinstance(value, types)
                if value is not None and wrong:
                    self.fault("wrong-type", expected, key)
