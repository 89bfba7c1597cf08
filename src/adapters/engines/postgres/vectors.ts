import type { ToolVectors } from "../../../catalog/catalog-engine.port.ts";
import { checkDimension } from "../../../catalog/dense/model-vectors.ts";
import { decode, encode } from "../stored-text.ts";
import { lock, type Model, type Query, type Store, toSql, vectorsAreOff, vectorTable, versionsOf } from "./tables.ts";

/** Vectors per statement. */
const BATCH = 500;

/** Returns the models with vectors. `names` limits the result to these models. */
export async function modelsOf(store: Store, query: Query, names?: readonly string[]): Promise<readonly Model[]> {
  const rows = await query<Model>(
    `SELECT id, name, dimension, tools, most FROM ${store.table("models")} ${names ? "WHERE name = ANY($1::text[])" : ""}`,
    names ? [names.map(encode)] : [],
  );
  return rows.map((model) => ({ ...model, name: decode(model.name), tools: Number(model.tools) }));
}

/** Removes vectors from a model, and subtracts them from the sums of their namespaces. The tools must still exist. */
export async function removeVectors(store: Store, query: Query, model: Model, slots: readonly number[]): Promise<void> {
  const { table } = store;
  const vectors = vectorTable(store, model);
  const mains = `SELECT t.namespace, sum(v.vector::vector) AS total, count(*) AS tools FROM ${vectors} v JOIN ${table("tools")} t USING (slot)
    WHERE v.slot = ANY($1::bigint[]) AND v.nth = 0 GROUP BY t.namespace`;
  await query(
    `UPDATE ${table("namespace_sums")} AS kept SET tools = kept.tools - gone.tools, total = kept.total - gone.total
    FROM (${mains}) AS gone WHERE kept.model = $2 AND kept.namespace = gone.namespace`,
    [slots, model.id],
  );
  await query(`DELETE FROM ${table("namespace_sums")} WHERE model = $1 AND tools <= 0`, [model.id]);
  await query(
    `WITH gone AS (DELETE FROM ${vectors} WHERE slot = ANY($1::bigint[]) RETURNING nth)
    UPDATE ${table("models")} SET tools = tools - (SELECT count(*) FROM gone WHERE nth = 0) WHERE id = $2`,
    [slots, model.id],
  );
}

export async function putVectors(
  store: Store,
  name: string,
  entries: readonly ToolVectors[],
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!store.vectors) throw vectorsAreOff();
  const { table } = store;
  await store.postgres.transaction(
    async (query) => {
      await lock(store, query);
      const versions = await versionsOf(store, query, entries);
      const kept = new Map<number, ToolVectors>();
      for (const entry of entries) {
        const version = versions.get(entry.id);
        if (version?.hash === entry.contentHash && entry.vectors.length > 0) kept.set(version.slot, entry);
      }
      const dimension = [...kept.values()][0]?.vectors[0]?.length;
      if (dimension === undefined) return;
      const model = await modelFor(store, query, name, dimension);
      for (const { id, vectors } of kept.values())
        for (const vector of vectors) checkDimension(vector, model.dimension, `A vector of ${id}`);
      const slots = [...kept.keys()];
      await removeVectors(store, query, model, slots);
      await insertVectors(store, query, model, kept);
      const most = Math.max(model.most, ...Array.from(kept.values(), ({ vectors }) => vectors.length));
      await query(
        `INSERT INTO ${table("namespace_sums")} AS kept SELECT $2::int, t.namespace, count(*), sum(v.vector::vector)
        FROM ${vectorTable(store, model)} v JOIN ${table("tools")} t USING (slot) WHERE v.slot = ANY($1::bigint[]) AND v.nth = 0 GROUP BY t.namespace
        ON CONFLICT (model, namespace) DO UPDATE SET tools = kept.tools + excluded.tools, total = kept.total + excluded.total`,
        [slots, model.id],
      );
      await query(`UPDATE ${table("models")} SET tools = tools + $2, most = $3 WHERE id = $1`, [
        model.id,
        slots.length,
        most,
      ]);
    },
    { signal },
  );
}

async function insertVectors(
  store: Store,
  query: Query,
  model: Model,
  kept: ReadonlyMap<number, ToolVectors>,
): Promise<void> {
  const rows = [...kept].flatMap(([slot, { vectors }]) => vectors.map((vector, nth) => ({ slot, nth, vector })));
  for (let start = 0; start < rows.length; start += BATCH) {
    const batch = rows.slice(start, start + BATCH);
    await query(
      `INSERT INTO ${vectorTable(store, model)} SELECT slot, nth, vector::${store.vectors?.type ?? "vector"}
      FROM unnest($1::bigint[], $2::smallint[], $3::text[]) AS given(slot, nth, vector)`,
      [batch.map(({ slot }) => slot), batch.map(({ nth }) => nth), batch.map(({ vector }) => toSql(vector))],
    );
  }
}

export async function deleteVectors(store: Store, name: string, signal: AbortSignal | undefined): Promise<void> {
  if (!store.vectors) return;
  await store.postgres.transaction(
    async (query) => {
      await lock(store, query);
      const [model] = await modelsOf(store, query, [name]);
      if (model) await dropModel(store, query, model);
    },
    { signal },
  );
}

async function dropModel(store: Store, query: Query, model: Model): Promise<void> {
  await query(`DROP TABLE ${vectorTable(store, model)}`, []);
  await query(`DELETE FROM ${store.table("namespace_sums")} WHERE model = $1`, [model.id]);
  await query(`DELETE FROM ${store.table("models")} WHERE id = $1`, [model.id]);
}

/** Returns a model. Creates its table with its first vectors. */
async function modelFor(store: Store, query: Query, name: string, dimension: number): Promise<Model> {
  const [known] = await modelsOf(store, query, [name]);
  if (known && (known.tools > 0 || known.dimension === dimension)) return known;
  // A model without vectors may change its dimension.
  if (known) await dropModel(store, query, known);
  const [made] = await query<{ id: number }>(
    `INSERT INTO ${store.table("models")} (name, dimension, tools, most) VALUES ($1, $2, 0, 1) RETURNING id`,
    [encode(name), dimension],
  );
  const model = { id: made?.id ?? 0, name, dimension, tools: 0, most: 1 };
  const type = `${store.vectors?.type ?? "vector"}(${dimension})`;
  await query(
    `CREATE TABLE ${vectorTable(store, model)} (slot bigint NOT NULL, nth smallint NOT NULL, vector ${type} NOT NULL, PRIMARY KEY (slot, nth))`,
    [],
  );
  return model;
}
