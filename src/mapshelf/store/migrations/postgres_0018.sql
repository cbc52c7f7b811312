-- Maps whose files are all missing from their folder, as in sqlite_0018.sql.
CREATE TABLE missing (
    file_id    bigint PRIMARY KEY REFERENCES maps (file_id) ON DELETE CASCADE,
    visibility text COLLATE "C" NOT NULL,
    since      bigint NOT NULL
);
