-- The files of unpublished maps that were lost lately, by content and map, with where they were and
-- when they had last changed (``store/lost_files.py``). The rows of deleted maps are not used.
CREATE TABLE lost_files (
    digest   BLOB NOT NULL,
    file_id  INTEGER NOT NULL,
    path     BLOB NOT NULL,
    modified INTEGER NOT NULL,
    since    INTEGER NOT NULL,
    PRIMARY KEY (digest, file_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX lost_files_since ON lost_files (since);
