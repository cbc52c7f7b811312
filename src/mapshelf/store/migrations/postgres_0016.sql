-- A mark drawn at random with each transaction that gives revisions, as in sqlite_0016.sql.

CREATE TABLE marks (
    revision bigint PRIMARY KEY,
    mark     text COLLATE "C" NOT NULL
);
INSERT INTO marks SELECT revision, left(md5(gen_random_uuid()::text), 16)
    FROM sequence WHERE revision > 0;

CREATE FUNCTION mark_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO mapshelf.marks VALUES (new.revision, left(md5(gen_random_uuid()::text), 16))
        ON CONFLICT (revision) DO UPDATE SET mark = excluded.mark;
    DELETE FROM mapshelf.marks WHERE revision <= new.revision - 100000;
    RETURN NULL;
END
$$;
CREATE TRIGGER sequence_mark AFTER UPDATE ON sequence
    FOR EACH ROW WHEN (new.revision <> old.revision) EXECUTE FUNCTION mark_revision();
