"""Converts the pictures in the topics of a map, for drawings and exports.

Clients never get the original bytes: each picture is encoded again (``render.image_worker``), at
the size that is needed. Many pictures take time and memory, so there are limits. Finished pictures
are cached, so a repeated request gets those that were missing for lack of time. If those of a map
take long, they are converted where others do not wait for them (``feedback_queue``), and so are
those of other maps of the owner for a while, if they take very long.
"""

from collections.abc import Sequence
from typing import Final

from mapshelf.api.feedback_queue import TakesLong
from mapshelf.cached_file import CachedFile
from mapshelf.errors import Overloaded
from mapshelf.render.image_worker import ImageRequest, ImageTakesLong, ImageTime, ImageWorker
from mapshelf.render.render_request import Pictures
from mapshelf.snapshot.read import Record
from mapshelf.store.contract import Maps

MOST_PICTURES: Final = 200
"""Most pictures in a drawing or an export."""

PICTURE_SECONDS: Final = 8.0
"""Seconds for the pictures of one drawing or export.

Pictures beyond these limits are left out of exports, and become empty frames in drawings.
"""


QUICK_SECONDS: Final = 1.0
"""Seconds after which the pictures of a map take long: ordinary ones take some hundredths each."""

_CPU_SHARE: Final = 0.5
"""Part of this time that must be CPU time. Otherwise they take long because of others."""

OWNER_SECONDS: Final = 4.0
"""Seconds of CPU time from which pictures speak for their owner, as documents do
(``documents.OWNER_SECONDS``)."""


class PicturesTakeLong(TakesLong):
    """The pictures of a map take long, or did for another map of its owner."""


class TopicPictures:
    """Returns the pictures of maps, from the cache or converted now."""

    def __init__(self, store: Maps, worker: ImageWorker) -> None:
        self._store = store
        self._worker = worker

    def of_map(  # noqa: PLR0913 - which pictures, and five limits
        self,
        record: Record,
        digests: Sequence[str],
        *,
        quick: bool,
        most: int | None = None,
        width: int,
        most_bytes: int,
        seconds: float,
    ) -> Pictures:
        """Return pictures of a map as PNG, by digest.

        Pictures are missing if they cannot be shown, exceed ``most`` or ``most_bytes``, or are not
        ready in time (``Pictures.complete``); ``Pictures.missing`` counts them.

        Args:
            record: the map.
            digests: the pictures, the most important ones first.
            quick: whether the caller must not wait for pictures that take long.
            most: maximum number of pictures, if there is one.
            width: maximum width in pixels.
            most_bytes: maximum total size of all pictures.
            seconds: after this time, no further picture is converted.

        Raises:
            PicturesTakeLong: they take long, as far as is known, and ``quick`` was given.
        """
        file_id = record.file_id
        chosen = digests[:most]
        pictures, left = Pictures(), most_bytes
        pictures.missing = len(digests) - len(chosen)
        if quick:
            is_long = self._worker.takes_long(record.owner, file_id)
            seconds = 0.0 if is_long else min(seconds, QUICK_SECONDS)
        time = ImageTime(seconds, quick=quick)
        for at, digest in enumerate(chosen):
            asked = ImageRequest(digest, width)
            try:
                picture = self._picture(file_id, asked, time)
            except ImageTakesLong:
                self._worker.note_long(record.owner, file_id)
                raise PicturesTakeLong from None
            except Overloaded:
                if quick:
                    self._note(record, time)
                    raise PicturesTakeLong from None
                pictures.complete = False
                pictures.missing += 1
                continue
            if picture is None:
                pictures.missing += 1
                # A busy machine may refuse a picture that it can convert later.
                if self._worker.may_be_shown_later(asked, file_id):
                    pictures.complete = False
                continue
            left -= len(picture)
            if left < 0:
                pictures.missing += len(chosen) - at
                break
            pictures[digest] = picture
        if not quick:
            self._note(record, time)
        return pictures

    def _note(self, record: Record, time: ImageTime) -> None:
        """Remember the map if its pictures took long, and not because of others, or its owner."""
        if time.spent >= OWNER_SECONDS:
            self._worker.note_long(record.owner, record.file_id)
        elif time.spent > QUICK_SECONDS * _CPU_SHARE:
            self._worker.take_long.add(record.file_id)

    def _picture(self, file_id: int, asked: ImageRequest, time: ImageTime) -> bytes | None:
        found = self._worker.cached(asked)
        if found is None and not self._worker.has_refused(asked):
            if time.left() <= 0:
                raise Overloaded("there is no time for more pictures")
            data = self._store.image(file_id, asked.digest)
            if data is not None:
                found = self._worker.image(asked, data, file_id, time)
        if isinstance(found, CachedFile):
            with found.open() as file:
                return file.read()
        return found
