import { readFile } from "node:fs/promises";
import { deserialize, serialize } from "node:v8";
import { crc32 } from "node:zlib";
import type { IndexImage } from "../../catalog/memory-image.ts";
import { messageOf } from "../../errors/show-value.ts";
import { codeOf, type ReplaceFile } from "./snapshot-file.ts";

/** An index, with the start and end of each slot's tool in the snapshot. */
export interface SnapshotImage extends IndexImage {
  readonly lines: { readonly starts: Uint32Array; readonly ends: Uint32Array };
}

/** A parsed index, or the reason why it is unusable. `tools` identifies the indexed tools. */
type ReadIndex = { readonly tools: string; readonly image: SnapshotImage } | { readonly problem: string };

/*
 * The file format: MARK, then in little-endian the version and the CRC-32 of the rest, the length of the table, the table (JSON), and the parts in
 * V8's serialization format.
 */
const MARK = Buffer.from("TAINDEX\n");
const VERSION = 2;
const CHECKED_FROM = MARK.length + 8;
const HEADER = CHECKED_FROM + 4;

interface Table {
  readonly tools: string;
  readonly parts: readonly (readonly [name: string, length: number])[];
}

/**
 * Keeps the index of a snapshot's tools in a binary file next to the snapshot. It only saves time: without it, the tools are indexed and embedded
 * again.
 */
export function snapshotIndex(file: string, replace: ReplaceFile) {
  return {
    /** Returns undefined for a new snapshot. */
    async read(): Promise<ReadIndex | undefined> {
      try {
        return unpack(await readFile(file));
      } catch (cause) {
        return codeOf(cause) === "ENOENT" ? undefined : { problem: `cannot be read: ${messageOf(cause)}` };
      }
    },

    /** Collects the parts of an index. `take` copies its argument; `write` replaces the file in one step. */
    begin() {
      const parts: [name: string, bytes: Buffer][] = [];
      return {
        take(part: Partial<SnapshotImage>): void {
          for (const [name, value] of Object.entries(part)) parts.push([name, serialize(value)]);
        },
        write: (tools: string) =>
          replace(file, async (append) => {
            const lengths = parts.map(([name, { length }]) => [name, length] as const);
            const table = Buffer.from(JSON.stringify({ tools, parts: lengths } satisfies Table));
            const header = Buffer.alloc(HEADER);
            MARK.copy(header);
            header.writeUInt32LE(VERSION, MARK.length);
            header.writeUInt32LE(table.length, CHECKED_FROM);
            const chunks = [table, ...parts.map(([, bytes]) => bytes)];
            const checksum = [header.subarray(CHECKED_FROM), ...chunks].reduce((sum, chunk) => crc32(chunk, sum), 0);
            header.writeUInt32LE(checksum, MARK.length + 4);
            for (const chunk of [header, ...chunks]) await append(chunk);
          }),
      };
    },
  };
}

function unpack(bytes: Buffer): ReadIndex {
  if (bytes.length < HEADER || !bytes.subarray(0, MARK.length).equals(MARK)) return { problem: "is not an index" };
  const version = bytes.readUInt32LE(MARK.length);
  if (version !== VERSION)
    return { problem: `has format ${version}, and this version of toolarsenal reads format ${VERSION}` };
  if (crc32(bytes.subarray(CHECKED_FROM)) !== bytes.readUInt32LE(MARK.length + 4)) return { problem: "is damaged" };
  let end = HEADER + bytes.readUInt32LE(CHECKED_FROM);
  const { tools, parts } = JSON.parse(bytes.toString("utf8", HEADER, end)) as Table;
  const image = parts.map(([name, length]) => [name, deserialize(bytes.subarray(end, (end += length)))] as const);
  return { tools, image: Object.fromEntries(image) as SnapshotImage };
}
