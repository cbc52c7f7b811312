"""Server programs of the system that tests run, if they are installed."""

import os
import shutil

import pytest


def installed(program: str) -> str:
    """Return the path of a server program, or skip the test."""
    found = shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.skip(f"{program} is not installed (apt-get install {program})")
    return found
