-- The tenant of a thread is what its id begins with, before the slash. Tenant "" is in no index of
-- its own, so nothing is written for it where no other is used.

CREATE FUNCTION {schema}.tenant_of(p_id text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT left(p_id, greatest(strpos(p_id, '/') - 1, 0))
$$;

ALTER TABLE {schema}.interrupt ADD COLUMN tenant text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE {schema}.log ADD COLUMN tenant text COLLATE "C" NOT NULL DEFAULT '';
-- All threads are of tenant "", but for the tables of shapes, which have one commit each.
UPDATE {schema}.log l SET tenant = 'shapes' FROM {schema}.thread t
	WHERE t.n = l.thread AND t.id > 'shapes/' AND t.id < 'shapes0';
DROP INDEX {schema}.interrupt_open;
CREATE INDEX interrupt_open ON {schema}.interrupt(tenant, priority, created, id) WHERE state = 0;
CREATE INDEX interrupt_tenant ON {schema}.interrupt(tenant, n) WHERE tenant <> '';
CREATE INDEX log_tenant ON {schema}.log(tenant, x, place) WHERE tenant <> '';

-- commit_threads writes the changes of one call, or nothing, in one round trip. The thread of row n
-- is p_id[n]; r_, i_ and l_ are requests, interrupts and rows of the log, and ..._of the number of
-- their thread. p_id is sorted. It returns NULL when it is done, and otherwise why it conflicts.
-- A call that is repeated with its token is done once.
CREATE OR REPLACE FUNCTION {schema}.commit_threads(p_token bigint, p_id text[], p_before bigint[], p_fence bigint[],
	p_version bigint[], p_next bigint[], p_status bigint[], p_owner text[], p_wake bigint[],
	p_fingerprint text[], p_body text[], p_crc bigint[],
	r_of bigint[], r_id text[], r_seq bigint[],
	i_of bigint[], i_id text[], i_kind text[], i_node text[], i_state bigint[], i_priority bigint[],
	i_created bigint[], i_who text[], i_body text[], i_crc bigint[],
	l_of bigint[], l_seq bigint[], l_place bigint[], l_body text[], l_crc bigint[])
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	v_n     bigint[] := '{}';
	v_key   bigint;
	v_x     bigint;
	v_start bigint;
	v_line  text;
	v_had   record;
BEGIN
	IF current_setting('synchronous_commit') = 'off' THEN
		PERFORM set_config('synchronous_commit', 'on', true);
	END IF;
	PERFORM set_config('lock_timeout', '5s', true);
	IF cardinality(p_id) > 1 THEN -- existing rows first, in one order, so that two calls cannot cross
		PERFORM 1 FROM {schema}.thread WHERE id = ANY (p_id) ORDER BY id FOR UPDATE;
	END IF;
	FOR k IN 1 .. cardinality(p_id) LOOP
		v_key := NULL;
		IF p_before[k] > 0 THEN
			UPDATE {schema}.thread SET version = p_version[k], fence = p_next[k], token = p_token,
				wake = p_wake[k], crc = p_crc[k], status = p_status[k], owner = p_owner[k],
				fingerprint = p_fingerprint[k], body = p_body[k]
				WHERE id = p_id[k] AND version = p_before[k] AND (p_fence[k] = 0 OR fence = p_fence[k])
				RETURNING n INTO v_key;
		ELSIF p_fence[k] = 0 THEN
			INSERT INTO {schema}.thread(version, fence, token, wake, crc, status, id, owner, fingerprint, body)
				VALUES (p_version[k], p_next[k], p_token, p_wake[k], p_crc[k], p_status[k], p_id[k], p_owner[k],
					p_fingerprint[k], p_body[k])
				ON CONFLICT DO NOTHING RETURNING n INTO v_key;
		END IF;
		IF v_key IS NULL THEN
			SELECT n, version, fence, token INTO v_had FROM {schema}.thread WHERE id = p_id[k];
			IF v_had.token = p_token OR EXISTS (SELECT FROM {schema}.log WHERE thread = v_had.n AND token = p_token
				AND seq IN (SELECT l_seq[j] FROM generate_subscripts(l_of, 1) j WHERE l_of[j] = k)) THEN
				-- It was done. The lock writes something, so that this returns no sooner than a standby has it.
				PERFORM 1 FROM {schema}.thread WHERE n = v_had.n FOR UPDATE;
				RETURN NULL;
			END IF;
			-- What was written for threads before this one must not stay.
			v_line := CASE WHEN coalesce(v_had.version, 0) <> p_before[k]
				THEN format('%s version %s is stored, and %s was changed', k, coalesce(v_had.version, 0), p_before[k])
				ELSE format('%s another engine drives it: its fence is %s, not %s', k, coalesce(v_had.fence, 0), p_fence[k]) END;
			IF k = 1 THEN
				RETURN v_line;
			END IF;
			RAISE EXCEPTION USING ERRCODE = 'RG409', MESSAGE = v_line;
		END IF;
		v_n[k] := v_key;
		IF p_wake[k] IS NULL AND p_status[k] <> 1 THEN
			IF p_before[k] > 0 THEN
				DELETE FROM {schema}.due WHERE thread = v_key;
			END IF;
		ELSE
			INSERT INTO {schema}.due AS d(thread, wake, running) VALUES (v_key, p_wake[k], p_status[k] = 1)
				ON CONFLICT (thread) DO UPDATE SET wake = excluded.wake, running = excluded.running
				WHERE (d.wake, d.running) IS DISTINCT FROM (excluded.wake, excluded.running);
		END IF;
	END LOOP;
	FOR j IN 1 .. coalesce(cardinality(r_of), 0) LOOP
		INSERT INTO {schema}.request(thread, id, seq) VALUES (v_n[r_of[j]], r_id[j], r_seq[j]) ON CONFLICT DO NOTHING;
		IF NOT FOUND THEN
			RAISE EXCEPTION USING ERRCODE = 'RG409', MESSAGE = r_of[j] || ' a request of it was done before';
		END IF;
	END LOOP;
	FOR j IN 1 .. coalesce(cardinality(i_of), 0) LOOP
		INSERT INTO {schema}.interrupt AS i(thread, tenant, id, kind, node, state, priority, created, who, body, crc)
			VALUES (v_n[i_of[j]], {schema}.tenant_of(p_id[i_of[j]]), i_id[j], i_kind[j], i_node[j], i_state[j], i_priority[j], i_created[j],
				i_who[j]::text[], i_body[j], i_crc[j])
			ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, node = excluded.node, state = excluded.state,
				priority = excluded.priority, created = excluded.created, who = excluded.who, body = excluded.body,
				crc = excluded.crc
			WHERE i.thread = excluded.thread;
		IF NOT FOUND THEN
			RAISE EXCEPTION USING ERRCODE = 'RG409', MESSAGE = i_of[j] || ' another thread has one of its interrupts';
		END IF;
	END LOOP;
	IF cardinality(l_of) > 0 THEN
		-- The table of threads is locked by now, so new_line has ended or waits.
		SELECT start, line INTO v_start, v_line FROM {schema}.settings;
		IF v_line <> left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) THEN
			RAISE EXCEPTION USING ERRCODE = 'RG410', MESSAGE = 'the server has another timeline';
		END IF;
		v_x := v_start + pg_current_xact_id()::text::bigint;
		FOR j IN 1 .. cardinality(l_of) LOOP
			INSERT INTO {schema}.log(thread, tenant, seq, x, token, crc, place, body)
				VALUES (v_n[l_of[j]], {schema}.tenant_of(p_id[l_of[j]]), l_seq[j], v_x, p_token, l_crc[j], l_place[j], l_body[j]);
		END LOOP;
	END IF;
	RETURN NULL;
END $$;
