-- Contents that the files of unpublished maps had, as in sqlite_0020.sql.
CREATE TABLE former_contents (
    file_id bigint NOT NULL REFERENCES maps (file_id) ON DELETE CASCADE,
    digest  bytea NOT NULL,
    since   bigint NOT NULL,
    PRIMARY KEY (file_id, digest)
);

CREATE INDEX former_contents_digest ON former_contents (digest);
