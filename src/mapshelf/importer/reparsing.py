"""Reparse maps whose outlines were made by an older version, from the stored files.

A new version extracts more from the same files: pictures, icons, arrows. Reparsing avoids importing
everything again. The store tracks which maps are outdated, so an interrupted run continues where it
stopped, and returns at once if there are none. Only outlines, links and pictures change: values
entered by users since (title, description, category) are preserved.

Several nodes may do this concurrently. Each starts at a different map, and the store accepts the
first result for each map.
"""

import logging
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from mapshelf.importer.scan import is_gone, resolve_path
from mapshelf.model import OriginalFile, OutdatedMap, ReparsedMap
from mapshelf.plurals import noun
from mapshelf.readers.read_task import FileAgain
from mapshelf.readers.sandboxed_reader import ReadFile, SandboxedReader
from mapshelf.store.contract import Maps, ReparsableOutlines, Tags
from mapshelf.store.merge import current_tags

PAGE_SIZE: Final = 20
"""Outdated maps looked up at a time."""

BATCH_BYTES: Final = 32 << 20
"""Bytes of the files that are in memory together, and whose maps are written in one transaction,
unless one file has more."""

_FIRST: Final = 1_000_000
"""Upper bound of the ``file_id`` to start after, if there are that many maps."""

_Batch = dict[int, tuple[OutdatedMap, OriginalFile | None]]
"""Maps with their files, by ``file_id``."""

log = logging.getLogger(__name__)


class ReparsingStore(Maps, ReparsableOutlines, Tags, Protocol):
    """The store protocols that reparsing needs."""


def reparse_outlines(
    store: ReparsingStore,
    reader: SandboxedReader,
    folders: Sequence[Path],
    pause: Callable[[], bool],
) -> int:
    """Reparse every outdated map; return how many changed.

    Args:
        store: the store with the maps and their files.
        reader: the reader for the files.
        folders: the imported folders. Pictures next to a file in one of them are read too, if the
            file still exists.
        pause: called after each batch; returns whether to stop.

    Raises:
        StoreError: the store failed; earlier batches remain stored.
    """
    tops = [resolve_path(folder) for folder in folders]
    after = random.randrange(_FIRST)  # noqa: S311 - to be elsewhere than other nodes, no secret
    changed, told = 0, False
    while True:
        page = store.outdated(after, PAGE_SIZE)
        if not page and not after:
            break
        if page and not told:
            log.info("reading maps again, in the background, because an older version read them")
            told = True
        after = page[-1].file_id if page else 0
        for batch in _batches(store, page):
            changed += store.replace_outlines(_reparsed_maps(store, reader, tops, batch))
        if page and pause():
            return changed
    if told:
        log.info("read %d %s again", changed, noun(changed, "map"))
    return changed


def _batches(store: ReparsingStore, page: Sequence[OutdatedMap]) -> Iterator[_Batch]:
    """Yield the maps of a page with their files, some at a time."""
    batch: _Batch = {}
    room = BATCH_BYTES
    for found in page:
        file = store.content(found.file_id)
        room -= len(file.content) if file else 0
        if batch and room < 0:
            yield batch
            batch, room = {}, BATCH_BYTES - (len(file.content) if file else 0)
        batch[found.file_id] = (found, file)
    if batch:
        yield batch


def _reparsed_maps(
    store: ReparsingStore, reader: SandboxedReader, tops: Sequence[str], kept: _Batch
) -> list[ReparsedMap]:
    files = {
        file_id: _file_again(found, file, tops) for file_id, (found, file) in kept.items() if file
    }
    results = zip(files, reader.read_again(files.values()), strict=True)
    read = {file_id: result for file_id, result in results if isinstance(result, ReadFile)}
    renamed = store.renamed_tags()
    return [
        _reparsed_map(file_id, read[file_id], renamed) if file_id in read else ReparsedMap(file_id)
        for file_id in kept
    ]


def _reparsed_map(file_id: int, found: ReadFile, renamed: Mapping[str, str]) -> ReparsedMap:
    tags = current_tags(found.tags, renamed)
    return ReparsedMap(file_id, found.digest, found.outline, found.images, found.links, tags)


def _file_again(found: OutdatedMap, file: OriginalFile, tops: Sequence[str]) -> FileAgain:
    path = os.fsdecode(found.path)
    below = (top for top in tops if path.startswith(top.rstrip("/") + "/"))
    folder = next(below, "")
    if not folder or is_gone(found.path):
        return FileAgain(file.content, file.name, "")
    return FileAgain(file.content, path, folder)
