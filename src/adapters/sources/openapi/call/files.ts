import { createReadStream } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { basename, resolve, sep } from "node:path";
import type { IsOwnFile } from "../../../../guard/own-files.ts";
import { asText, isPlainObject, type JsonSchema } from "../../../../tool/json-schema.ts";
import { present } from "../../../../base/present.ts";
import { wrongArgument } from "./write-parameter.ts";

/** A file to send. Its content is read while it is sent. */
export interface SentFile {
  readonly filename?: string;
  readonly contentType?: string;
  readonly size: number;
  /** True if the content is in memory, and so can be sent again. */
  readonly isInMemory: boolean;
  content(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** A folder whose files may be sent by path. The gateway's own files are never sent. */
export interface OpenFolder {
  readonly folder: string;
  readonly isOwnFile: IsOwnFile;
}

/** Describes a file argument to a model. */
export const FILE_DESCRIPTION = "Give the content as text or base64.";

/** Returns the schema of a file argument. Paths are accepted only with an open folder. */
export function fileSchema(paths: boolean): JsonSchema {
  return {
    type: "object",
    properties: {
      text: { type: "string" },
      base64: { type: "string" },
      ...(paths && {
        path: { type: "string", description: "A file on the server of this tool, instead of the content." },
      }),
      filename: { type: "string" },
      contentType: { type: "string" },
    },
    additionalProperties: false,
  };
}

/** Returns the file of an argument. Throws ARGUMENTS_INVALID. */
export async function toFile(value: unknown, argument: string, files?: OpenFolder): Promise<SentFile> {
  if (!isPlainObject(value)) throw wrongArgument(argument, "must be an object with text or base64");
  const { text, base64, path, filename, contentType } = value;
  const ways = [text, base64, path].filter((way) => way !== undefined);
  if (ways.length !== 1 || typeof ways[0] !== "string")
    throw wrongArgument(argument, "must have either text or base64, as a string");
  for (const [name, words] of Object.entries({ filename, contentType }))
    if (words !== undefined && (typeof words !== "string" || /[\r\n]/.test(words)))
      throw wrongArgument(`${argument}.${name}`, "must be one line of text");
  const named = present({ filename: asText(filename), contentType: asText(contentType) });
  if (typeof path === "string") return { ...(await atPath(path, argument, files)), ...named };
  const bytes = typeof text === "string" ? Buffer.from(text) : fromBase64(String(base64), argument);
  return { ...named, size: bytes.length, isInMemory: true, content: () => [bytes] };
}

async function atPath(path: string, argument: string, files?: OpenFolder): Promise<SentFile> {
  if (files === undefined) throw wrongArgument(`${argument}.path`, "cannot be used here: give text or base64");
  const root = await realpath(files.folder);
  // Resolves links first. The message does not reveal whether a path outside the folder exists.
  const file = await realpath(resolve(root, path)).catch(() => undefined);
  const found = file?.startsWith(root.endsWith(sep) ? root : root + sep) === true ? await stat(file) : undefined;
  if (file === undefined || found?.isFile() !== true || (await files.isOwnFile(file)))
    throw wrongArgument(`${argument}.path`, "is not a file in the folder whose files may be sent");
  return { filename: basename(file), size: found.size, isInMemory: false, content: () => createReadStream(file) };
}

function fromBase64(text: string, argument: string): Uint8Array {
  const compact = text.replaceAll(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  if (!/^[A-Za-z0-9+/]*$/.test(compact) || compact.length % 4 === 1)
    throw wrongArgument(`${argument}.base64`, "is not base64");
  return Buffer.from(compact, "base64");
}
