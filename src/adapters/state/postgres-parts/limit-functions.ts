import { quoted } from "../../postgres/postgres.ts";
import { RETRIES_ALWAYS_ALLOWED } from "../../../state/limit-rules.ts";
import { channelOf, literal } from "./tables.ts";

/** How long a place is reserved for another process's call, until that process takes it, in milliseconds. */
const CLAIM_MS = 2_000;

/** The number of calls in one window between two sweeps for calls that have left the window. */
const CALLS_A_SWEEP = 32;

/**
 * Returns the SQL of the tables and rules of limits. The rules are those of src/state/limit-rules.ts. The database runs them under one lock, by its
 * own clock, so a call needs one round trip before it runs and one after. Rows are short-lived, so the tables are vacuumed often. A crash of the
 * database may lose the last second, because calls do not wait for its disk; changes of breakers are always durable.
 */
export function limitTables(schema: string): string {
  const s = quoted(schema);
  const notify = (what: string): string => `PERFORM pg_notify(${literal(channelOf(schema))}, ${what})`;
  const brief = "WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)";
  return `
  CREATE SEQUENCE ${s}.limit_era;
  CREATE TABLE ${s}.limit_window (key text COLLATE "C" PRIMARY KEY, n bigint NOT NULL, until double precision NOT NULL) ${brief};
  CREATE TABLE ${s}.limit_call (
    key text COLLATE "C", n bigint, at double precision NOT NULL, until double precision NOT NULL, PRIMARY KEY (key, n)
  ) ${brief};
  CREATE TABLE ${s}.limit_holder (key text COLLATE "C", id text COLLATE "C", until double precision NOT NULL, PRIMARY KEY (key, id)) ${brief};
  CREATE TABLE ${s}.limit_breaker (
    key text COLLATE "C" PRIMARY KEY, failures integer NOT NULL, era bigint NOT NULL,
    probe_at double precision, probe_id text, probe_until double precision
  );
  CREATE TABLE ${s}.limit_budget (
    key text COLLATE "C", second bigint, calls bigint NOT NULL, retries bigint NOT NULL, PRIMARY KEY (key, second)
  ) ${brief};
  CREATE TABLE ${s}.limit_waiter (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL, handle text NOT NULL, request jsonb NOT NULL, places text[] NOT NULL,
    until double precision NOT NULL, answer jsonb
  ) ${brief};

  -- One process at a time. Returns the time at which it is this one's turn.
  CREATE FUNCTION ${s}.limit_begin(p_at double precision) RETURNS double precision LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(${literal(`${schema}:limits`)}, 0));
    PERFORM set_config('synchronous_commit', 'off', true);
    RETURN ${s}.state_now(p_at);
  END $$;

  -- Takes everything a call needs, or nothing.
  CREATE FUNCTION ${s}.limit_try(p_id text, p_request jsonb, p_hold_ms double precision, p_now double precision) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    v_breaker ${s}.limit_breaker;
    v_key text := p_request #>> '{breaker,key}';
    v_probe boolean := false;
    v_one jsonb;
    v_at double precision;
    v_wait double precision;
    v_longest double precision := 0;
    v_tightest jsonb;
    v_n bigint;
  BEGIN
    IF v_key IS NOT NULL THEN
      SELECT * INTO v_breaker FROM ${s}.limit_breaker WHERE key = v_key;
      v_probe := v_breaker.probe_at IS NOT NULL;
      IF v_breaker.probe_at > p_now THEN
        RETURN jsonb_build_object('admitted', false, 'because', 'breaker', 'key', v_key, 'retryAfterMs', ceil(v_breaker.probe_at - p_now));
      ELSIF v_probe AND v_breaker.probe_until > p_now THEN
        RETURN jsonb_build_object('admitted', false, 'because', 'breaker', 'key', v_key);
      END IF;
    END IF;
    FOR v_one IN SELECT * FROM jsonb_array_elements(p_request -> 'windows') LOOP
      v_key := (v_one ->> 'windowMs') || ' ' || (v_one ->> 'key');
      SELECT n INTO v_n FROM ${s}.limit_window WHERE key = v_key;
      SELECT at INTO v_at FROM ${s}.limit_call WHERE key = v_key AND n = v_n - (v_one ->> 'calls')::bigint + 1;
      IF FOUND THEN
        v_wait := ceil(v_at + (v_one ->> 'windowMs')::double precision - p_now);
        IF v_wait > v_longest THEN
          v_longest := v_wait;
          v_tightest := v_one;
        END IF;
      END IF;
    END LOOP;
    IF v_tightest IS NOT NULL THEN
      RETURN jsonb_build_object('admitted', false, 'because', 'window', 'key', v_tightest -> 'key', 'windowMs', v_tightest -> 'windowMs', 'retryAfterMs', v_longest);
    END IF;
    FOR v_one IN SELECT * FROM jsonb_array_elements(p_request -> 'places') LOOP
      IF (SELECT count(*) FROM ${s}.limit_holder WHERE key = v_one ->> 'key' AND until > p_now) >= (v_one ->> 'limit')::bigint THEN
        RETURN jsonb_build_object('admitted', false, 'because', 'places', 'key', v_one -> 'key');
      END IF;
    END LOOP;

    FOR v_one IN SELECT * FROM jsonb_array_elements(p_request -> 'windows') LOOP
      v_key := (v_one ->> 'windowMs') || ' ' || (v_one ->> 'key');
      v_at := p_now + (v_one ->> 'windowMs')::double precision;
      INSERT INTO ${s}.limit_window VALUES (v_key, 1, v_at)
        ON CONFLICT (key) DO UPDATE SET n = limit_window.n + 1, until = excluded.until RETURNING n INTO v_n;
      INSERT INTO ${s}.limit_call VALUES (v_key, v_n, p_now, v_at);
      -- Whatever is older than the last calls has left the window, or this call would not have been admitted.
      IF v_n % ${CALLS_A_SWEEP} = 0 THEN
        DELETE FROM ${s}.limit_call WHERE key = v_key AND n <= v_n - (v_one ->> 'calls')::bigint;
      END IF;
    END LOOP;
    -- A pass without places has a row of its own, so that it cannot be given back twice.
    INSERT INTO ${s}.limit_holder SELECT one, p_id, p_now + p_hold_ms FROM unnest(${s}.limit_places(p_request)) AS one
      ON CONFLICT (key, id) DO UPDATE SET until = excluded.until;
    IF p_request #>> '{budget,key}' IS NOT NULL THEN
      INSERT INTO ${s}.limit_budget VALUES (p_request #>> '{budget,key}', floor(p_now / 1000), 1, 0)
        ON CONFLICT (key, second) DO UPDATE SET calls = limit_budget.calls + 1;
    END IF;
    IF v_probe THEN
      UPDATE ${s}.limit_breaker SET probe_id = p_id, probe_until = p_now + p_hold_ms WHERE key = v_breaker.key;
    END IF;
    RETURN jsonb_build_object('admitted', true, 'probe', v_probe, 'era', coalesce(v_breaker.era, 0));
  END $$;

  -- The rows of a pass in limit_holder.
  CREATE FUNCTION ${s}.limit_places(p_request jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(nullif(array(SELECT one ->> 'key' FROM jsonb_array_elements(p_request -> 'places') AS one), '{}'), '{""}')
  $$;

  -- Admits the waiting calls that can run now, in the order in which they came, in any process. Returns the answers to those of this one.
  CREATE FUNCTION ${s}.limit_serve(p_handle text, p_now double precision) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    v_waiter ${s}.limit_waiter;
    v_told jsonb := '[]';
    v_full text[] := '{}';
    v_answer jsonb;
    v_last bigint := 0;
  BEGIN
    -- Takes what other processes gave this one. What came too late is free again, and is asked for once more.
    FOR v_waiter IN SELECT * FROM ${s}.limit_waiter WHERE handle = p_handle AND answer IS NOT NULL AND until > p_now ORDER BY n LOOP
      IF (v_waiter.answer ->> 'admitted')::boolean THEN
        UPDATE ${s}.limit_holder SET until = p_now + (v_waiter.request ->> 'holdMs')::double precision
          WHERE key = ANY(v_waiter.places) AND id = v_waiter.id AND until > p_now;
        IF NOT FOUND THEN
          UPDATE ${s}.limit_waiter SET answer = NULL WHERE n = v_waiter.n;
          CONTINUE;
        END IF;
        UPDATE ${s}.limit_breaker SET probe_until = p_now + (v_waiter.request ->> 'holdMs')::double precision
          WHERE key = v_waiter.request #>> '{breaker,key}' AND probe_id = v_waiter.id;
      END IF;
      DELETE FROM ${s}.limit_waiter WHERE n = v_waiter.n;
      v_told := v_told || jsonb_build_object('id', v_waiter.id, 'request', v_waiter.request, 'answer', v_waiter.answer);
    END LOOP;
    LOOP
      SELECT * INTO v_waiter FROM ${s}.limit_waiter
        WHERE n > v_last AND answer IS NULL AND until > p_now AND NOT places && v_full ORDER BY n LIMIT 1;
      EXIT WHEN NOT FOUND;
      v_last := v_waiter.n;
      v_answer := ${s}.limit_try(
        v_waiter.id, v_waiter.request,
        CASE WHEN v_waiter.handle = p_handle THEN (v_waiter.request ->> 'holdMs')::double precision ELSE ${CLAIM_MS} END, p_now);
      IF v_answer ->> 'because' = 'places' THEN
        v_full := v_full || (v_answer ->> 'key');
      ELSIF v_waiter.handle = p_handle THEN
        DELETE FROM ${s}.limit_waiter WHERE n = v_waiter.n;
        v_told := v_told || jsonb_build_object('id', v_waiter.id, 'request', v_waiter.request, 'answer', v_answer);
      ELSE
        -- That process may be gone: it is answered once.
        UPDATE ${s}.limit_waiter SET answer = v_answer WHERE n = v_waiter.n;
        ${notify("'place ' || v_waiter.handle")};
      END IF;
    END LOOP;
    RETURN v_told;
  END $$;

${breakerFunctions(s, notify)}`;
}

