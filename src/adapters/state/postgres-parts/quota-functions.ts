import { quoted } from "../../postgres/postgres.ts";

/**
 * Returns the SQL of the totals of quotas. It wraps the functions that admit and release a call, which then also check and count quotas, in the same
 * round trip.
 */
export function quotaTables(schema: string): string {
  const s = quoted(schema);
  return `
  CREATE TABLE ${s}.limit_quota (key text COLLATE "C" PRIMARY KEY, total bigint NOT NULL, until double precision NOT NULL);

  -- Adds to the totals of quotas. Returns them.
  CREATE FUNCTION ${s}.limit_use(p_quotas jsonb, p_now double precision) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    v_one jsonb;
    v_total bigint;
    v_used jsonb := '[]';
  BEGIN
    FOR v_one IN SELECT value FROM jsonb_array_elements(p_quotas) WITH ORDINALITY ORDER BY ordinality LOOP
      INSERT INTO ${s}.limit_quota VALUES (v_one ->> 'key', (v_one ->> 'amount')::bigint, p_now + (v_one ->> 'keepMs')::double precision)
        ON CONFLICT (key) DO UPDATE SET
          total = CASE WHEN limit_quota.until <= p_now THEN 0 ELSE limit_quota.total END + excluded.total, until = excluded.until
        RETURNING total INTO v_total;
      v_used := v_used || to_jsonb(v_total);
    END LOOP;
    RETURN v_used;
  END $$;

  ALTER FUNCTION ${s}.limit_try(text, jsonb, double precision, double precision) RENAME TO limit_try_unquoted;
  CREATE FUNCTION ${s}.limit_try(p_id text, p_request jsonb, p_hold_ms double precision, p_now double precision) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    v_one jsonb;
    v_total bigint;
    v_answer jsonb;
  BEGIN
    IF p_request -> 'quotas' IS NULL THEN
      RETURN ${s}.limit_try_unquoted(p_id, p_request, p_hold_ms, p_now);
    END IF;
    FOR v_one IN SELECT value FROM jsonb_array_elements(p_request -> 'quotas') WITH ORDINALITY ORDER BY ordinality LOOP
      SELECT total INTO v_total FROM ${s}.limit_quota WHERE key = v_one ->> 'key' AND until > p_now;
      IF coalesce(v_total, 0) + greatest(1, (v_one ->> 'amount')::bigint) > (v_one ->> 'limit')::bigint THEN
        RETURN jsonb_build_object('admitted', false, 'because', 'quota', 'key', v_one -> 'key');
      END IF;
    END LOOP;
    v_answer := ${s}.limit_try_unquoted(p_id, p_request, p_hold_ms, p_now);
    IF (v_answer ->> 'admitted')::boolean THEN
      v_answer := v_answer || jsonb_build_object('used', ${s}.limit_use(p_request -> 'quotas', p_now));
    END IF;
    RETURN v_answer;
  END $$;

  ALTER FUNCTION ${s}.limit_give_back(jsonb, text, double precision) RENAME TO limit_give_back_unquoted;
  CREATE FUNCTION ${s}.limit_give_back(p_pass jsonb, p_outcome text, p_now double precision) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    v_counts boolean := p_pass ? 'spent' AND EXISTS (
      SELECT 1 FROM ${s}.limit_holder WHERE key = ANY(${s}.limit_places(p_pass)) AND id = p_pass ->> 'id' AND until > p_now
    );
    v_answer jsonb := ${s}.limit_give_back_unquoted(p_pass, p_outcome, p_now);
  BEGIN
    IF v_counts THEN
      v_answer := v_answer || jsonb_build_object('used', ${s}.limit_use(p_pass -> 'spent', p_now));
    END IF;
    RETURN v_answer;
  END $$;

  ALTER FUNCTION ${s}.limit_sweep(double precision) RENAME TO limit_sweep_unquoted;
  CREATE FUNCTION ${s}.limit_sweep(p_at double precision) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM ${s}.limit_sweep_unquoted(p_at);
    DELETE FROM ${s}.limit_quota WHERE until <= ${s}.state_now(p_at);
  END $$;`;
}
