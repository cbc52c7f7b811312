"""The supervisor, which is there as long as the service, stays small."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process


def test_it_imports_nothing_that_only_its_children_need() -> None:
    code = "import sys, mapshelf.cli.serve; print(*sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    heavy = {"apsw", "asyncio", "granian", "http.client", "numpy", "rich", "ssl", "tantivy"}
    assert heavy.isdisjoint(output.split())
