"""Groonga: maps in one table, their words in one index on five columns, ranked by weight.

Clients use its own HTTP server, ``groonga-httpd``. It supports persistent connections, so it is
faster than ``groonga --protocol http``. The index follows the documentation. ``TokenBigram`` splits
Chinese and Japanese into pairs of characters and other scripts into words. ``NormalizerNFKC150``
folds case and width. The lexicon is a patricia trie, for prefixes. The index is built after all
maps are loaded, which makes it smaller. Columns to filter or order by have an index, too. The score
of a match is the number of occurrences of the words, times the weight of the column.

The normalizers of Groonga 13.0.0 (Debian 12) preserve accents, so we fold texts before loading
them, as for PostgreSQL, and store them in compressed columns. If a word as typed finds nothing,
``escalate`` searches for similar words with the same first letter in the same request. The cache of
responses is off, because it would ignore the number in the URL.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final
from urllib.parse import urlencode

import orjson

from benchmarks.catalogue import Catalogue
from benchmarks.peers.database import TIME_LIMIT
from benchmarks.peers.questions import Question
from benchmarks.peers.records import COLUMNS, NUMBERS, WEIGHTS, Document, batches, documents
from benchmarks.peers.searchtext import QueryTerm, fold, parse, typos_allowed
from benchmarks.processes import Missing, running

PROGRAMS: Final = {"groonga": "groonga-bin", "groonga-httpd": "groonga-httpd"}
"""The programs, and the Debian package of each."""

# One process, because it has one core. Only errors are logged.
_CONFIGURATION: Final = """
daemon off;
worker_processes 1;
{user}
pid {folder}/httpd.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path {folder}/bodies;
  groonga_database {database};
  groonga_database_auto_create off;
  groonga_log_path {folder}/groonga.log;
  groonga_query_log_path off;
  groonga_cache_limit 0;
  server {{
    listen 127.0.0.1:{port} backlog=16384;
    location /d/ {{
      groonga on;
    }}
  }}
}}
"""

# The columns with their own index, for filters and orders, and the type of its keys.
_SORTED: Final = {
    "views": "UInt32",
    "downloads": "UInt32",
    "date_added": "ShortText",
    "title": "ShortText",
    "category_id": "UInt32",
}
_TEXTS: Final = tuple(f"search_{name}" for name in WEIGHTS)
_MATCHED: Final = " || ".join(f"search_{name} * {weight:g}" for name, weight in WEIGHTS.items())
_BEFORE: Final = "\n".join(
    (
        "table_create Maps TABLE_NO_KEY",
        *(
            f"column_create Maps {name} COLUMN_SCALAR {'UInt32' if name in NUMBERS else 'Text'}"
            for name in COLUMNS
        ),
        *(f"column_create Maps {name} COLUMN_SCALAR|COMPRESS_ZSTD Text" for name in _TEXTS),
    )
)
_AFTER: Final = "\n".join(
    (
        "table_create Terms TABLE_PAT_KEY ShortText --default_tokenizer TokenBigram"
        " --normalizer NormalizerNFKC150",
        f"column_create Terms maps COLUMN_INDEX|WITH_POSITION|WITH_SECTION Maps {','.join(_TEXTS)}",
        *(
            f"table_create By_{name} TABLE_PAT_KEY {key}\n"
            f"column_create By_{name} maps COLUMN_INDEX Maps {name}"
            for name, key in _SORTED.items()
        ),
    )
)
_CJK: Final = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]"
_BETWEEN: Final = re.compile(f"(?<={_CJK}) (?={_CJK})")


def missing() -> str | None:
    """Return how to install Groonga, ``None`` if it is installed."""
    packages = [package for name, package in PROGRAMS.items() if shutil.which(name) is None]
    return f"install {' '.join(packages)} first, from Debian" if packages else None


def version() -> str:
    """Return the version of the program, ``none`` if it is not installed."""
    if missing():
        return "none"
    done = subprocess.run(["groonga", "--version"], capture_output=True, text=True, check=True)
    return done.stdout.split()[1]


def build(catalogue: Catalogue, database: Path) -> None:
    """Create the database of a catalogue in its own folder.

    Raises:
        Missing: Groonga rejected the input.
    """
    log, answers = database.parent.with_name("groonga.log"), database.parent.with_name("answers")
    database.parent.mkdir()
    with (
        answers.open("w+b") as output,
        subprocess.Popen(
            ["groonga", "--log-path", str(log), "-n", str(database)],
            stdin=subprocess.PIPE,
            stdout=output,
        ) as process,
    ):
        assert process.stdin is not None
        _write(catalogue, process.stdin)
        process.stdin.close()
        process.wait()
        output.seek(0)
        refused = [line for line in output if not line.startswith(b"[[0,")]
    if process.returncode or refused:
        raise Missing(f"Groonga rejected the catalogue: {refused[:1]!r}")


def sizes(database: Path) -> tuple[int, int]:
    """Return the bytes of the database, and of the search index alone.

    The files of Groonga are sparse, so we count the blocks on disk.
    """
    numbers = (_inspected(database, name)["id"] for name in ("Terms", "Terms.maps"))
    words = tuple(f"{database.name}.{number:07X}" for number in numbers)
    files = {file.name: file.stat().st_blocks * 512 for file in database.parent.iterdir()}
    return sum(files.values()), sum(files[name] for name in files if name.startswith(words))


@contextmanager
def server(database: Path, port: int) -> Iterator[int]:
    """Run the server on a database; yield its process id."""
    folder = database.parent.with_name("httpd")
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    text = _CONFIGURATION.format(
        user="user root;" if os.geteuid() == 0 else "",
        folder=folder,
        database=database,
        port=port,
    )
    (folder / "httpd.conf").write_text(text)
    command = ["groonga-httpd", "-p", str(folder), "-c", str(folder / "httpd.conf")]
    with running(command, folder / "output.log") as pid:
        yield pid


def path(question: Question | None, spelling: int, number: int) -> str:
    """Return the URL path of a search, or of the list of all maps."""
    parameters = {
        "table": "Maps",
        "limit": "20",
        "output_columns": ",".join(COLUMNS),
        "command_version": "3",
        "request_timeout": str(TIME_LIMIT),
        "n": str(number),
    }
    by_views = question is None or question.by_views
    parameters["sort_keys"] = "-views" if by_views else "-_score"
    if question is not None:
        parts = parse(question.text(spelling))
        loose = _loose(parts)
        if loose is None:
            parameters |= {"match_columns": _MATCHED, "query": query(parts)}
        within = f"category_id == {question.category}" if question.category is not None else None
        # In this order, because the reverse takes five times as long.
        if conditions := [condition for condition in (loose, within) if condition]:
            parameters["filter"] = " && ".join(conditions)
    return f"/d/select?{urlencode(parameters)}"


def query(parts: Sequence[QueryTerm]) -> str:
    """Return a search in Groonga's query syntax; words consist of letters and digits."""
    return " ".join(
        f"{text}*" if part.prefix else f'"{text}"'
        for part in parts
        for text in (_BETWEEN.sub("", " ".join(part.words)),)
    )


