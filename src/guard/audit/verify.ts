import { createReadStream } from "node:fs";
import { createVerifier, type Verification, type VerifyOptions } from "./verifier.ts";

/** A line longer than this is none of ours. It bounds the memory that verifying takes. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** How a log in files fared. Where it is bad, the file and the line. */
export type FileVerification =
  | Extract<Verification, { ok: true }>
  | (Extract<Verification, { ok: false }> & { readonly file?: string; readonly line?: number });

/** Checks a log in one or more files, oldest first, as a stream. */
export async function verify(files: readonly string[], options: VerifyOptions = {}): Promise<FileVerification> {
  const verifier = createVerifier(options);
  for (const file of files) {
    let line = 0;
    for await (const { bytes, whole } of linesOf(file)) {
      line++;
      if (!whole) verifier.refuse("is not a whole line: the write was cut off, or the file");
      if (!whole || !verifier.take(bytes)) return { ...verifier.end(), file, line } as FileVerification;
    }
  }
  return verifier.end();
}

/** The lines of a file without their breaks; the last one is not whole where no break ends it. */
export async function* linesOf(file: string): AsyncGenerator<{ readonly bytes: Uint8Array; readonly whole: boolean }> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const rest = chunk.subarray(start, end);
      yield { bytes: parts.length === 0 ? rest : Buffer.concat([...parts, rest]), whole: true };
      parts = [];
      length = 0;
      start = end + 1;
    }
    if (start < chunk.length) {
      parts.push(chunk.subarray(start));
      length += chunk.length - start;
      if (length > MAX_LINE_BYTES) break;
    }
  }
  if (parts.length > 0) yield { bytes: Buffer.concat(parts), whole: false };
}
