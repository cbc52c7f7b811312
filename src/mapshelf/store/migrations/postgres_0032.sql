-- When a map was last hidden from everybody, as in sqlite_0032.sql.
CREATE TABLE hidings (
    file_id  bigint PRIMARY KEY REFERENCES maps (file_id) ON DELETE CASCADE,
    revision bigint NOT NULL
);

CREATE FUNCTION note_hiding() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT
AS $$ BEGIN
    INSERT INTO hidings VALUES (new.file_id, new.revision)
        ON CONFLICT (file_id) DO UPDATE SET revision = excluded.revision;
    RETURN NULL;
END $$;

CREATE TRIGGER maps_hidden AFTER UPDATE OF visibility ON maps FOR EACH ROW
    WHEN (old.visibility IN ('published', 'unlisted')
        AND new.visibility NOT IN ('published', 'unlisted'))
    EXECUTE FUNCTION note_hiding();

-- For pages of the maps of an owner: without the second column, all maps of others are looked at.
DROP INDEX maps_owner;
CREATE INDEX maps_owner ON maps (owner_id, file_id);
