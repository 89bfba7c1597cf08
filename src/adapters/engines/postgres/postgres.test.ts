import { afterAll, beforeAll, describe, it } from "vitest";
import { some } from "../../../../test/kit/effort.ts";
import { pglite, realPostgres } from "../../../../test/services/postgres.ts";
import type { CatalogEngine } from "../../../catalog/catalog-engine.port.ts";
import { catalogEngineContract } from "../../../testing/catalog-engine.contract.ts";
import type { PostgresClient } from "../../postgres/client.ts";
import { postgresEngine } from "./postgres.ts";

/** Vectors are kept with 11 bits for each number. */
const COSINE_ERROR = 1e-3;

const server = await realPostgres({ vector: true });
afterAll(() => server?.remove());

let schemas = 0;
const newSchema = (): string => `catalog_${++schemas}`;

describe("postgresEngine on PGlite, as a catalog engine", () => {
  let embedded: PostgresClient & { close(): Promise<void> };
  beforeAll(async () => (embedded = await pglite()));
  afterAll(() => embedded.close());
  const cases = catalogEngineContract(
    () => {
      const adapter = postgresEngine({ client: embedded, schema: newSchema() });
      return { adapter, dispose: () => adapter.close() };
    },
    { another: () => postgresEngine({ client: embedded, schema: `catalog_${schemas}` }), cosineError: COSINE_ERROR },
  );
  // The server below runs all of them every time.
  for (const { name, run } of server === undefined ? cases : some(cases, 5)) it(name, run);
});

// because PostgreSQL with pgvector is not installed everywhere; with CI=true its absence fails.
describe.skipIf(server === undefined)("postgresEngine on a real server, as a catalog engine", () => {
  const make = (): CatalogEngine => postgresEngine({ url: server?.url ?? "", schema: `catalog_${schemas}` });
  const cases = catalogEngineContract(
    () => {
      newSchema();
      const adapter = make();
      return { adapter, dispose: () => adapter.close() };
    },
    { another: make, cosineError: COSINE_ERROR },
  );
  for (const { name, run } of cases) it(name, run);
});
