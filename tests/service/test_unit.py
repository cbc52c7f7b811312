"""The systemd unit is valid and well confined, and its example settings are accepted.

``python scripts/unit.py`` checks under a real systemd that the service works in this confinement.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mapshelf.cli.config_file import VARIABLE, VARIABLES
from tests.cli.process import Mapshelf
from tests.service.proxies import DEPLOYMENT, put

UNIT = DEPLOYMENT / "mapshelf.service"
MOST_EXPOSURE = 2.0


def systemd(*words: str | Path) -> str:
    """Return the output of a systemd program; skip the test if it is missing or too old."""
    program = shutil.which(str(words[0]))
    if program is None:
        pytest.skip(f"{words[0]} is not installed (apt-get install systemd)")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    (number,) = re.findall(r"^systemd (\d+)", version.stdout, re.MULTILINE)
    if int(number) < 252:
        pytest.skip(f"{words[0]} is from systemd {number}, 252 is needed")
    environment = {**os.environ, "SYSTEMD_COLORS": "0", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [program, *map(str, words[1:])],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def exposure(unit: Path) -> float:
    """Return the exposure level of a unit, from 0 to 10."""
    table = systemd("systemd-analyze", "security", "--offline=true", "--no-pager", unit)
    (found,) = re.findall(r"Overall exposure level for \S+: ([0-9.]+)", table)
    return float(found)


@pytest.mark.process
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    here = tmp_path / UNIT.name
    program = "/opt/mapshelf/bin/mapshelf"
    here.write_text(put(UNIT.read_text("utf-8"), (program, sys.executable)), "utf-8")
    assert not systemd("systemd-analyze", "verify", "--man=no", here), (
        "systemd-analyze verify prints a warning"
    )


@pytest.mark.process
def test_the_unit_has_little_exposure(tmp_path: Path) -> None:
    assert exposure(UNIT) <= MOST_EXPOSURE
    open_unit = tmp_path / UNIT.name
    open_unit.write_text(re.sub(r"(?m)^(Protect|System|Restrict).*$", "", UNIT.read_text("utf-8")))
    assert exposure(open_unit) > MOST_EXPOSURE, "the measured exposure does not depend on the unit"


@pytest.mark.process
def test_the_user_of_the_service_is_made(tmp_path: Path) -> None:
    users = DEPLOYMENT / "mapshelf.sysusers"
    made = systemd("systemd-sysusers", "--dry-run", f"--root={tmp_path}", users)
    (user,) = re.findall(r"(?m)^User=(\w+)$", UNIT.read_text("utf-8"))
    assert re.search(rf"user '?{user}'?", made), made


def test_the_example_settings_are_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The unit lets the service write where the example puts the catalogue."""
    for name in (VARIABLE, *VARIABLES.values()):
        monkeypatch.setenv(name, "")  # so that monkeypatch undoes what the command sets
    lines = (
        Mapshelf(tmp_path)
        .run("config", "--config", DEPLOYMENT / "mapshelf.toml", placed=False)
        .stdout.splitlines()
    )
    rows = {name: (value, origin) for name, value, origin in (line.split("\t") for line in lines)}
    (state,) = re.findall(r"(?m)^StateDirectory=(\S+)$", UNIT.read_text("utf-8"))
    assert rows["data"] == (f"/var/lib/{state}", "file")
    assert rows["trusted-proxy"] == ("127.0.0.1", "file")
    assert rows["base-url"] == ("https://maps.example.org", "file")
