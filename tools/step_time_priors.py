"""What is believed of the constants of the step-time model before they are fitted.

Used by tools/fit_calibration.py.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Constant:
    """One number of the catalog that is fitted."""

    owner: str
    """GPU generation or framework."""
    name: str
    prior: float
    """Value that is believed beforehand."""
    spread: float
    """Spread of its logarithm beforehand."""

    @property
    def key(self) -> str:
        """How it is printed."""
        return f"{self.owner}.{self.name}"

    @property
    def most(self) -> float:
        """Largest value: shares and efficiencies are below one."""
        shares = ("gemm", "grouped", "attention", "plain_rate", "backward_rate")
        share = self.name.startswith(shares)
        return 1.0 if share or "_exposed" in self.name else 100.0


PRIORS = """
volta           gemm_16bit            0.69      0.05
ampere          gemm_16bit            0.82      0.05
ampere          attention             0.485     0.05
hopper          gemm_16bit            0.76      0.03
hopper          gemm_fp8              0.75      0.03
hopper          grouped               0.95      0.05
hopper          attention             0.44      0.05
hopper          attention@2024        0.37      0.05
hopper          plain_rate            0.85      0.05
blackwell       gemm_16bit            0.62      0.03
blackwell       gemm_fp8              0.6       0.05
blackwell       gemm_mxfp8            0.6       0.05
blackwell       gemm_nvfp4            0.505     0.05
blackwell       grouped               0.95      0.05
blackwell       attention             0.5       0.05
blackwell-ultra gemm_16bit            0.735     0.03
blackwell-ultra gemm_fp8              0.745     0.05
blackwell-ultra gemm_mxfp8            0.7       0.05
blackwell-ultra gemm_nvfp4            0.4       0.05
blackwell-ultra grouped               0.95      0.025
megatron        elementwise           1.6       0.1
megatron        elementwise@2022      2         0.1
megatron        gaps_s                0.00015   0.15
megatron        gaps_s@2022           0.00015   0.15
megatron        moe_gaps_s            0.0004    0.5
megatron        backward_rate         0.94      0.03
megatron        host_moe_layer_s      0.001     0.1
megatron        host_layer_s@2022     0.00084   0.1
megatron        unfused_passes        1.85      0.1
megatron        loss_bytes            12        0.1
megatron        loss_bytes@2022       21.5      0.1
megatron        cast_passes           2.1       0.1
megatron        permute_passes        5.8       0.1
megatron        expert_casts          1.8       0.2
megatron        accumulate_bytes      4.1       0.1
megatron        ep_factor             1.4       0.1
megatron        straggler             0.0033    0.1
megatron        tp_exposed            0.25      0.15
megatron        dp_exposed            0.28      0.15
megatron        pp_exposed            0.43      0.15
megatron        cp_exposed            0.4       0.15
megatron        pp_exposed@2022       0.54      0.15
pytorch-fsdp    elementwise           1.5       0.1
pytorch-fsdp    gaps_s                0.0001    0.15
pytorch-fsdp    backward_rate         0.94      0.03
pytorch-fsdp    host_layer_s          0.0003    0.1
pytorch-fsdp    loss_bytes            19        0.1
pytorch-fsdp    fsdp_exposed          0.18      0.15
hf-trainer      elementwise           2.3       0.1
hf-trainer      gaps_s                0.0001    0.15
hf-trainer      host_layer_s          0.0005    0.1
hf-trainer      nf4_passes            2.6       0.1
hf-trainer      lora_host             1.5       0.1
deepspeed       elementwise           2         0.05
deepspeed       fsdp_exposed          0.22      0.15
torchtitan      elementwise           3.3       0.1
torchtitan      fsdp_exposed          0.42      0.15
torchtitan      tp_exposed            0.43      0.15
torchtitan      cp_exposed            0.43      0.15
nanotron        elementwise           2.8       0.5
nanotron        host_layer_s          0.0005    0.5
nanotron        host_rank_s           0.00016   0.5
nanotron        host_pipeline_rank_s  0.00105   0.5
nanotron        host_step_s           0.03      0.5
nanotron        tp_exposed            1         0.5
nanotron        dp_exposed            0.7       0.5
nanotron        pp_exposed            0.6       0.5
"""
"""Owner, name, value and spread of every constant before the fit: measured kernels
(gemm in 16 bits, attention), bytes by counting tensors, what single frameworks print,
and where none of these tells, a first fit of a simpler model to runs like these. The
spreads are those that left-out sources liked best."""

CONSTANTS = [
    Constant(owner, name, float(value), float(spread))
    for owner, name, value, spread in map(str.split, PRIORS.strip().splitlines())
]
