import type { Clock } from "../../../observe/clock.ts";
import { quoted } from "../../postgres/postgres.ts";
import { type Model, type Store, vectorTable } from "./tables.ts";
import { modelsOf } from "./vectors.ts";

/** With more dimensions, pgvector supports no HNSW index, and every vector is compared. */
const MOST_DIMENSIONS = { halfvec: 4_000, vector: 2_000 } as const;
/** How long to wait after the last batch of vectors, in milliseconds. Building one index from all vectors is much faster than extending it. */
const QUIET_MS = 10_000;

export function createIndexBuilder(clock: Clock) {
  let cancel: (() => void) | undefined;
  let building: Promise<void> | undefined;
  let stopping = new AbortController();

  async function build(store: Store): Promise<void> {
    for (const model of await modelsOf(store, store.postgres.query)) await buildIndex(store, model, stopping.signal);
  }

  return {
    /** Checks for models that need an index, after no vectors have arrived for a while. */
    later(store: Store) {
      cancel?.();
      if (!store.vectors) return;
      cancel = clock.after(
        QUIET_MS,
        () => {
          // Without an index, every vector is compared. The next vectors, or the next process, start another attempt.
          building ??= build(store)
            .catch(() => {})
            .finally(() => (building = undefined));
        },
        { background: true },
      );
    },
    /** Stops. The database may finish an index in progress; otherwise the next process rebuilds it. */
    async stop() {
      cancel?.();
      stopping.abort();
      await building;
      stopping = new AbortController();
    },
  };
}

/**
 * Builds the HNSW index of a model with enough vectors, unless it exists or another process builds it. Rebuilds an index that a dead process left
 * unfinished.
 */
async function buildIndex(store: Store, model: Model, signal: AbortSignal): Promise<void> {
  const { postgres, vectors: features } = store;
  if (!features || model.tools < store.exactBelow || model.dimension > MOST_DIMENSIONS[features.type]) return;
  const name = `vectors_${model.id}_hnsw`;
  const index = store.table(name);
  const [found] = await postgres.query<{ valid: boolean; building: boolean }>(
    `SELECT indisvalid AS valid, EXISTS (SELECT 1 FROM pg_stat_progress_create_index p WHERE p.relid = i.indrelid) AS building
    FROM pg_index i WHERE indexrelid = to_regclass($1)`,
    [index],
    { signal },
  );
  if (found?.valid === true || found?.building === true) return;
  if (found) await postgres.query(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`, undefined, { signal });
  await postgres.query(
    `CREATE INDEX CONCURRENTLY IF NOT EXISTS ${quoted(name)} ON ${vectorTable(store, model)} USING hnsw (vector ${features.type}_ip_ops)`,
    undefined,
    { signal },
  );
}
