import { hash } from "node:crypto";
import { quoted } from "../../postgres/postgres.ts";

/** How long a message is kept for processes that cannot reach the database, in milliseconds. */
const KEEP_MESSAGES_MS = 3_600_000;

/** Returns the channel that notifies processes of new data. The longest schema name must still fit into it. */
export function channelOf(schema: string): string {
  return `toolarsenal_state_${hash("sha256", schema, "hex").slice(0, 16)}`;
}

/** Returns the SQL of the tables for documents, messages and leases. JSON is stored as text, because `jsonb` rejects some valid JSON. */
export function stateTables(schema: string): string {
  const s = quoted(schema);
  return `
  CREATE SEQUENCE ${s}.state_version;
  CREATE TABLE ${s}.state_document (
    key text COLLATE "C" PRIMARY KEY, value text NOT NULL, version bigint NOT NULL, expires_at double precision
  );
  CREATE INDEX ON ${s}.state_document (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE ${s}.state_lease (name text COLLATE "C" PRIMARY KEY, holder text NOT NULL, until double precision NOT NULL);
  CREATE TABLE ${s}.state_change (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, topic text NOT NULL, data text NOT NULL, at double precision NOT NULL
  );
  CREATE INDEX ON ${s}.state_change (at);

  -- Milliseconds since the epoch by the server's clock, or by that of a test.
  CREATE FUNCTION ${s}.state_now(p_at double precision) RETURNS double precision LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(p_at, extract(epoch FROM clock_timestamp())::double precision * 1000)
  $$;

  -- One at a time: numbers are then seen in their order, and a reader that has seen one has seen all before it.
  CREATE FUNCTION ${s}.state_publish(p_topic text, p_data text, p_at double precision) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    v_now double precision;
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(${literal(`${schema}:changes`)}, 0));
    v_now := ${s}.state_now(p_at);
    DELETE FROM ${s}.state_change WHERE at < v_now - ${KEEP_MESSAGES_MS};
    INSERT INTO ${s}.state_change (topic, data, at) VALUES (p_topic, p_data, v_now);
    PERFORM pg_notify(${literal(channelOf(schema))}, 'change');
  END $$;`;
}

/** Quotes a text for SQL. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
