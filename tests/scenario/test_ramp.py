"""How a batch ramp is written, and what is wrong with it."""

from __future__ import annotations

import pytest

from solver.performance.inputs import BatchRamp
from solver.physics_inputs import job_of
from tests.scenario.reading import faults, notice_ids, only_fault, read, shipped_catalog


def scenario(ramp: str, batch: str = "1024", more: str = "") -> str:
    """A scenario with that ramp."""
    return (
        "model: llama-2-7b\nworkload: {tokens: 300B, sequence_length: 2048, "
        f"global_batch_size: {batch}, batch_ramp: {ramp}}}\n{more}"
    )


def test_a_ramp_is_read_and_told() -> None:
    """Tests the ramp of the job, and what the plan will say of it."""
    found = read(scenario("{from: 16, step: 16, samples: 6.3M}"))
    job = job_of(found, shipped_catalog())
    assert job.batch_ramp == BatchRamp(16, 16, 6.3e6)
    (notice,) = found.notices
    assert notice.text.startswith(
        "The batch grows from 16 by 16 to 1,024, in 63 steps of 100,000 sequences each."
    )
    assert notice.values["unit"] == 16


def test_samples_that_do_not_divide_are_repaired_openly() -> None:
    """Tests that 6M sequences over 63 steps are told as whole batches."""
    found = read(scenario("{from: 16, step: 16, samples: 6M}"))
    assert notice_ids(found) == ["notice.batch.ramp.uneven"]
    assert "another 95,238.1 are seen, in whole batches" in found.notices[0].text


def test_no_ramp_is_none() -> None:
    """Tests that a constant batch stays one."""
    assert read(scenario("null")).workload.batch_ramp is None


@pytest.mark.parametrize(
    ("ramp", "code", "key", "hint"),
    [
        ("{from: 16, step: 32, samples: 6M}", "not-divisible", "from", "32"),
        ("{from: 40, step: 48, samples: 6M}", "not-divisible", "from", "16 or 64"),
        ("{from: 1000, step: 900, samples: 6M}", "not-divisible", "from", "124"),
        ("{from: 1024, step: 16, samples: 6M}", "contradiction", "from", None),
        ("{from: 16, step: 16, samples: 1B}", "contradiction", "samples", None),
        ("{from: 16, step: 16}", "missing-key", "samples", None),
        ("{from: 0, step: 16, samples: 6M}", "out-of-range", "from", None),
        ("{from: 16, step: -1, samples: 6M}", "out-of-range", "step", None),
        ("{from: 16, stp: 16, step: 16, samples: 6M}", "unknown-key", "stp", "step"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    ramp: str, code: str, key: str, hint: str | None
) -> None:
    """Tests each fault by itself, with the nearest that works."""
    found = only_fault(scenario(ramp))
    assert (found.code, found.path) == (code, f"workload.batch_ramp.{key}")
    assert found.hint == hint


def test_a_ramp_of_too_many_steps_is_refused() -> None:
    """Tests that a ramp stays one that can be timed."""
    found = only_fault(scenario("{from: 1, step: 1, samples: 6M}", "20000"))
    assert (found.code, found.path) == ("out-of-range", "workload.batch_ramp.step")


def test_the_hint_is_a_ramp() -> None:
    """Tests that what a refusal names is taken."""
    for start in (16, 64):
        read(scenario(f"{{from: {start}, step: 48, samples: 6M}}"))
    for batch in (1000, 1048):
        read(scenario("{from: 40, step: 48, samples: 6M}", str(batch)))


def test_a_tolerance_reaches_the_nearest_batch() -> None:
    """Tests that a range of batches is refused only where no batch of it is reached."""
    ramp = "{from: 40, step: 48, samples: 6M}"
    read(scenario(ramp, "{sequences: 1024, tolerance: 5%}"))
    narrow = faults(scenario(ramp, "{sequences: 1024, tolerance: 1%}"))
    assert [issue.code for issue in narrow] == ["not-divisible"]


def test_a_ramp_is_of_the_first_phase() -> None:
    """Tests that later phases start with a whole batch, unless they state a ramp."""
    phases = (
        "phases: [{name: a}, {name: b, workload: {tokens: 1B}}, {name: c, workload: "
        "{batch_ramp: {from: 512, step: 512, samples: 1k}}}]\n"
    )
    found = read(scenario("{from: 16, step: 16, samples: 6M}", more=phases))
    ramps = [p.scenario.workload.batch_ramp for p in found.phases]
    assert [r and r.start for r in ramps] == [16, None, 512]
