-- Where folders were when they were last served, as in sqlite_0021.sql.
CREATE TABLE served_folders (
    digest bytea PRIMARY KEY,
    place  bytea NOT NULL
);
