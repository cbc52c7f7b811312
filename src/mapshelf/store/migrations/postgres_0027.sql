-- The files of unpublished maps that were lost lately, as in sqlite_0027.sql.
CREATE TABLE lost_files (
    digest   bytea NOT NULL,
    file_id  bigint NOT NULL,
    path     bytea NOT NULL,
    modified bigint NOT NULL,
    since    bigint NOT NULL,
    PRIMARY KEY (digest, file_id)
);

CREATE INDEX lost_files_since ON lost_files (since);
