"""Plan the cheapest, provably optimal way to train a model on rented GPUs."""

TYPE_CHECKING = False  # typing takes a hundredth of a second to load

__all__ = ["__version__"]

__version__: str

if not TYPE_CHECKING:  # or every misspelled name would pass the type check

    def __getattr__(name: str) -> str:
        """Look the version up when it is asked for: the look-up takes 0.03 s."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("gpuplan")
        except PackageNotFoundError:
            return "0+unknown"  # a checkout that is not installed
