"""How long each stage of gpuplan takes; ``python -m tests.benchmarks`` prints it."""
