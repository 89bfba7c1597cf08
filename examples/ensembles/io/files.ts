import * as fs from "node:fs/promises";
import type { InvocableContext } from "toolarsenal/ensembles";

interface Read {
  readonly path: string;
  readonly encoding: BufferEncoding;
}

/** Reads a file. The schema filled in the encoding. */
export async function readFile({ signal }: InvocableContext, { path, encoding }: Read): Promise<string> {
  return fs.readFile(path, { encoding, signal });
}

/** Writes a file, and remembers in the ensemble's namespace how many were written. */
export async function writeFile(
  { namespace }: InvocableContext,
  { path, text }: { readonly path: string; readonly text: string },
): Promise<{ readonly path: string; readonly written: number }> {
  await fs.writeFile(path, text);
  const written = Number(namespace.get("written") ?? 0) + 1;
  namespace.set("written", written);
  return { path, written };
}
