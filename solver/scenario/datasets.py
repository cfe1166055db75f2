"""Tokens to compute, from what is known of the data: text, samples, or a rule.

*Data tokens* are those of the text or the samples. With padding more are computed: each
sample pays a whole sequence.
"""

from __future__ import annotations

from math import log

from solver.catalog.schema import Architecture
from solver.scenario.data_schema import TextSpec
from solver.scenario.parameters import active_parameters
from solver.scenario.quantities import TOKENS
from solver.scenario.reading import Reading
from solver.scenario.schema import ScenarioFile
from solver.units import GB
from solver.yaml_source import DataPath

__all__ = [
    "TOKENS_PER_PARAMETER",
    "english_bytes_per_token",
    "resolve_tokens",
    "useful_share",
]

WORKLOAD: DataPath = ("workload",)
MEAN: DataPath = ("data", "mean_document_tokens")

TOKENS_PER_PARAMETER = 20
"""Compute-optimal training (Hoffmann et al. 2022, arXiv 2203.15556)."""

SMALL_VOCABULARY = (32_000, 3.17)
LARGE_VOCABULARY = (128_000, 3.94)
"""Rows and characters a token of English: the tokenizers of Llama 2 and 3, as the
latter's paper states them (Grattafiori et al. 2024, arXiv 2407.21783, section 3.2). A
character of English is a byte."""


def resolve_tokens(
    file: ScenarioFile,
    sequence_length: int,
    architecture: Architecture | None,
    reading: Reading,
) -> float | None:
    """Return the tokens to compute, or None after logging why there are none.

    Parameters
    ----------
    file
        The scenario as written.
    sequence_length
        Tokens a sequence.
    architecture
        What is trained; None if the scenario's model is wrong.
    reading
        Takes faults and notices.
    """
    spec = file.workload
    if spec.tokens is None and spec.samples is None:
        message = "'tokens' is needed, or 'samples' of a data set"
        path = (*WORKLOAD, "tokens")
        reading.fault("missing-key", message, path, depends_on=[(*WORKLOAD, "samples")])
        return None
    if spec.tokens is None:
        return _sampled(file, sequence_length, reading)
    _check_conflicts(file, reading)
    tokens = _data_tokens(file, architecture, reading)
    if tokens is None or spec.packing != "padded":
        return tokens
    return _padded(tokens, file, sequence_length, reading)


def useful_share(file: ScenarioFile, sequence_length: int) -> float | None:
    """Return the part of the computed tokens that is data; None if it is not known."""
    if file.workload.packing != "padded":
        return 1.0
    mean = file.data.mean_document_tokens
    return None if mean is None else min(1.0, mean / sequence_length)


def english_bytes_per_token(vocabulary: int) -> float:
    """Return the bytes of English text for each token of a vocabulary of that size.

    Notes
    -----
    Linear in the logarithm of the size between two published tokenizers, and theirs
    beyond; two digits after the point, as it is told.
    """
    (small, low), (large, high) = SMALL_VOCABULARY, LARGE_VOCABULARY
    between = log(max(vocabulary, 1) / small) / log(large / small)
    return round(low + (high - low) * min(max(between, 0.0), 1.0), 2)


def _check_conflicts(file: ScenarioFile, reading: Reading) -> None:
    """Log what cannot stand beside tokens; a text may be read several times."""
    spec = file.workload
    for key in ("samples", "epochs"):
        repeated = key == "epochs" and isinstance(spec.tokens, TextSpec)
        if getattr(spec, key) is not None and not repeated:
            message = f"say tokens or samples and epochs, not tokens and {key}"
            reading.fault("conflicting-keys", message, (*WORKLOAD, key), key=True)


def _data_tokens(
    file: ScenarioFile, architecture: Architecture | None, reading: Reading
) -> float | None:
    """Return the data tokens that are stated, of a text or of the rule."""
    written = file.workload.tokens
    if isinstance(written, TextSpec):
        return _of_text(written, file.workload.epochs or 1.0, architecture, reading)
    if written == "compute-optimal":
        return _compute_optimal(architecture, reading)
    return None if written is None else float(written)