def _loose(parts: Sequence[QueryTerm]) -> str | None:
    """Return the fuzzy condition for a single word, ``None`` for other searches."""
    if len(parts) != 1 or not parts[0].prefix or len(parts[0].words) != 1:
        return None
    (word,) = parts[0].words
    typos = typos_allowed(word)
    if not typos:
        return None
    # Groonga searches all columns of the index, whichever of them is named.
    options = f'{{"max_distance": {typos}, "prefix_length": 1}}'
    similar = f'fuzzy_search({_TEXTS[0]}, "{word}", {options})'
    return f"escalate('query(\"{_MATCHED}\", \"{query(parts)}\")', 0, '{similar}')"


def _write(catalogue: Catalogue, commands: IO[bytes]) -> None:
    commands.write(f"{_BEFORE}\nload --table Maps\n[\n".encode())
    separator = b""
    for batch in batches(documents(catalogue)):
        commands.write(separator + b",\n".join(map(_row, batch)))
        separator = b",\n"
    commands.write(f"\n]\n{_AFTER}\n".encode())


def _row(document: Document) -> bytes:
    """Return a map as a line of JSON for Groonga's ``load``."""
    row = dict(zip(COLUMNS, document.row(), strict=True))
    return orjson.dumps(row | dict(zip(_TEXTS, map(fold, document.texts()), strict=True)))


def _inspected(database: Path, name: str) -> dict[str, Any]:
    command = ["groonga", str(database), "object_inspect", name]
    done = subprocess.run(command, capture_output=True, check=True)
    found: dict[str, Any] = orjson.loads(done.stdout)[1]
    return found
