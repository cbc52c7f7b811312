"""All locked packages have wheels for each system that ``docs/installation.md`` promises.

This does not show that Mapshelf works there. But a package without a wheel would need Rust or C++.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Any

import pytest
from packaging.markers import Marker
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import parse_wheel_filename

from tests.cli.process import REPOSITORY

DOCUMENT = (REPOSITORY / "docs" / "installation.md").read_text("utf-8")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
GLIBC, MACOS = 28, 14
SYSTEMS = {
    "Linux x86-64": ("linux", "x86_64"),
    "Linux ARM64": ("linux", "aarch64"),
    "macOS ARM64": ("darwin", "arm64"),
}


@cache
def all_locked() -> list[dict[str, Any]]:
    """Return all packages in uv.lock."""
    lock = tomllib.loads((REPOSITORY / "uv.lock").read_text("utf-8"))
    return list(lock["package"])


def platforms(kind: str, machine: str) -> list[str]:
    """Return the platforms whose wheels a system accepts."""
    if kind == "darwin":
        return list(mac_platforms((MACOS, 0), machine))
    numbered = [f"manylinux_2_{minor}_{machine}" for minor in range(5, GLIBC + 1)]
    return [*numbered, f"manylinux2014_{machine}", f"manylinux2010_{machine}"]


def installed(kind: str, python: str) -> Iterator[dict[str, Any]]:
    """Yield all packages that are installed with Mapshelf."""
    environment = {
        "sys_platform": kind,
        "python_full_version": f"{python}.0",
        "python_version": python,
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
        "platform_system": "Darwin" if kind == "darwin" else "Linux",
        "os_name": "posix",
        "extra": "",
    }
    waiting: list[dict[str, Any]] = [{"name": "mapshelf"}]
    for needed in waiting:  # grows during the loop
        package = locked(needed)
        yield package
        extras = package.get("optional-dependencies", {})
        needs = chain(
            package.get("dependencies", []),
            *(extras.get(name, []) for name in needed.get("extra", [])),
        )
        for need in needs:
            fits = "marker" not in need or Marker(need["marker"]).evaluate(environment)
            if fits and need not in waiting:
                waiting.append(need)


def locked(needed: dict[str, Any]) -> dict[str, Any]:
    """Return the package that another one needs."""
    (found,) = (
        package
        for package in all_locked()
        if package["name"] == needed["name"]
        and needed.get("version", package["version"]) == package["version"]
    )
    return dict(found)


@pytest.mark.slow
@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_everything_has_a_wheel(system: str, python: str) -> None:
    kind, machine = SYSTEMS[system]
    version = (3, int(python.partition(".")[2]))
    takes: set[Tag] = set(
        chain(
            cpython_tags(version, platforms=platforms(kind, machine)),
            compatible_tags(version, f"cp3{version[1]}", platforms(kind, machine)),
        )
    )
    names = set()
    for package in installed(kind, python):
        if package["name"] == "mapshelf":
            continue
        names.add(package["name"])
        files = (wheel["url"].rpartition("/")[2] for wheel in package.get("wheels", []))
        assert any(parse_wheel_filename(file)[3] & takes for file in files), package["name"]
    assert {"granian", "psycopg-binary", "cffi"} <= names


def test_the_documents_promise_what_is_tested() -> None:
    assert f"glibc 2.{GLIBC}" in DOCUMENT
    assert f"macOS {MACOS}" in DOCUMENT
    (pythons,) = re.findall(r"(?m)^\| Python \| (.*?) ?\|$", DOCUMENT)
    assert re.findall(r"\d\.\d+", pythons) == list(PYTHONS)


def test_the_documented_installation_under_systemd_also_upgrades() -> None:
    """Unless told to reinstall, uv notices changed code only if pyproject.toml has changed."""
    block = DOCUMENT.partition("## Under systemd")[2].split("```")[1]
    words = block.partition(" sync ")[2].replace("\\\n", " ").partition("\n")[0].split()
    assert words[words.index("--reinstall-package") + 1] == "mapshelf"
