-- Several files may have left one place, and places follow a folder that is somewhere else now, as in
-- sqlite_0026.sql.
ALTER TABLE former_places ADD COLUMN path bytea NOT NULL DEFAULT '';
ALTER TABLE former_places DROP CONSTRAINT former_places_pkey;
ALTER TABLE former_places ADD PRIMARY KEY (digest, file_id);
