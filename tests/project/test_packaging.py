"""Tests of what is shipped: all of the data that git knows, and nothing else."""

import importlib.metadata
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

from tests.project.source import ROOT

DATA = ("catalog", "scenarios")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Return the names of the files in a wheel built from the checkout."""
    return wheel_files(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the unpacked sdist of the checkout."""
    folder = tmp_path_factory.mktemp("sdist")
    (archive,) = SdistBuilder(str(ROOT)).build(directory=str(folder))
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / Path(archive).name.removesuffix(".tar.gz")


def wheel_files(root: Path, folder: Path) -> set[str]:
    """Return the names of the files in a wheel, without its metadata."""
    (wheel,) = WheelBuilder(str(root)).build(
        directory=str(folder), versions=["standard"]
    )
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def tracked(*folders: str) -> set[str]:
    """Return the files that git knows below some folders of the repository."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "ls-files", "-z", "--", *folders]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    names = {name for name in output.decode().split("\0") if name}
    return {name for name in names if (ROOT / name).is_file()}


def test_wheel_has_exactly_the_tracked_data(wheel: set[str]) -> None:
    """Tests that no data file is forgotten, and no private one shipped."""
    shipped = {
        name.removeprefix("solver/_data/")
        for name in wheel
        if name.startswith("solver/_data/")
    }
    expected = tracked(*DATA)
    assert shipped == expected, {
        "missing in the wheel": sorted(expected - shipped),
        "unknown to git": sorted(shipped - expected),
    }


def test_wheel_has_the_whole_package(wheel: set[str]) -> None:
    """Tests that every tracked file of the package is shipped, py.typed too."""
    assert tracked("solver") <= wheel
    assert "solver/py.typed" in wheel


def test_wheel_has_nothing_beside_the_package(wheel: set[str]) -> None:
    """Tests that installing puts a single folder into site-packages."""
    assert {name.split("/")[0] for name in wheel} == {"solver"}
    assert not [name for name in wheel if name.endswith((".pyc", "~", ".local.yaml"))]


def test_sdist_is_enough_to_work_with(sdist: Path) -> None:
    """Tests that an sdist can be tested and has every tracked file but git's own."""
    forgotten = {name for name in tracked() if not (sdist / name).is_file()}
    assert forgotten == set()
    assert (sdist / ".ci" / "run").is_file()


def test_wheel_from_sdist_is_the_same(
    wheel: set[str], sdist: Path, tmp_path: Path
) -> None:
    """Tests that it does not matter what a wheel is built from."""
    assert wheel_files(sdist, tmp_path) == wheel


def test_private_files_are_not_shipped(sdist: Path, tmp_path: Path) -> None:
    """Tests that what git ignores stays at home, even when it lies in the catalog."""
    private = ["ours.local.csv", "ours.local.yaml", "h100.yaml~", ".h100.yaml.swp"]
    root = tmp_path / "checkout"
    shutil.copytree(sdist, root)
    (root / "catalog").mkdir(exist_ok=True)
    for name in ("seen.yaml", *private):
        (root / "catalog" / name).write_text("a: 1\n", encoding="utf-8")
    shipped = {name.split("/")[-1] for name in wheel_files(root, tmp_path)}
    assert "seen.yaml" in shipped
    assert not shipped & set(private)


def test_editable_install_copies_nothing() -> None:
    """Tests that an editable install leaves no stale copy of code or data."""
    distribution = importlib.metadata.distribution("gpuplan")
    if '"editable": true' not in (distribution.read_text("direct_url.json") or ""):
        pytest.skip("not an editable install")
    copied = [
        str(file)
        for file in distribution.files or []
        if file.suffix != ".pth"
        and ".dist-info" not in file.parts[0]
        and file.name not in ("gpuplan", "gpuplan.exe")
    ]
    assert not copied
