"""Plan the cheapest, provably optimal way to train a model on rented GPUs."""

from importlib.metadata import PackageNotFoundError, version

__all__ = ["__version__"]

try:
    __version__ = version("gpuplan")
except PackageNotFoundError:  # an uninstalled checkout
    __version__ = "0+unknown"
