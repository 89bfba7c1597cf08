import type { Clock } from "../../../observe/clock.ts";
import {
  createPresence,
  type KnownProcesses,
  PRESENCE_MS,
  type RenewedPresence,
} from "../../../state/renewed-presence.ts";
import { describeProcess, hasEnded } from "../../../system/process-table.ts";
import { quoted } from "../../postgres/postgres.ts";
import type { StateDatabase } from "./database.ts";

/** The timeout of a renewal, in milliseconds, before it is retried. */
const PATIENCE_MS = 2_000;

/**
 * Returns the SQL of the table of processes. The ids of everything that a process holds start with the process's id. Waiting calls check for free
 * places themselves.
 */
export function processTables(schema: string): string {
  const s = quoted(schema);
  return `
  CREATE TABLE ${s}.state_process (id text COLLATE "C" PRIMARY KEY, description text NOT NULL, until double precision NOT NULL);

  -- Frees everything that a process holds, and forgets it.
  CREATE FUNCTION ${s}.process_free(p_id text) RETURNS void LANGUAGE sql AS $$
    DELETE FROM ${s}.limit_holder WHERE starts_with(id, p_id || ':');
    DELETE FROM ${s}.limit_waiter WHERE handle = p_id;
    UPDATE ${s}.limit_breaker SET probe_id = NULL, probe_until = NULL WHERE starts_with(probe_id, p_id || ':');
    DELETE FROM ${s}.state_lease WHERE starts_with(holder, p_id || ':');
    DELETE FROM ${s}.state_process WHERE id = p_id;
  $$;

  CREATE FUNCTION ${s}.process_leave(p_id text, p_at double precision) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM ${s}.limit_begin(p_at);
    PERFORM ${s}.process_free(p_id);
  END $$;

  -- Keeps a process, and frees all that others hold which have ended or, if they may, are late.
  CREATE FUNCTION ${s}.process_renew(
    p_id text, p_description text, p_ended text[], p_late boolean, p_at double precision
  ) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    v_now double precision := ${s}.limit_begin(p_at);
    v_known boolean;
  BEGIN
    UPDATE ${s}.state_process SET until = v_now + ${PRESENCE_MS} WHERE id = p_id;
    v_known := FOUND;
    IF NOT v_known THEN
      INSERT INTO ${s}.state_process VALUES (p_id, p_description, v_now + ${PRESENCE_MS});
    END IF;
    PERFORM ${s}.process_free(id) FROM ${s}.state_process WHERE id <> p_id AND (id = ANY(p_ended) OR (p_late AND until <= v_now));
    RETURN jsonb_build_object('wasKnown', v_known, 'others', coalesce(
      (SELECT jsonb_agg(jsonb_build_object('id', id, 'description', description)) FROM ${s}.state_process WHERE id <> p_id), '[]'));
  END $$;`;
}

export function createPostgresPresence(database: StateDatabase, clock: Clock): RenewedPresence {
  const { schema } = database;
  return createPresence(
    {
      async renew({ id, description, ended, late }) {
        const sql = `SELECT ${schema}.process_renew($1, $2, $3, $4, $5) AS known`;
        const values = [id, description, ended, late, database.now()];
        const [row] = await database.ask<{ known: KnownProcesses }>(sql, values, { withinMs: PATIENCE_MS });
        return row?.known ?? { wasKnown: false, others: [] };
      },
      async leave(id) {
        await database.ask(`SELECT ${schema}.process_leave($1, $2)`, [id, database.now()]);
      },
    },
    clock,
    { describe: describeProcess, hasEnded },
  );
}
