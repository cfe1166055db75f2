"""The training data as people write it: how much, where it lies, how it is read."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, Tag

from solver.scenario.quantities import (
    BatchSequences,
    Bytes,
    BytesPerToken,
    DecodeRate,
    DocumentTokens,
    LoaderCount,
    PositiveGbps,
    SampleBytes,
    Samples,
    Text,
    TextBytesPerToken,
    TokenCount,
)
from solver.scenario.spec import Form, Names, Spec, Spelled

Packing = Literal["packed", "padded"]
DataKind = Literal["text", "image", "audio", "video"]
Decode = Literal["none", "cpu", "gpu"]


class TextSpec(Spec):
    """Tokens, given by the bytes of the text that they are made of."""

    text: Bytes
    """Size of the text, UTF-8 and not compressed, as `2 TB`; a bare number is GB."""
    bytes_per_token: TextBytesPerToken | None = None
    """Bytes of text for each token, measured with your tokenizer on your text. Default:
    English by the size of the vocabulary, 3.17 of 32,000 to 3.94 of 128,000."""


class BatchRampSpec(Spec):
    """A batch that grows in equal steps, as Megatron-LM's --rampup-batch-size."""

    start: BatchSequences = Field(alias="from")
    """Sequences of the first step."""
    step: BatchSequences
    """Sequences by which the batch grows."""
    samples: Samples
    """Sequences that are seen until the batch is whole."""


TokensWritten = Annotated[
    Annotated[TokenCount, Tag("<value>")] | Annotated[TextSpec, Tag("<mapping>")], Form
]
"""A number of tokens, a rule that gives one, or the text that has them."""


class DataFileSpec(Spec):
    """The training data."""

    size: Bytes | None = None
    """Size of the data set, as `8 TB`; a bare number is GB. Default: tokens of one
    epoch x `bytes_per_token`."""
    bytes_per_token: BytesPerToken | None = None
    """Bytes read for each token. Default: 4, or those of `sample_bytes`."""
    kind: Annotated[DataKind, Spelled] = "text"
    """text (token ids, nothing to decode), image, audio or video: what a sample has
    beside its tokens, and loaders decode. Default: text."""
    sample_bytes: SampleBytes | None = None
    """Stored size of a sample, as `117 kB`; a bare number is bytes. Default of images:
    117 kB, the mean of ImageNet."""
    decode: Annotated[Decode, Spelled] | None = None
    """none, cpu (by loader workers) or gpu (DALI, nvJPEG, NVDEC). Default: none for
    text, else cpu."""
    decode_rate: DecodeRate | None = None
    """Samples/s that a worker, or a GPU, decodes and transforms. Default of images: 219
    a worker and 6,000 a GPU, measured on ImageNet; audio and video have none."""
    workers: LoaderCount | None = None
    """Loader workers for each GPU, of which a core runs one. Default: as many as the
    node has cores."""
    mean_document_tokens: DocumentTokens | None = None
    """Mean length of a document, tokens: what attention covers where kernels mask
    documents. Default: the whole sequence. With `samples` it
    is also the tokens of a sample, up to `sequence_length`."""
    location: Text | None = None
    """Region that the data lies in: provider/region. Copying it to another region
    takes time and has a price."""
    storage: Text | None = None
    """Tier that it lies in there, as aws-s3-standard-ia, if reading it has a price."""
    residency: Names = ()
    """Countries in which the data may lie, and so be trained on: two-letter codes,
    names, or EU or EEA for all their members. Default: any."""
    transfer: PositiveGbps | None = None
    """Rate of a copy between regions, Gb/s. Default: 10 Gb/s, an assumption."""
