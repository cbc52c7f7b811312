-- When the maps of files in folders were added to this catalogue, as in sqlite_0022.sql.
CREATE TABLE additions (
    file_id bigint PRIMARY KEY REFERENCES maps (file_id) ON DELETE CASCADE,
    added   bigint NOT NULL
);
