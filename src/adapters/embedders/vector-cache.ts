import { hash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { inTransaction, openSqlite, schemaOf, type SqliteFile } from "../sqlite/open-sqlite.ts";
import { isDamage } from "../sqlite/move-aside.ts";

export type VectorCache = ReturnType<typeof createVectorCache>;

interface VectorCacheOptions {
  readonly folder: string;
  /** Each model has its own file. */
  readonly model: string;
  readonly dimension: number;
  /** If the file would grow larger than this, it is emptied. Defaults to 256 MiB. */
  readonly maxBytes?: number | undefined;
}

const MOST_BYTES = 256 * 1024 * 1024;
const KEY_BYTES = 16;
/** The size of a record besides its components: the key, its index and SQLite's overhead. */
const RECORD_BYTES = 80;

const FILE: SqliteFile = {
  what: "The vector cache",
  field: "embedder.cache",
  // "TAVC"
  applicationId: 0x54_41_56_43,
  schema: 1,
  // A cache only saves time, so it waits only briefly.
  busyTimeoutMs: 500,
};

/** A value is the vector's scale (float32), its components (int8: component = int8 * scale) and the CRC-32 of both, little-endian. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, value BLOB NOT NULL) STRICT;
  PRAGMA application_id = ${FILE.applicationId};
  PRAGMA user_version = ${FILE.schema};`;

/** Caches vectors of one model between runs, by text. Never rejects: an unusable cache acts as an empty one. */
export function createVectorCache({ folder, model, dimension, maxBytes = MOST_BYTES }: VectorCacheOptions) {
  const path = join(folder, fileName(model));
  let database: DatabaseSync | undefined;
  let damaged = false;
  let usable = true;

  function open(): DatabaseSync {
    if (damaged) for (const side of ["", "-wal", "-shm"]) rmSync(path + side, { force: true });
    const opened = (database = openSqlite(path, FILE));
    opened.exec("PRAGMA synchronous = NORMAL");
    // In one transaction: otherwise a process that opens the file in between would treat it as foreign.
    if (schemaOf(opened, path, FILE) < FILE.schema) inTransaction(opened, () => opened.exec(SCHEMA));
    return opened;
  }

  /** Runs a step on the open file. Recreates a damaged file once. Any other failure disables the cache. */
  function use<Result>(work: (file: DatabaseSync) => Result, otherwise: Result): Result {
    if (!usable) return otherwise;
    try {
      return work(database ?? open());
    } catch (error) {
      database?.close();
      database = undefined;
      usable = isDamage(error) && !damaged;
      damaged = true;
      return use(work, otherwise);
    }
  }

  function makeRoom(file: DatabaseSync, bytes: number): void {
    const size = file.prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size").get();
    if (Number(size?.["bytes"]) + bytes > maxBytes) file.exec("DELETE FROM vector; VACUUM;");
  }

  function toValue(vector: Float32Array): Buffer {
    const value = Buffer.alloc(4 + dimension + 4);
    let largest = 0;
    for (const component of vector) largest = Math.max(largest, Math.abs(component));
    value.writeFloatLE(largest / 127, 0);
    const factor = largest > 0 ? 127 / largest : 0;
    for (let index = 0; index < dimension; index++)
      value.writeInt8(Math.round((vector[index] ?? 0) * factor), 4 + index);
    value.writeUInt32LE(crc32(value.subarray(0, -4)), 4 + dimension);
    return value;
  }

  function toVector(stored: unknown): Float32Array | undefined {
    if (!(stored instanceof Uint8Array) || stored.length !== 4 + dimension + 4) return undefined;
    const value = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
    if (crc32(value.subarray(0, -4)) !== value.readUInt32LE(4 + dimension)) return undefined;
    const scale = value.readFloatLE(0);
    const vector = new Float32Array(new Int8Array(value.buffer, value.byteOffset + 4, dimension));
    for (let index = 0; index < dimension; index++) vector[index] = (vector[index] ?? 0) * scale;
    return vector;
  }

  return {
    /** Returns the vectors in order; undefined for an unknown text. */
    async get(texts: readonly string[]): Promise<readonly (Float32Array | undefined)[]> {
      return use<readonly (Float32Array | undefined)[]>(
        (file) => {
          const find = file.prepare("SELECT value FROM vector WHERE key = ?");
          return texts.map((text) => toVector(find.get(keyOf(model, text))?.["value"]));
        },
        texts.map(() => undefined),
      );
    },
    /** Stores vectors in one transaction. A killed process loses at most the current batch. */
    async put(entries: readonly { readonly text: string; readonly vector: Float32Array }[]): Promise<void> {
      use((file) => {
        makeRoom(file, entries.length * (RECORD_BYTES + dimension));
        const keep = file.prepare("INSERT OR REPLACE INTO vector VALUES (?, ?)");
        inTransaction(file, () => {
          for (const { text, vector } of entries) keep.run(keyOf(model, text), toValue(vector));
        });
      }, undefined);
    },
    async close(): Promise<void> {
      usable = false;
      database?.close();
      database = undefined;
    },
  };
}

/** The key includes the model, because some file systems ignore the case of file names. */
function keyOf(model: string, text: string): Buffer {
  return hash("sha256", `${model}\n${text}`, "buffer").subarray(0, KEY_BYTES);
}

/** Converts the model's name to a file name. Adds a hash if characters were replaced. */
function fileName(model: string): string {
  const plain = model.replaceAll(/[^\w.-]+/g, "-").slice(0, 80);
  const tail = plain === model ? "" : `-${hash("sha256", model).slice(0, 8)}`;
  return `${plain}${tail}.vectors`;
}
