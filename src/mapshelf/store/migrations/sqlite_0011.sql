-- Folders that were imported, by the SHA-256 of their paths; finished is when their first import had
-- seen every file, empty as long as it has not. What lies there until then keeps its own date.
CREATE TABLE imported_folders (
    digest   BLOB PRIMARY KEY,
    finished INTEGER
) STRICT, WITHOUT ROWID;

-- What administrators call tags instead, by the name in lower case that files and people may use.
CREATE TABLE renamed_tags (
    name_key TEXT PRIMARY KEY,
    name     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Tags are read from files now.
INSERT OR IGNORE INTO outdated SELECT file_id FROM files;
