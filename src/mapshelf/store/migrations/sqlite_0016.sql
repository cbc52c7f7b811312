-- A mark drawn at random with each revision: copies of a catalogue that were changed apart from each
-- other have the same revisions, but not the same marks. Old ones are of no use.
CREATE TABLE marks (
    revision INTEGER PRIMARY KEY,
    mark     TEXT NOT NULL
) STRICT;
INSERT INTO marks SELECT revision, lower(hex(randomblob(8))) FROM sequence WHERE revision > 0;

CREATE TRIGGER sequence_mark AFTER UPDATE OF revision ON sequence WHEN new.revision <> old.revision
BEGIN
    INSERT OR REPLACE INTO marks VALUES (new.revision, lower(hex(randomblob(8))));
    DELETE FROM marks WHERE revision <= new.revision - 100000;
END;