def _of_text(
    written: TextSpec,
    epochs: float,
    architecture: Architecture | None,
    reading: Reading,
) -> float | None:
    """Return the tokens of a text, read so many times."""
    each, kind = written.bytes_per_token, "stated"
    if each is None:
        if architecture is None:
            return None
        each, kind = english_bytes_per_token(architecture.vocab), "english"
    tokens = written.text / each * epochs
    path: DataPath = (*WORKLOAD, "tokens", "text")
    if not TOKENS.allows(tokens):
        message = f"text / bytes a token x epochs: expected {TOKENS}"
        depends = [(*WORKLOAD, "tokens", "bytes_per_token"), (*WORKLOAD, "epochs")]
        reading.fault("out-of-range", message, path, depends_on=depends)
        return None
    reading.notice(
        f"notice.tokens.text.{kind}",
        gb=written.text / GB,
        bytes_per_token=each,
        epochs=epochs,
        tokens=tokens,
        vocabulary=architecture.vocab if architecture is not None else None,
    )
    return tokens


def _compute_optimal(
    architecture: Architecture | None, reading: Reading
) -> float | None:
    """Return the tokens of compute-optimal training."""
    if architecture is None:
        return None
    parameters = active_parameters(architecture)
    tokens = TOKENS_PER_PARAMETER * parameters
    reading.notice(
        "notice.tokens.compute-optimal",
        tokens=tokens,
        parameters=parameters,
        tokens_per_parameter=TOKENS_PER_PARAMETER,
    )
    return tokens


def _padded(
    tokens: float, file: ScenarioFile, sequence_length: int, reading: Reading
) -> float | None:
    """Return the tokens to compute where samples of so many data tokens are padded."""
    useful = useful_share(file, sequence_length)
    if useful is None:
        message = (
            "padding needs the mean length of a sample: 'mean_document_tokens', or "
            "'samples' instead of tokens"
        )
        depends = [(*WORKLOAD, "packing"), (*WORKLOAD, "tokens")]
        reading.fault("missing-key", message, MEAN, depends_on=depends)
        return None
    if not TOKENS.allows(tokens / useful):
        message = f"tokens with their padding: expected {TOKENS}"
        reading.fault("out-of-range", message, (*WORKLOAD, "tokens"), depends_on=[MEAN])
        return None
    reading.notice(
        "notice.tokens.padded",
        data=tokens,
        tokens=tokens / useful,
        mean=file.data.mean_document_tokens,
        length=sequence_length,
        useful=useful,
    )
    return tokens / useful


def _sampled(
    file: ScenarioFile, sequence_length: int, reading: Reading
) -> float | None:
    """Return the tokens to compute of a data set's samples and epochs."""
    spec, mean = file.workload, file.data.mean_document_tokens
    if spec.packing == "packed" and mean is None:
        message = "packed samples need their mean length, 'mean_document_tokens'"
        depends = [(*WORKLOAD, "packing"), (*WORKLOAD, "samples")]
        reading.fault("missing-key", message, MEAN, depends_on=depends)
        return None
    length: float = sequence_length
    if mean is not None and spec.packing != "padded":
        length = min(mean, length)
    samples, epochs = spec.samples or 0.0, spec.epochs or 1.0
    tokens = samples * epochs * length
    if tokens > TOKENS.high:
        message = f"samples x epochs x tokens a sample: expected {TOKENS}"
        path = (*WORKLOAD, "samples")
        depends = [(*WORKLOAD, "epochs"), (*WORKLOAD, "sequence_length")]
        reading.fault("out-of-range", message, path, depends_on=depends)
    reading.notice(
        f"notice.tokens.samples.{_kind(file)}",
        samples=samples,
        epochs=epochs,
        length=length,
        tokens=tokens,
        useful=useful_share(file, sequence_length),
    )
    return tokens


def _kind(file: ScenarioFile) -> str:
    """Return how samples lie in sequences, for the notice."""
    known = file.data.mean_document_tokens is not None
    if file.workload.packing == "padded":
        return "padded" if known else "padded-unknown"
    return "packed" if known else "full"
