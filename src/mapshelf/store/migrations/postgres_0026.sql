-- Places that files have left follow a folder that is somewhere else now, as in sqlite_0026.sql.
ALTER TABLE former_places ADD COLUMN path bytea NOT NULL DEFAULT '';
