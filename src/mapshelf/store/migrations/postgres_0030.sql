-- A transaction changes the mark of the tokens once. It changed it for every row before, and ending
-- 40,000 sessions took longer than a node waits: each change of a row looks through those before it.
CREATE OR REPLACE FUNCTION change_token_mark() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
DECLARE
    this text := pg_current_xact_id();
BEGIN
    IF current_setting('mapshelf.token_mark_changed_by', true) IS DISTINCT FROM this THEN
        UPDATE token_mark SET mark = gen_random_uuid()::text;
        PERFORM set_config('mapshelf.token_mark_changed_by', this, true);
    END IF;
    RETURN NULL;
END $$;
