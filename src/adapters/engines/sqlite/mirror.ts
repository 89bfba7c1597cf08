import { createModelVectors, type ModelVectors } from "../../../catalog/dense/model-vectors.ts";
import { LEXICAL_FIELDS } from "../../../catalog/lexical/lexical-fields.ts";
import { FIELD_SPAN } from "../../../catalog/lexical/posting.ts";
import type { Tool } from "../../../tool/tool.ts";
import { kernelRows } from "../../embedders/kernel/vector-rows.ts";
import { decode, encode } from "../stored-text.ts";
import type { Database } from "./database.ts";

interface Model {
  readonly vectors: ModelVectors;
  revision: number;
}

/** The most cached tools. A conversation finds the same tools repeatedly. */
const KEPT_TOOLS = 1_000;

function nothing() {
  return {
    size: 0,
    /** By slot. */
    ids: [] as (string | undefined)[],
    namespaces: [] as (string | undefined)[],
    /** Tokens of each field, at `slot * FIELD_SPAN + field`. */
    lengths: new Float32Array(64 * FIELD_SPAN),
    /** For each field, its tokens over all tools, and the number of tools with any. */
    totalLength: LEXICAL_FIELDS.map(() => 0),
    documentsWith: LEXICAL_FIELDS.map(() => 0),
  };
}

export type Mirror = ReturnType<typeof createMirror>;

/**
 * Holds the data of every tool for a search: ids, namespaces, field lengths, and the vectors of the models in use. The data is read once, then
 * updated. Whole tools are cached only if they were found recently.
 */
export function createMirror(database: Database) {
  const own = nothing();
  let revision = 0;
  const models = new Map<string, Model>();
  const tools = new Map<number, Tool>();
  /** Least recently used first. */
  const kept = new Map<string, { readonly value: unknown; readonly weight: number }>();
  let keptWeight = 0;

  function forgetAll(): void {
    Object.assign(own, nothing());
    revision = 0;
    models.clear();
    tools.clear();
  }

  function countLengths(slot: number, by: 1 | -1): void {
    for (let field = 0; field < LEXICAL_FIELDS.length; field++) {
      const length = own.lengths[slot * FIELD_SPAN + field] ?? 0;
      own.totalLength[field] = (own.totalLength[field] ?? 0) + by * length;
      if (length > 0) own.documentsWith[field] = (own.documentsWith[field] ?? 0) + by;
    }
  }

  function drop(slot: number): void {
    const namespace = own.namespaces[slot];
    if (namespace === undefined) return;
    countLengths(slot, -1);
    for (const { vectors } of models.values()) vectors.remove(slot, namespace);
    tools.delete(slot);
    own.ids[slot] = undefined;
    own.namespaces[slot] = undefined;
    own.size--;
  }

  function add(slot: number, id: string, namespace: string, counted: Uint8Array): void {
    if ((slot + 1) * FIELD_SPAN > own.lengths.length) {
      const grown = new Float32Array(Math.max((slot + 1) * FIELD_SPAN, own.lengths.length * 2));
      grown.set(own.lengths);
      own.lengths = grown;
    }
    while (own.ids.length < slot) {
      own.ids.push(undefined);
      own.namespaces.push(undefined);
    }
    own.ids[slot] = decode(id);
    own.namespaces[slot] = decode(namespace);
    own.lengths.set(new Uint32Array(counted.slice().buffer), slot * FIELD_SPAN);
    countLengths(slot, 1);
    own.size++;
  }

  /** Updates the mirror from the file. Call it first in each transaction. */
  function follow(): void {
    const meta = database.get<{ revision: number; forgotten: number }>("SELECT revision, forgotten FROM meta");
    if (meta === undefined || meta.revision === revision) return;
    if (revision < meta.forgotten) forgetAll();
    kept.clear();
    keptWeight = 0;
    type Row = readonly [slot: number, id: string, namespace: string, lengths: Uint8Array];
    if (own.size > 0) {
      const gone = database.rows<readonly [number]>("SELECT slot FROM deletions WHERE revision > ?", revision);
      for (const [slot] of gone) drop(slot);
    }
    const sql = "SELECT slot, id, namespace, lengths FROM tools WHERE revision > ?";
    for (const [slot, id, namespace, counted] of database.each<Row>(sql, revision)) {
      drop(slot);
      add(slot, id, namespace, counted);
    }
    revision = meta.revision;
  }

  function vectorsOf(name: string): ModelVectors | undefined {
    const now = database.get<{ revision: number }>("SELECT vectors_revision AS revision FROM meta")?.revision ?? 0;
    let model = models.get(name);
    // Another process may have removed the vectors of an unused model.
    if (model !== undefined && model.revision !== now) {
      const any = database.get("SELECT 1 FROM vectors WHERE model = ? LIMIT 1", encode(name));
      if (any === undefined) model = undefined;
    }
    if (model === undefined) {
      const precedes = (a: number, b: number): boolean => (own.ids[a] ?? "") < (own.ids[b] ?? "");
      model = { vectors: createModelVectors(kernelRows("float32"), precedes), revision: 0 };
      models.set(name, model);
    }
    if (model.revision !== now) {
      const sql = "SELECT slot, dimension, data FROM vectors WHERE model = ? AND revision > ?";
      type Row = readonly [slot: number, dimension: number, data: Uint8Array];
      for (const [slot, dimension, data] of database.each<Row>(sql, encode(name), model.revision))
        model.vectors.set([{ slot, namespace: own.namespaces[slot] ?? "", vectors: toVectors(data, dimension) }]);
      model.revision = now;
    }
    return model.vectors.size > 0 ? model.vectors : undefined;
  }

  return Object.assign(own, {
    follow,
    vectorsOf,

    /** Caches a value until a tool changes. Keeps the most recently used values, up to a total weight of 1. */
    once<Value>(key: string, read: () => { readonly value: Value; readonly weight: number }): Value {
      const entry = kept.get(key) ?? read();
      if (!kept.delete(key)) keptWeight += entry.weight;
      kept.set(key, entry);
      for (const [oldest, { weight }] of kept) {
        if (keptWeight <= 1) break;
        kept.delete(oldest);
        keptWeight -= weight;
      }
      return entry.value as Value;
    },

    toolsAt(slots: readonly number[]): ReadonlyMap<number, Tool> {
      const missing = slots.filter((slot) => !tools.has(slot));
      if (tools.size + missing.length > KEPT_TOOLS) tools.clear();
      const wanted = JSON.stringify(slots.filter((slot) => !tools.has(slot)));
      const sql = "SELECT slot, json FROM tools WHERE slot IN (SELECT value FROM json_each(?))";
      for (const [slot, json] of database.rows<readonly [number, string]>(sql, wanted))
        tools.set(slot, JSON.parse(json) as Tool);
      return tools;
    },
  });
}

export function toBytes(vectors: readonly Float32Array[]): Uint8Array {
  const dimension = vectors[0]?.length ?? 0;
  const numbers = new Float32Array(vectors.length * dimension);
  vectors.forEach((vector, nth) => numbers.set(vector, nth * dimension));
  return new Uint8Array(numbers.buffer);
}

function toVectors(data: Uint8Array, dimension: number): readonly Float32Array[] {
  const aligned = data.byteOffset % 4 === 0 ? data : data.slice();
  const numbers = new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4);
  return Array.from({ length: numbers.length / dimension }, (_, nth) =>
    numbers.subarray(nth * dimension, (nth + 1) * dimension),
  );
}
