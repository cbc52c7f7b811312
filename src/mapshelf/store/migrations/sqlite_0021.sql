-- Where folders were when they were last served, by the SHA-256 of their paths as they were given:
-- a link in such a path may lead somewhere else the next time.
CREATE TABLE served_folders (
    digest BLOB PRIMARY KEY,
    place  BLOB NOT NULL
) STRICT, WITHOUT ROWID;