function breakerFunctions(s: string, notify: (what: string) => string): string {
  return `
  -- Gives back what a call held, and tells its breaker how it went.
  CREATE FUNCTION ${s}.limit_give_back(p_pass jsonb, p_outcome text, p_now double precision) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    v_key text := p_pass #>> '{breaker,key}';
    v_breaker ${s}.limit_breaker;
    v_held boolean;
    v_opens boolean := false;
    v_closes boolean := false;
    v_failures integer := 0;
  BEGIN
    WITH given_back AS (
      DELETE FROM ${s}.limit_holder WHERE key = ANY(${s}.limit_places(p_pass)) AND id = p_pass ->> 'id' RETURNING until
    )
    SELECT coalesce(bool_or(until > p_now), false) INTO v_held FROM given_back;
    IF NOT v_held OR v_key IS NULL THEN
      RETURN '{}';
    END IF;
    SELECT * INTO v_breaker FROM ${s}.limit_breaker WHERE key = v_key;
    IF coalesce(v_breaker.era, 0) <> (p_pass ->> 'era')::bigint THEN
      RETURN '{}';
    END IF;
    v_failures := coalesce(v_breaker.failures, 0) + 1;
    IF (p_pass ->> 'probe')::boolean THEN
      -- Another call probes by now, if this one took longer than it was allowed to.
      IF v_breaker.probe_id IS DISTINCT FROM p_pass ->> 'id' THEN
        RETURN '{}';
      END IF;
      v_opens := p_outcome = 'failure';
      v_closes := p_outcome = 'success';
      IF p_outcome = 'neutral' THEN
        UPDATE ${s}.limit_breaker SET probe_id = NULL, probe_until = NULL WHERE key = v_key;
      END IF;
    ELSIF p_outcome = 'failure' THEN
      v_opens := v_failures >= (p_pass #>> '{breaker,threshold}')::integer;
      IF NOT v_opens THEN
        INSERT INTO ${s}.limit_breaker (key, failures, era) VALUES (v_key, v_failures, 0)
          ON CONFLICT (key) DO UPDATE SET failures = excluded.failures;
      END IF;
    ELSIF p_outcome = 'success' AND v_breaker.failures > 0 THEN
      UPDATE ${s}.limit_breaker SET failures = 0 WHERE key = v_key AND era > 0;
      DELETE FROM ${s}.limit_breaker WHERE key = v_key AND era = 0;
    END IF;
    IF v_opens OR v_closes THEN
      INSERT INTO ${s}.limit_breaker (key, failures, era, probe_at) VALUES (
        v_key, CASE WHEN v_opens THEN v_failures ELSE 0 END, nextval(${literal(`${s}.limit_era`)}),
        CASE WHEN v_opens THEN p_now + (p_pass #>> '{breaker,coolDownMs}')::double precision END
      ) ON CONFLICT (key) DO UPDATE SET
        failures = excluded.failures, era = excluded.era, probe_at = excluded.probe_at, probe_id = NULL, probe_until = NULL;
      PERFORM set_config('synchronous_commit', 'on', true);
      ${notify("'breaker'")};
    END IF;
    RETURN CASE
      WHEN v_opens THEN jsonb_build_object('breaker', 'opened', 'failures', v_failures)
      WHEN v_closes THEN '{"breaker":"closed"}'::jsonb
      ELSE '{}'::jsonb
    END;
  END $$;

  -- A process ends: its calls leave the queue, and the others get its places.
  CREATE FUNCTION ${s}.limit_close(p_handle text, p_passes jsonb, p_at double precision) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    v_now double precision := ${s}.limit_begin(p_at);
    v_waiter ${s}.limit_waiter;
  BEGIN
    PERFORM ${s}.limit_give_back(pass, 'neutral', v_now) FROM jsonb_array_elements(p_passes) AS pass;
    FOR v_waiter IN DELETE FROM ${s}.limit_waiter WHERE handle = p_handle RETURNING * LOOP
      IF (v_waiter.answer ->> 'admitted')::boolean THEN
        PERFORM ${s}.limit_give_back(v_waiter.request || v_waiter.answer || jsonb_build_object('id', v_waiter.id), 'neutral', v_now);
      END IF;
    END LOOP;
    PERFORM ${s}.limit_serve(p_handle, v_now);
  END $$;

  -- A retry counts for up to a second more than its minute and a call for up to a second less, so that no minute has more than its share.
  CREATE FUNCTION ${s}.limit_retry(p_key text, p_share double precision, p_now double precision) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    v_second bigint := floor(p_now / 1000);
    v_calls bigint;
    v_retries bigint;
  BEGIN
    SELECT coalesce(sum(calls) FILTER (WHERE second >= v_second - 59), 0), coalesce(sum(retries), 0) INTO v_calls, v_retries
      FROM ${s}.limit_budget WHERE key = p_key AND second BETWEEN v_second - 60 AND v_second;
    IF p_share <= 0 OR v_retries >= greatest(${RETRIES_ALWAYS_ALLOWED}, floor(p_share * v_calls)) THEN
      RETURN false;
    END IF;
    INSERT INTO ${s}.limit_budget VALUES (p_key, v_second, 0, 1)
      ON CONFLICT (key, second) DO UPDATE SET retries = limit_budget.retries + 1;
    RETURN true;
  END $$;

  -- Does what calls of one process ask for, one after the other: [{"admit": ID, "request": …}, {"release": PASS, "outcome": …}, {"leave": ID},
  -- {"retry": KEY, "share": …}, {"forget": KEY}, {}]. Returns an answer to each, and the answers to calls of this process that waited.
  CREATE FUNCTION ${s}.limit_run(p_handle text, p_steps jsonb, p_at double precision) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    v_now double precision := ${s}.limit_begin(p_at);
    v_step jsonb;
    v_answer jsonb;
    v_answers jsonb := '[]';
    v_told jsonb := ${s}.limit_serve(p_handle, v_now);
    v_waiter ${s}.limit_waiter;
  BEGIN
    FOR v_step IN SELECT value FROM jsonb_array_elements(p_steps) WITH ORDINALITY ORDER BY ordinality LOOP
      v_answer := NULL;
      IF v_step ? 'admit' THEN
        v_answer := ${s}.limit_try(v_step ->> 'admit', v_step -> 'request', (v_step #>> '{request,holdMs}')::double precision, v_now);
        IF v_answer ->> 'because' = 'places' AND (v_step #>> '{request,waitMs}')::double precision > 0 THEN
          INSERT INTO ${s}.limit_waiter (id, handle, request, places, until) VALUES (
            v_step ->> 'admit', p_handle, v_step -> 'request', ${s}.limit_places(v_step -> 'request'),
            v_now + (v_step #>> '{request,waitMs}')::double precision);
          v_answer := NULL;
        END IF;
      ELSIF v_step ? 'release' THEN
        v_answer := ${s}.limit_give_back(v_step -> 'release', v_step ->> 'outcome', v_now);
        v_told := v_told || ${s}.limit_serve(p_handle, v_now);
      ELSIF v_step ? 'leave' THEN
        -- Another process may have answered already: what it gave goes back.
        DELETE FROM ${s}.limit_waiter WHERE id = v_step ->> 'leave' AND handle = p_handle RETURNING * INTO v_waiter;
        IF (v_waiter.answer ->> 'admitted')::boolean THEN
          PERFORM ${s}.limit_give_back(v_waiter.request || v_waiter.answer || jsonb_build_object('id', v_waiter.id), 'neutral', v_now);
          v_told := v_told || ${s}.limit_serve(p_handle, v_now);
        END IF;
      ELSIF v_step ? 'retry' THEN
        v_answer := to_jsonb(${s}.limit_retry(v_step ->> 'retry', (v_step ->> 'share')::double precision, v_now));
      ELSIF v_step ? 'forget' THEN
        DELETE FROM ${s}.limit_breaker WHERE key = v_step ->> 'forget';
        ${notify("'breaker'")};
      END IF;
      v_answers := v_answers || jsonb_build_array(v_answer);
    END LOOP;
    RETURN jsonb_build_object('answers', v_answers, 'told', v_told);
  END $$;

  -- Removes what is over.
  CREATE FUNCTION ${s}.limit_sweep(p_at double precision) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    v_now double precision := ${s}.limit_begin(p_at);
  BEGIN
    DELETE FROM ${s}.limit_call WHERE until <= v_now;
    DELETE FROM ${s}.limit_window WHERE until <= v_now;
    DELETE FROM ${s}.limit_holder WHERE until <= v_now;
    DELETE FROM ${s}.limit_waiter WHERE until <= v_now - 60000;
    DELETE FROM ${s}.limit_budget WHERE second < floor(v_now / 1000) - 61;
  END $$;`;
}
