/**
 * Vectors kept between runs: one file a model, to which records are only ever appended. All numbers are little-endian.
 *
 *     header    8 bytes   magic "TAVECTOR"
 *               uint32    version, 1
 *               uint32    dimension D
 *               uint16    length of the model's name
 *               106 bytes the name, UTF-8, zeros behind it
 *               uint32    CRC-32 of everything before
 *     record    16 bytes  the first half of the SHA-256 of the text
 *               float32   scale
 *               D bytes   int8: component = int8 * scale
 *               uint32    CRC-32 of everything before in the record
 */
import { hash, randomUUID } from "node:crypto";
import { type FileHandle, link, mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";

export type VectorCache = ReturnType<typeof createVectorCache>;

interface VectorCacheOptions {
  readonly folder: string;
  /** Another model, another file. */
  readonly model: string;
  readonly dimension: number;
  /** A file that would grow larger is started again, empty. Defaults to 256 MiB. */
  readonly maxBytes?: number | undefined;
}

const MAGIC = "TAVECTOR";
const VERSION = 1;
const HEADER_BYTES = 128;
const KEY_BYTES = 16;
/** Records read at once: neighbours were mostly written, and are mostly asked for, together. */
const WINDOW = 256;
/** Windows kept: some 3 MB. */
const WINDOWS = 32;
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Vectors of one model by the texts they were made of. The file is read, or made, with the first call. Nothing here ever rejects: a cache that
 * cannot be used is empty.
 */
export function createVectorCache({ folder, model, dimension, maxBytes = MOST_BYTES }: VectorCacheOptions) {
  const path = join(folder, fileName(model));
  const recordBytes = KEY_BYTES + 4 + dimension + 4;
  /** Where a text's record stands, by the first 48 bits of its key; the record itself has the whole key. */
  const positions = new Map<number, number>();
  let file: FileHandle | undefined;
  let size = 0;
  const windows = new Map<number, Buffer>();
  let opened = false;
  let usable = true;
  /** Everything happens one after the other: nothing reads a file while it is started again. */
  let last: Promise<unknown> = Promise.resolve();

  function header(): Buffer {
    const bytes = Buffer.alloc(HEADER_BYTES);
    const name = Buffer.from(model).subarray(0, 106);
    bytes.write(MAGIC, "latin1");
    bytes.writeUInt32LE(VERSION, 8);
    bytes.writeUInt32LE(dimension, 12);
    bytes.writeUInt16LE(name.length, 16);
    name.copy(bytes, 18);
    bytes.writeUInt32LE(crc32(bytes.subarray(0, HEADER_BYTES - 4)), HEADER_BYTES - 4);
    return bytes;
  }

  /** In place of whatever was there. Another process that has the old file open goes on with it, and nobody else sees what it writes. */
  async function begin(): Promise<void> {
    await file?.close();
    file = undefined;
    positions.clear();
    windows.clear();
    await place((fresh) => rename(fresh, path));
    file = await open(path, "a+", 0o600);
    size = HEADER_BYTES;
  }

  /** Creates an empty file, unless there is one already. */
  async function create(): Promise<FileHandle> {
    await place((fresh) => link(fresh, path).catch(() => {}));
    const existing = await open(path, "r+").catch(() => undefined);
    if (existing) return existing;
    // Some file systems have no links.
    await place((fresh) => rename(fresh, path));
    return open(path, "r+");
  }

  /** Writes an empty file under a name of its own and lets `move` give it the right one, so that nobody sees half of it. */
  async function place(move: (fresh: string) => Promise<void>): Promise<void> {
    const fresh = `${path}.${randomUUID()}`;
    try {
      await writeFile(fresh, header(), { mode: 0o600 });
      await move(fresh);
    } finally {
      await rm(fresh, { force: true });
    }
  }

  async function load(): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const existing = (await open(path, "r+").catch(() => undefined)) ?? (await create());
    let whole: number | undefined;
    try {
      if (await hasOurHeader(existing)) {
        const { size: length } = await existing.stat();
        whole = await scan(existing, HEADER_BYTES, length);
        // A torn tail would put every later record out of step. Whole records behind it are what another process appended meanwhile.
        const { size: now } = await existing.stat();
        const torn = (now - HEADER_BYTES) % recordBytes;
        if (torn > 0) await existing.truncate(now - torn);
      }
    } finally {
      await existing.close();
    }
    if (whole === undefined || whole > maxBytes) return begin();
    file = await open(path, "a+", 0o600);
    size = whole;
  }

  /** Whether a file begins as one of this model does. */
  async function hasOurHeader(existing: FileHandle): Promise<boolean> {
    const start = Buffer.alloc(HEADER_BYTES);
    const { bytesRead } = await existing.read(start, 0, HEADER_BYTES, 0);
    return bytesRead === HEADER_BYTES && start.equals(header());
  }

  /** Notes every whole record from a position on, and returns where the last one ends. */
  async function scan(existing: FileHandle, from: number, end: number): Promise<number> {
    const most = WINDOW * 16 * recordBytes;
    const chunk = Buffer.alloc(Math.min(most, Math.max(recordBytes, end - from)));
    for (let position = from; ;) {
      const { bytesRead: length } = await existing.read(chunk, 0, chunk.length, position);
      const records = Math.floor(length / recordBytes);
      for (let record = 0; record < records; record++) {
        const bytes = chunk.subarray(record * recordBytes, (record + 1) * recordBytes);
        if (isWhole(bytes)) positions.set(bytes.readUIntBE(0, 6), position + record * recordBytes);
      }
      position += records * recordBytes;
      if (length < chunk.length || position >= end) return position;
    }
  }

  function isWhole(record: Buffer): boolean {
    return record.length === recordBytes && crc32(record.subarray(0, -4)) === record.readUInt32LE(recordBytes - 4);
  }

  async function readWindow(start: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(WINDOW * recordBytes);
    const { bytesRead = 0 } = (await file?.read(bytes, 0, bytes.length, start)) ?? {};
    const [oldest] = windows.keys();
    if (windows.size >= WINDOWS && oldest !== undefined) windows.delete(oldest);
    windows.set(start, bytes.subarray(0, bytesRead));
    return bytes.subarray(0, bytesRead);
  }

  async function find(text: string): Promise<Float32Array | undefined> {
    const key = keyOf(text);
    const position = positions.get(key.readUIntBE(0, 6));
    if (position === undefined) return undefined;
    const start = position - ((position - HEADER_BYTES) % (WINDOW * recordBytes));
    const bytes = windows.get(start) ?? (await readWindow(start));
    const record = bytes.subarray(position - start, position - start + recordBytes);
    // Checked again, because the file may have been cut since.
    if (!isWhole(record) || !record.subarray(0, KEY_BYTES).equals(key)) return undefined;
    const scale = record.readFloatLE(KEY_BYTES);
    const values = new Int8Array(record.buffer, record.byteOffset + KEY_BYTES + 4, dimension);
    const vector = new Float32Array(dimension);
    for (let index = 0; index < dimension; index++) vector[index] = (values[index] ?? 0) * scale;
    return vector;
  }

  function toRecord(text: string, vector: Float32Array): Buffer {
    const record = Buffer.alloc(recordBytes);
    keyOf(text).copy(record);
    let largest = 0;
    for (const component of vector) largest = Math.max(largest, Math.abs(component));
    record.writeFloatLE(largest / 127, KEY_BYTES);
    const factor = largest > 0 ? 127 / largest : 0;
    for (let index = 0; index < dimension; index++)
      record.writeInt8(Math.round((vector[index] ?? 0) * factor), KEY_BYTES + 4 + index);
    record.writeUInt32LE(crc32(record.subarray(0, -4)), recordBytes - 4);
    return record;
  }

  async function append(records: readonly Buffer[]): Promise<void> {
    const bytes = Buffer.concat(records);
    if (size + bytes.length > maxBytes) await begin();
    if (!file) return;
    const { bytesWritten } = await file.write(bytes, 0, bytes.length);
    // A disk that is full leaves a torn tail: the next opening cuts it off, and nothing must be put behind it.
    if (bytesWritten < bytes.length) throw new Error("the disk is full");
    windows.clear();
    // Other processes may have appended too: where these records came to stand is read back, and what theirs are is learned with it.
    size = await scan(file, size, (await file.stat()).size);
  }

  /** Runs work on the open file, after what came before it; where that fails, the cache is given up for good. */
  function use<Result>(work: () => Promise<Result>, otherwise: Result): Promise<Result> {
    const result = last.then(async () => {
      if (!usable) return otherwise;
      try {
        if (!opened) await load();
        opened = true;
        return await work();
      } catch {
        usable = false;
        return otherwise;
      }
    });
    last = result;
    return result;
  }

  return {
    /** In order; undefined if unknown. */
    get: (texts: readonly string[]) =>
      use<readonly (Float32Array | undefined)[]>(
        async () => {
          const found: (Float32Array | undefined)[] = [];
          for (const text of texts) found.push(await find(text));
          return found;
        },
        texts.map(() => undefined),
      ),
    /** Keeps vectors in one write, so that a process that is killed loses at most those on their way. */
    put(entries: readonly { readonly text: string; readonly vector: Float32Array }[]) {
      const records = entries.map(({ text, vector }) => toRecord(text, vector));
      return use(() => append(records), undefined);
    },
    async close() {
      await last;
      usable = false;
      await file?.close().catch(() => {});
      file = undefined;
    },
  };
}

function keyOf(text: string): Buffer {
  return hash("sha256", text, "buffer").subarray(0, KEY_BYTES);
}

/** The model's name as a file's, with a hash where characters had to go. */
function fileName(model: string): string {
  const plain = model.replaceAll(/[^\w.-]+/g, "-").slice(0, 80);
  const tail = plain === model ? "" : `-${hash("sha256", model).slice(0, 8)}`;
  return `${plain}${tail}.vectors`;
}
