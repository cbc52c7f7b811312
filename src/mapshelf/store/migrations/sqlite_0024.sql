-- Places that the files of unpublished maps have left, by the SHA-256 of their paths, with the map
-- that was there, and when it left (``store/former_places.py``).
CREATE TABLE former_places (
    digest  BLOB PRIMARY KEY,
    file_id INTEGER NOT NULL REFERENCES maps (file_id) ON DELETE CASCADE,
    since   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX former_places_file ON former_places (file_id);
