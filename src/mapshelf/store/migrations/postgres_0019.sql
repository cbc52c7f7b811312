-- Maps that inherited that they are not published, and from which one, as in sqlite_0019.sql.
CREATE TABLE inherited (
    file_id    bigint PRIMARY KEY REFERENCES maps (file_id) ON DELETE CASCADE,
    original   bigint NOT NULL,
    digest     bytea NOT NULL,
    visibility text COLLATE "C" NOT NULL
);
