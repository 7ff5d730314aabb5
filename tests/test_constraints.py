"""The releases that the scripts install: all are named, and the package admits them."""

import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DIRECT = [
    Requirement(text)
    for text in (*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"])
]

# setuptools comes with the environment; torch names the rest itself, in its builds for GPUs alone.
NOT_PINNED = re.compile(r"setuptools|triton|(nvidia|cuda)-.*")


def read(name: str) -> dict[str, Version]:
    """Return the releases that a file of constraints names, and check its form."""
    lines = (ROOT / "scripts" / name).read_text("utf-8").splitlines()
    pairs = [line.split("==") for line in lines if not line.startswith("#")]
    names = [name for name, _ in pairs]
    assert names == sorted({canonicalize_name(name) for name in names})
    return {name: Version(version) for name, version in pairs}


PINNED = read("constraints.txt")
LOWEST = read("constraints-lowest.txt")


def required(name: str, extras: frozenset[str], seen: set[tuple[str, str]]) -> Iterator[str]:
    """Yield the names of the distributions that one needs here, and those that they need."""
    for text in metadata.requires(name) or []:
        need = Requirement(text)
        if need.marker and not any(need.marker.evaluate({"extra": e}) for e in {"", *extras}):
            continue
        key = (canonicalize_name(need.name), ",".join(sorted(need.extras)))
        if key not in seen and not NOT_PINNED.fullmatch(key[0]):
            seen.add(key)
            yield key[0]
            yield from required(need.name, frozenset(need.extras), seen)


def test_every_package_that_is_installed_is_pinned():
    names = {canonicalize_name(need.name) for need in DIRECT}
    if any(Version(metadata.version(name)).public != str(PINNED[name]) for name in names):
        pytest.skip("other releases are installed than scripts/constraints.txt names")
    needed = set(required("rnnsearch", frozenset({"dev"}), set()))
    assert names < needed
    assert needed <= PINNED.keys()


@pytest.mark.parametrize("pins", [PINNED, LOWEST], ids=["pinned", "lowest"])
def test_the_package_admits_the_releases(pins):
    for need in DIRECT:
        assert need.specifier.contains(pins[canonicalize_name(need.name)]), need


def test_the_lowest_releases_are_those_of_the_package():
    for need in DIRECT:
        (lowest,) = (Version(s.version) for s in need.specifier if s.operator == ">=")
        if need.name != "torch":  # an old one is another large download
            assert LOWEST[canonicalize_name(need.name)] == lowest, need
