import { readFile } from "node:fs/promises";
import { crc32 } from "node:zlib";
import type { Image, Section } from "../../catalog/image.ts";
import { codeOf, messageOf, type ReplaceFile } from "./snapshot-file.ts";

/** An index as it was read, or the reason it cannot be used. `tools` identifies the tools it is of. */
type ReadIndex = { readonly tools: string; readonly image: Image } | { readonly problem: string };

/*
 * The file: MARK, the version and the CRC-32 of all that follows (little-endian), the length of the table, the table (JSON), and the sections. Each
 * section begins at a multiple of eight bytes, so that numbers are read where they lie.
 */
const MARK = Buffer.from("TAINDEX\n");
const VERSION = 1;
const HEADER = MARK.length + 12;
const CHECKED_FROM = MARK.length + 8;

const KINDS = { Uint8Array, Uint16Array, Uint32Array, Float32Array, Float64Array } as const;

interface Table {
  readonly tools: string;
  /** Name, kind (`text` or a kind of array), where it begins after the table, and its length in bytes. */
  readonly sections: readonly (readonly [name: string, kind: string, start: number, length: number])[];
}

/** The index of a snapshot's tools, in a binary file next to them. It only saves time: without it the tools are indexed and embedded again. */
export function snapshotIndex(file: string, replace: ReplaceFile) {
  return {
    /** Undefined for a new snapshot. */
    async read(): Promise<ReadIndex | undefined> {
      let bytes: Buffer;
      try {
        bytes = await readFile(file);
      } catch (cause) {
        return codeOf(cause) === "ENOENT" ? undefined : { problem: `cannot be read: ${messageOf(cause)}` };
      }
      return unpack(bytes);
    },
    /** Replaces the file in one step. */
    async write(tools: string, image: Image): Promise<void> {
      const chunks = pack(tools, image);
      await replace(file, async (append) => {
        for (const chunk of chunks) await append(chunk);
      });
    },
  };
}

function pack(tools: string, image: Image): readonly Uint8Array[] {
  const sections: Table["sections"][number][] = [];
  const body: Uint8Array[] = [];
  let start = 0;
  for (const [name, section] of Object.entries(image)) {
    const bytes =
      typeof section === "string"
        ? Buffer.from(section)
        : new Uint8Array(section.buffer, section.byteOffset, section.byteLength);
    sections.push([name, typeof section === "string" ? "text" : section.constructor.name, start, bytes.length]);
    const gap = toEight(bytes.length) - bytes.length;
    body.push(bytes, new Uint8Array(gap));
    start += bytes.length + gap;
  }
  const table = Buffer.from(JSON.stringify({ tools, sections } satisfies Table));
  const padded = Buffer.alloc(toEight(HEADER + table.length) - HEADER, " ");
  table.copy(padded);
  const header = Buffer.alloc(HEADER);
  MARK.copy(header);
  header.writeUInt32LE(VERSION, MARK.length);
  header.writeUInt32LE(padded.length, CHECKED_FROM);
  const checked = [header.subarray(CHECKED_FROM), padded, ...body];
  header.writeUInt32LE(
    checked.reduce((sum, chunk) => crc32(chunk, sum), 0),
    MARK.length + 4,
  );
  return [header, padded, ...body];
}

function unpack(given: Buffer): ReadIndex {
  if (given.length < HEADER || !given.subarray(0, MARK.length).equals(MARK)) return { problem: "is not an index" };
  const version = given.readUInt32LE(MARK.length);
  if (version !== VERSION) {
    return { problem: `has format ${version}, and this version of toolarsenal reads format ${VERSION}` };
  }
  if (crc32(given.subarray(CHECKED_FROM)) !== given.readUInt32LE(MARK.length + 4)) return { problem: "is damaged" };
  const bytes = given.byteOffset % 8 === 0 ? given : new Uint8Array(given);
  const end = HEADER + given.readUInt32LE(CHECKED_FROM);
  const table = JSON.parse(given.toString("utf8", HEADER, end)) as Table;
  const sections = table.sections.map(([name, kind, start, length]): [string, Section] => {
    if (kind === "text") return [name, given.toString("utf8", end + start, end + start + length)];
    const Kind = KINDS[kind as keyof typeof KINDS];
    return [
      name,
      new Kind(bytes.buffer as ArrayBuffer, bytes.byteOffset + end + start, length / Kind.BYTES_PER_ELEMENT),
    ];
  });
  return { tools: table.tools, image: Object.fromEntries(sections) };
}

function toEight(length: number): number {
  return Math.ceil(length / 8) * 8;
}
