import type { LimitTables } from "../../../state/limit-rules.ts";
import type { Places } from "../../../state/limits.port.ts";
import type { Database } from "./file.ts";

/** The number of calls in one window between two sweeps for calls that have left the window. */
const CALLS_A_SWEEP = 32;

/** The tables of limits, inside one transaction. */
export function limitTables(database: Database): LimitTables {
  return {
    nthNewest({ key, windowMs }, n) {
      const sql =
        "SELECT at FROM window_call WHERE key = :key AND n = (SELECT max(n) FROM window_call WHERE key = :key) - :back";
      return database.get<{ at: number }>(sql, { key: `${windowMs} ${key}`, back: n - 1 })?.at;
    },
    addCall({ key: of, windowMs, calls }, now) {
      const key = `${windowMs} ${of}`;
      const sql =
        "INSERT INTO window_call SELECT :key, coalesce(max(n), 0) + 1, :now, :until FROM window_call WHERE key = :key RETURNING n";
      const n = database.get<{ n: number }>(sql, { key, now, until: now + windowMs })?.n ?? 0;
      // Older calls have left the window. Otherwise this call would not have been admitted.
      if (n % CALLS_A_SWEEP === 0)
        database.run("DELETE FROM window_call WHERE key = :key AND n <= :old", { key, old: n - calls });
    },
    isFull(key, limit, now) {
      const sql = "SELECT count(*) AS held FROM holder WHERE key = :key AND until > :now";
      return (database.get<{ held: number }>(sql, { key, now })?.held ?? 0) >= limit;
    },
    hold(id, places, until) {
      const sql = "INSERT OR REPLACE INTO holder VALUES (:key, :id, :until)";
      for (const key of rowsOf(places)) database.run(sql, { key, id, until });
    },
    letGo(id, places, now) {
      let isHeld = false;
      for (const key of rowsOf(places)) {
        const sql = "DELETE FROM holder WHERE key = :key AND id = :id RETURNING until";
        const row = database.get<{ until: number }>(sql, { key, id });
        isHeld ||= row !== undefined && row.until > now;
      }
      return isHeld;
    },
    addUse({ key, amount, keepMs }, now) {
      const sql =
        "INSERT INTO quota VALUES (:key, :amount, :until) ON CONFLICT DO UPDATE SET total = iif(until <= :now, 0, total) + :amount, until = excluded.until RETURNING total";
      return database.get<{ total: number }>(sql, { key, amount, until: now + keepMs, now })?.total ?? amount;
    },
    breaker(key) {
      const sql =
        "SELECT failures, era, probe_at AS probeAt, probe_id AS id, probe_until AS until FROM breaker WHERE key = :key";
      type Row = { failures: number; era: number; probeAt: number | null; id: string | null; until: number | null };
      const row = database.get<Row>(sql, { key });
      if (row === undefined) return undefined;
      const { failures, era, probeAt, id, until } = row;
      const probe = id === null || until === null ? undefined : { id, until };
      return { failures, era, probeAt: probeAt ?? undefined, probe };
    },
    setBreaker(key, breaker) {
      if (breaker === undefined) {
        database.run("DELETE FROM breaker WHERE key = :key", { key });
        return;
      }
      const { failures, era, probeAt = null, probe } = breaker;
      database.run("INSERT OR REPLACE INTO breaker VALUES (:key, :failures, :era, :probeAt, :probeId, :probeUntil)", {
        key,
        failures,
        era,
        probeAt,
        probeId: probe?.id ?? null,
        probeUntil: probe?.until ?? null,
      });
    },
    nextEra: () => nextVersion(database),
    count(key, what, second) {
      const sql = `INSERT INTO budget VALUES (:key, :second, ${what === "calls" ? "1, 0" : "0, 1"}) ON CONFLICT DO UPDATE SET ${what} = ${what} + 1`;
      database.run(sql, { key, second });
    },
    sum(key, what, from, to) {
      const sql = `SELECT sum(${what}) AS counted FROM budget WHERE key = :key AND second BETWEEN :from AND :to`;
      return database.get<{ counted: number | null }>(sql, { key, from, to })?.counted ?? 0;
    },
  };
}

/** Returns a number that this file has never used. */
export function nextVersion(database: Database): number {
  const row = database.get<{ value: number }>("UPDATE last_version SET value = value + 1 RETURNING value");
  return row?.value ?? 0;
}

/** A pass without places has its own row, so it cannot be released twice. */
function rowsOf(places: readonly Places[]): readonly string[] {
  return places.length === 0 ? [""] : places.map(({ key }) => key);
}
