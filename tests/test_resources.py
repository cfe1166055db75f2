"""Tests of finding the shipped data."""

from pathlib import Path

import pytest

from solver import resources
from solver.errors import PackagingError


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the package folder of a pretended installation without any data."""
    package = tmp_path / "site" / "solver"
    package.mkdir(parents=True)
    monkeypatch.setattr(resources, "files", lambda name: tmp_path / "site" / name)
    monkeypatch.setattr(resources, "__file__", str(package / "resources.py"))
    return package


def test_packaged_data_wins(installed: Path) -> None:
    """Tests that a wheel's own data is taken, whatever lies beside the package."""
    packaged = installed / "_data" / "catalog"
    packaged.mkdir(parents=True)
    (installed.parent / "catalog").mkdir()
    (installed.parent / "pyproject.toml").touch()
    assert resources.shipped_catalog() == packaged


def test_checkout_data_is_found(installed: Path) -> None:
    """Tests that a checkout's data is found at the root of the repository."""
    (installed.parent / "pyproject.toml").touch()
    (installed.parent / "scenarios").mkdir()
    assert resources.shipped_scenarios() == installed.parent / "scenarios"


def test_a_folder_of_somebody_else_is_not_taken(installed: Path) -> None:
    """Tests that a folder called catalog in site-packages is not taken for ours."""
    (installed.parent / "catalog").mkdir()
    with pytest.raises(PackagingError, match="'catalog' is missing"):
        resources.shipped_catalog()


@pytest.mark.usefixtures("installed")
def test_missing_data_is_a_packaging_error() -> None:
    """Tests that missing data is told as a fault of the installation."""
    with pytest.raises(PackagingError, match="'scenarios' is missing"):
        resources.shipped_scenarios()
