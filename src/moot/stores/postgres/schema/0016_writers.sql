-- A hub keeps what it has loaded from one batch to the next, as long as nobody else has written: each writer has a row, which
-- names the transaction in which it last wrote something that hubs keep.

CREATE TABLE writers (
    id text COLLATE "C" PRIMARY KEY,
    number bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 20);

-- Who writes by hand, or with an older Moot, has no row: the tables themselves note it.
CREATE FUNCTION note_other_writer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    EXECUTE format(
        'INSERT INTO %I.writers (id, number) VALUES ('''', $1) ON CONFLICT (id) DO UPDATE SET number = excluded.number, at = now()',
        TG_TABLE_SCHEMA
    ) USING pg_current_xact_id()::text::bigint;
    RETURN NULL;
END $$;

DO $$ DECLARE name text; BEGIN
    FOREACH name IN ARRAY ARRAY[
        'conversations', 'members', 'turns', 'rounds', 'roots', 'pairs', 'quotas', 'registry', 'aliases', 'hosts'
    ] LOOP
        EXECUTE format(
            'CREATE TRIGGER other_writer AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON %I FOR EACH STATEMENT '
            'WHEN (coalesce(current_setting(''moot.writer'', true), '''') = '''') EXECUTE FUNCTION note_other_writer()',
            name
        );
    END LOOP;
END $$;

-- What all other writers have written last: as long as it stays the same, nobody else has changed what a hub keeps.
CREATE FUNCTION others_wrote() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce(string_agg(id || ' ' || number, ',' ORDER BY id), '') FROM writers WHERE id <> current_setting('moot.writer')
$$;
