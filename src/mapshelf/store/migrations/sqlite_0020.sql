-- Contents that the files of unpublished maps had until since, by their SHA-256: copies that are
-- found later inherit from these maps, too.
CREATE TABLE former_contents (
    file_id INTEGER NOT NULL REFERENCES maps (file_id) ON DELETE CASCADE,
    digest  BLOB NOT NULL,
    since   INTEGER NOT NULL,
    PRIMARY KEY (file_id, digest)
) STRICT;

CREATE INDEX former_contents_digest ON former_contents (digest);
