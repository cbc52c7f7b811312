-- When a map was last hidden from everybody. What takes long to make of a map may have been made of a
-- file that its owner replaced before publishing it again.
CREATE TABLE hidings (
    file_id  INTEGER PRIMARY KEY REFERENCES maps (file_id) ON DELETE CASCADE,
    revision INTEGER NOT NULL
) STRICT;

CREATE TRIGGER maps_hidden AFTER UPDATE OF visibility ON maps
WHEN old.visibility IN ('published', 'unlisted') AND new.visibility NOT IN ('published', 'unlisted')
BEGIN
    DELETE FROM hidings WHERE file_id = new.file_id;
    INSERT INTO hidings VALUES (new.file_id, new.revision);
END;
