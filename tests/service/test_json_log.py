"""Every line of a JSON log is an object, whatever is logged.

``test_serve.py`` checks the log of a whole service.
"""

import json
import logging
import sys

import pytest

from mapshelf.service.json_log import JSONFormatter


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
