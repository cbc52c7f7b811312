-- A transaction changes the mark of the tokens once. It changed it for every row before, and ending
-- 40,000 sessions took longer than a node waits: each change of a row looks through those before it.
CREATE OR REPLACE FUNCTION change_token_mark() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
BEGIN
    IF coalesce(current_setting('mapshelf.token_mark', true), '') <> 'changed' THEN
        UPDATE token_mark SET mark = gen_random_uuid()::text;
        PERFORM set_config('mapshelf.token_mark', 'changed', true);
    END IF;
    RETURN NULL;
END $$;
