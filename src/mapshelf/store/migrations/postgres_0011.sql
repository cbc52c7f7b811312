-- Imported folders and renamed tags, as in sqlite_0011.sql.

CREATE TABLE imported_folders (
    digest   bytea PRIMARY KEY,
    finished bigint
);

CREATE TABLE renamed_tags (
    name_key text COLLATE "C" PRIMARY KEY,
    name     text COLLATE "C" NOT NULL
);

INSERT INTO outdated SELECT file_id FROM files ON CONFLICT DO NOTHING;
