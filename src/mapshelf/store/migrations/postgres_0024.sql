-- Places that the files of unpublished maps have left, as in sqlite_0024.sql.
CREATE TABLE former_places (
    digest  bytea PRIMARY KEY,
    file_id bigint NOT NULL REFERENCES maps (file_id) ON DELETE CASCADE,
    since   bigint NOT NULL
);

CREATE INDEX former_places_file ON former_places (file_id);
