import type { FileHandle } from "node:fs/promises";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { readLine } from "../../../guard/audit/chain.ts";
import type { AuditHead } from "../../../guard/audit.port.ts";

const CHUNK = 64 * 1024;
const LINE_BREAK = 10;

/** How a file of a log ends. */
export interface Tail {
  /** The last whole record; undefined where there is none. */
  readonly head: AuditHead | undefined;
  /** Bytes up to and with the last line break. */
  readonly wholeBytes: number;
  /** What a write that was cut off left after it. */
  readonly torn: Buffer;
}

/** Reads the end of a file. Throws where its last whole line is no intact record: a log is not continued from what is not known to be one. */
export async function readTail(handle: FileHandle, file: string): Promise<Tail> {
  const { size } = await handle.stat();
  const torn = await readBack(handle, size);
  const wholeBytes = size - torn.length;
  if (wholeBytes === 0) return { head: undefined, wholeBytes, torn };
  const line = await readBack(handle, wholeBytes - 1);
  const read = readLine(line);
  if (read?.intact === true) return { head: { seq: read.record.seq, hash: read.hash }, wholeBytes, torn };
  const fix = "Look at it with: toolarsenal audit verify. Then move it away to begin a new log.";
  throw new ArsenalError("STORE_FAILED", `The audit log ${file} was changed or damaged at its end. ${fix}`, {
    field: "audit.file",
    value: file,
    fix,
  });
}

/** What stands between the last line break before `end` and `end`. */
async function readBack(handle: FileHandle, end: number): Promise<Buffer> {
  let found = Buffer.alloc(0);
  for (let position = end; position > 0;) {
    const length = Math.min(CHUNK, position);
    position -= length;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
    const chunk = buffer.subarray(0, bytesRead);
    const at = chunk.lastIndexOf(LINE_BREAK);
    found = Buffer.concat([chunk.subarray(at + 1), found]);
    if (at >= 0) break;
  }
  return found;
}
