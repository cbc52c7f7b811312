-- Places that the files of maps have left, by the SHA-256 of their paths, with the map that was there
-- last. Without a map, because that was deleted when its file had been missing for long, visibility
-- is the one that it had: unlisted or private.
CREATE TABLE former_places (
    digest     BLOB PRIMARY KEY,
    file_id    INTEGER REFERENCES maps (file_id) ON DELETE CASCADE,
    visibility TEXT,
    CHECK ((file_id IS NULL) <> (visibility IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX former_places_file ON former_places (file_id);
