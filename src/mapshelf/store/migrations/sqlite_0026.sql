-- Several files may have left one place, and places follow a folder that is somewhere else now, by
-- their paths (``store/former_places.py``). The paths of earlier ones are not known.
ALTER TABLE former_places RENAME TO former_places_before;
DROP INDEX former_places_file;

CREATE TABLE former_places (
    digest  BLOB NOT NULL,
    path    BLOB NOT NULL,
    file_id INTEGER NOT NULL REFERENCES maps (file_id) ON DELETE CASCADE,
    since   INTEGER NOT NULL,
    PRIMARY KEY (digest, file_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX former_places_file ON former_places (file_id);

INSERT INTO former_places SELECT digest, x'', file_id, since FROM former_places_before;
DROP TABLE former_places_before;
