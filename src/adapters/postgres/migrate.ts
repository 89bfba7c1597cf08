import { fixable } from "../../errors/arsenal-error.ts";
import { quoted, type Postgres } from "./postgres.ts";

export const SCHEMA = "toolarsenal";

export interface PostgresPart {
  readonly name: string;
  /** The schema of the tables, which is created. Defaults to `toolarsenal`. The steps include its name. */
  readonly schema?: string;
  /** The migrations between versions. Append only; never change a released migration. */
  readonly steps: readonly string[];
}

/** Migrates tables in one transaction, under a lock. Refuses tables of a newer version without changing them. */
export async function migrate(postgres: Postgres, { name, schema = SCHEMA, steps }: PostgresPart): Promise<void> {
  const versions = `${quoted(schema)}.versions`;

  async function versionOf(query: Postgres["query"]): Promise<number> {
    // Read from pg_class, because to_regclass may return the state from before the lock was taken.
    const [found] = await query(
      "SELECT 1 FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 AND relname = 'versions'",
      [schema],
    );
    if (found === undefined) return 0;
    const [row] = await query<{ version: number }>(`SELECT version FROM ${versions} WHERE part = $1`, [name]);
    const version = row?.version ?? 0;
    if (version <= steps.length) return version;
    const problem = `The ${name} tables in the schema ${schema} were written by a later release (version ${version}, this release knows ${steps.length}).`;
    const fix = "Use that release or a later one, or configure another schema.";
    throw fixable("STORE_FAILED", problem, fix, { value: version });
  }

  if ((await versionOf(postgres.query)) === steps.length) return;
  await postgres.transaction(async (query) => {
    await query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`toolarsenal:${schema}`]);
    const version = await versionOf(query);
    if (version === steps.length) return;
    const [known] = await query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema]);
    if (known === undefined) await query(`CREATE SCHEMA ${quoted(schema)}`);
    await query(`CREATE TABLE IF NOT EXISTS ${versions} (part text PRIMARY KEY, version integer NOT NULL)`);
    for (const step of steps.slice(version)) await query(step);
    await query(`INSERT INTO ${versions} VALUES ($1, $2) ON CONFLICT (part) DO UPDATE SET version = excluded.version`, [
      name,
      steps.length,
    ]);
  });
}
