"""Kinds of hardware that the tests of time share."""

from __future__ import annotations

from dataclasses import replace

from solver.performance.inputs import Hardware

A100 = Hardware(
    gpus_per_node=8,
    nvlink_domain_gpus=8,
    memory_bytes=79.2 * 2**30,
    hbm_bytes_per_s=2.039e12,
    peak_16bit=312e12,
    peak_precision=312e12,
    sm_count=108,
    gemm_efficiency=0.8,
    gemm_efficiency_16bit=0.8,
    attention_efficiency=0.5,
    fused_attention=True,
    intra_bytes_per_s=210e9,
    intra_pair_only=False,
    pcie_bus_2=20e9,
    pcie_bus_4=5.2e9,
    pcie_bus_8=1.4e9,
    inter_bytes_per_s=23e9,
    inter_latency_s=4e-6,
    intra_latency_s=1.5e-6,
)
H100 = replace(
    A100,
    hbm_bytes_per_s=3.35e12,
    peak_16bit=989e12,
    peak_precision=989e12,
    sm_count=132,
    intra_bytes_per_s=335e9,
    inter_bytes_per_s=46e9,
)
L40S = replace(
    A100,
    hbm_bytes_per_s=864e9,
    peak_16bit=362e12,
    peak_precision=362e12,
    sm_count=142,
    gemm_efficiency=0.55,
    gemm_efficiency_16bit=0.55,
    intra_bytes_per_s=0.0,
)
ONE_NODE = replace(A100, inter_bytes_per_s=0.0, inter_latency_s=0.0)
