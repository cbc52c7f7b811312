"""Log lines as JSON objects, one a line, for programs that collect them."""

import logging
from datetime import UTC, datetime

import orjson


class JSONFormatter(logging.Formatter):
    """Formats a record as a JSON object.

    What is logged with ``extra={"facts": {…}}`` becomes keys of it.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        moment = datetime.fromtimestamp(record.created, UTC)
        line = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return _encoded(line)


def _encoded(line: dict[str, object]) -> str:
    try:
        return orjson.dumps(line).decode()
    except orjson.JSONEncodeError:  # a lone surrogate, as in names of files
        safe = {
            name: str(value).encode("utf-8", "backslashreplace").decode()
            for name, value in line.items()
        }
        return orjson.dumps(safe).decode()
