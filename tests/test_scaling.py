"""``docs/scaling.md`` contains the output of the simulation."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[1]


def test_the_document_shows_what_the_simulation_prints() -> None:
    document = (ROOT / "docs" / "scaling.md").read_text("utf-8")
    shown = document.partition("<!-- scaling: begin -->\n")[2].partition("<!-- scaling: end -->")[0]
    script = ROOT / "scripts" / "scaling.py"
    printed = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert shown == printed


def test_other_figures_give_other_tables() -> None:
    script = ROOT / "scripts" / "scaling.py"
    words = [sys.executable, str(script), "--changes", "60000", "--per-map", "5"]
    printed = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
    assert len(printed.splitlines()) == 7
    assert "| 100,000,000 |" in printed
