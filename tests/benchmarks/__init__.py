"""How long each phase of gpuplan takes; ``python -m tests.benchmarks`` prints it."""
