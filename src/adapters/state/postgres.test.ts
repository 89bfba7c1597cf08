import { afterAll, beforeAll, describe, it } from "vitest";
import { countedPostgres } from "../../../test/services/counted-postgres.ts";
import { pglite, type RealPostgres, realPostgres } from "../../../test/services/postgres.ts";
import { changesContract, limitsContract, type StateBackend, stateContract } from "../../testing/index.ts";
import type { EmbeddedPostgres, PostgresClient, PostgresPool } from "../postgres/client.ts";
import { postgresState } from "./postgres.ts";

const server = await realPostgres();
afterAll(() => server?.remove());

let schemas = 0;

/** Runs the suites on a database, in a schema of its own each time. */
function suites(client: () => PostgresClient): void {
  const backend = (): StateBackend => {
    const counted = countedPostgres(client());
    const schema = `state ${++schemas}`;
    return {
      open: (clock) => postgresState({ url: "unused", client: counted.client, schema, clock, ownTime: true }),
      settle: counted.settle,
    };
  };
  const cases = [...stateContract(backend), ...limitsContract(backend), ...changesContract(backend)];
  for (const { name, run } of cases) it(name, run);
}

describe("postgresState in PGlite, as shared state", () => {
  let embedded: EmbeddedPostgres & { close(): Promise<void> };
  beforeAll(async () => (embedded = await pglite()));
  afterAll(() => embedded.close());
  suites(() => embedded);
});

// because PostgreSQL is not installed everywhere; with CI=true its absence fails.
describe.skipIf(server === undefined)("postgresState on a server, as shared state", () => {
  const real = server as RealPostgres;
  let pool: PostgresPool & { end(): Promise<void> };
  beforeAll(async () => {
    const { Pool } = (await import("pg")).default;
    pool = new Pool({ connectionString: real.url, max: 40 }) as unknown as typeof pool;
  });
  afterAll(() => pool.end());
  suites(() => pool);
});
