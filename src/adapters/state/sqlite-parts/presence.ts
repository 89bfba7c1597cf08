import type { Clock } from "../../../observe/clock.ts";
import { createPresence, PRESENCE_MS, type RenewedPresence } from "../../../state/renewed-presence.ts";
import { describeProcess, hasEnded } from "../../../system/process-table.ts";
import type { Database, StateFile } from "./file.ts";

export function createSqlitePresence(file: StateFile, clock: Clock): RenewedPresence {
  const changing = <Value>(step: (database: Database, now: number) => Value): Promise<Value> =>
    file.change((database) => step(database, clock.now()), { durable: false });
  return createPresence(
    {
      renew: ({ id, description, ended, late }) =>
        changing((database, now) => {
          const until = now + PRESENCE_MS;
          const wasKnown = database.run("UPDATE process SET until = :until WHERE id = :id", { id, until }) === 1;
          if (!wasKnown)
            database.run("INSERT INTO process VALUES (:id, :description, :until)", { id, description, until });
          const others = database.all<{ id: string; description: string; until: number }>(
            "SELECT id, description, until FROM process WHERE id <> :id",
            { id },
          );
          const isGone = (other: { readonly id: string; readonly until: number }): boolean =>
            ended.includes(other.id) || (late && other.until <= now);
          for (const other of others) if (isGone(other)) free(database, other.id);
          return { wasKnown, others: others.filter((other) => !isGone(other)) };
        }),
      leave: (id) => changing((database) => free(database, id)),
    },
    clock,
    { describe: describeProcess, hasEnded },
  );
}

/** Removes a process, and frees everything whose id starts with the process's id. Waiting calls check for free places themselves. */
function free(database: Database, id: string): void {
  const held = `${id}:%`;
  database.run("DELETE FROM holder WHERE id LIKE :held", { held });
  database.run("DELETE FROM waiter WHERE id LIKE :held", { held });
  database.run("UPDATE breaker SET probe_id = NULL, probe_until = NULL WHERE probe_id LIKE :held", { held });
  database.run("DELETE FROM lease WHERE holder LIKE :held", { held });
  database.run("DELETE FROM process WHERE id = :id", { id });
}
