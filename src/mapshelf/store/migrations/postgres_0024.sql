-- Places that the files of maps have left, and which map was there, as in sqlite_0024.sql.
CREATE TABLE former_places (
    digest     bytea PRIMARY KEY,
    file_id    bigint REFERENCES maps (file_id) ON DELETE CASCADE,
    visibility text COLLATE "C",
    CHECK ((file_id IS NULL) <> (visibility IS NULL))
);

CREATE INDEX former_places_file ON former_places (file_id);
