import { quoted } from "../../postgres/postgres.ts";
import { type Model, type Store, vectorTable } from "./tables.ts";

/** Above so many dimensions pgvector makes no HNSW index, and every vector is compared. */
const MOST_DIMENSIONS = { halfvec: 4_000, vector: 2_000 } as const;

/** The name of a model's index. */
export function indexName({ id }: Pick<Model, "id">): string {
  return `vectors_${id}_hnsw`;
}

/**
 * Builds the HNSW index of a model that has enough vectors, unless it is there or another process builds it: PostgreSQL lets only one of them, and
 * the others find it done. Searches and writes go on meanwhile. An index that a dead process left unfinished is built again.
 */
export async function buildIndex(store: Store, model: Model, signal: AbortSignal): Promise<void> {
  const { postgres, vectors: features } = store;
  if (!features || model.tools < store.exactBelow || model.dimension > MOST_DIMENSIONS[features.type]) return;
  const index = store.table(indexName(model));
  const [found] = await postgres.query<{ valid: boolean; building: boolean }>(
    `SELECT indisvalid AS valid, EXISTS (SELECT 1 FROM pg_stat_progress_create_index p WHERE p.relid = i.indrelid) AS building
    FROM pg_index i WHERE indexrelid = to_regclass($1)`,
    [index],
    { signal },
  );
  if (found?.valid === true || found?.building === true) return;
  if (found) await postgres.query(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`, undefined, { signal });
  await postgres.query(
    `CREATE INDEX CONCURRENTLY IF NOT EXISTS ${quoted(indexName(model))} ON ${vectorTable(store, model)} USING hnsw (vector ${features.type}_ip_ops)`,
    undefined,
    { signal },
  );
}
