"""Plan the cheapest, provably optimal way to train a model on rented GPUs."""

__all__ = ["__version__"]

__version__ = "0.1.0a0"
