"""Every line of a log as JSON is an object, whatever is logged."""

import json
import logging
import sys
from pathlib import Path

import pytest

from mapshelf.service.json_log import JSONFormatter
from tests.cli.process import Mapshelf, serving


@pytest.mark.parametrize("text", ["plain", 'quotes " and \n lines', "\ud800 half", "\x00\x1b[2J"])
def test_a_record_is_one_object_in_one_line(text: str) -> None:
    try:
        raise ValueError(text)
    except ValueError:
        record = logging.LogRecord(
            "mapshelf.x", logging.ERROR, "x.py", 1, "it is %s", (text,), sys.exc_info()
        )
    record.__dict__["facts"] = {"request_id": text}
    line = JSONFormatter().format(record)
    assert "\n" not in line
    said = json.loads(line)
    assert (said["level"], said["logger"]) == ("ERROR", "mapshelf.x")
    assert said["message"].startswith("it is ")
    assert said["time"].endswith("Z")
    assert "ValueError" in said["exception"]


@pytest.mark.process
def test_all_lines_of_a_service_are_objects(samples: Mapshelf, tmp_path: Path) -> None:
    mapshelf = samples.copied_to(tmp_path / "data")
    path = tmp_path / "log"
    with path.open("wb") as log:
        options = ("--log-format", "json", "--access-log")
        with serving(mapshelf, *options, log=log) as service:
            service.wait_until_ready()
            service.get("/categories")
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert any("Mapshelf answers at" in line["message"] for line in lines)
    (line,) = (line for line in lines if line.get("path") == "/categories")
    assert (line["status"], line["method"], line["address"]) == (200, "GET", "127.0.0.1")
    assert line["request_id"]
