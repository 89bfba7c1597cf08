import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import { type OpenFolder, type SentFile, toFile } from "./files.ts";
import { type Body, isJson } from "../read/read-body.ts";
import { encodeForForm, type Encode, type Pair, toText, writePairs, wrongArgument } from "./write-parameter.ts";

export interface WrittenBody {
  readonly contentType: string;
  readonly content: string | Uint8Array | Readable;
  /** In bytes; omitted if unknown. */
  readonly length?: number;
}

/** One member of a body, with the name in the API, the argument's name, and the value. */
export interface BodyMember {
  readonly name: string;
  readonly argument: string;
  readonly value: unknown;
  readonly file?: boolean;
}

/** Writes a body that is an object. */
export async function writeMembers(
  members: readonly BodyMember[],
  body: Body,
  files?: OpenFolder,
): Promise<WrittenBody> {
  const { contentType, kind } = body;
  if (kind === "form") {
    const pairs = members.flatMap((each) => formPairs(each, body, encodeForForm));
    return { contentType, content: pairs.map(([name, value]) => `${name}=${value}`).join("&") };
  }
  if (kind === "multipart") return writeMultipart(members, body, files);
  // `Object.fromEntries` defines own properties, so a member may be named __proto__.
  const value: unknown = Object.fromEntries(members.map((each) => [each.name, each.value]));
  return { contentType, content: JSON.stringify(value) };
}

/** Writes a body that is a single argument. */
export async function writeWhole(
  value: unknown,
  argument: string,
  body: Body,
  files?: OpenFolder,
): Promise<WrittenBody> {
  const { contentType, kind } = body;
  switch (kind) {
    case "json":
      return { contentType, content: JSON.stringify(value) };
    case "text":
      return { contentType, content: toText(value) };
    case "binary": {
      const file = await toFile(value, argument, files);
      const type = contentType.includes("*") ? "application/octet-stream" : contentType;
      const sent = { contentType: file.contentType ?? type };
      return { ...sent, ...(await toContent([file])) };
    }
    case "form":
    case "multipart": {
      if (!isPlainObject(value)) throw wrongArgument(argument, "must be an object");
      const members = Object.entries(value).map(([name, each]) => {
        return { name, argument: `${argument}.${name}`, value: each };
      });
      return writeMembers(members, body, files);
    }
  }
}

const EXPLODED = { style: "form", explode: true, allowReserved: false } as const;

/** Writes a member as pairs of a form, by its style. Without a style, lists become repeated pairs and objects become JSON. */
function formPairs({ name, value }: BodyMember, { encoding }: Body, encode: Encode): readonly Pair[] {
  const { writing, contentType } = encoding.get(name) ?? {};
  if (writing !== undefined) return writePairs(name, value, writing, encode);
  if (value === undefined || value === null) return [];
  if (contentType !== undefined && isJson(contentType)) return [[encode(name), encode(JSON.stringify(value))]];
  if (isPlainObject(value)) return [[encode(name), encode(JSON.stringify(value))]];
  return writePairs(name, value, EXPLODED, encode);
}

interface MultipartPart {
  readonly head: string;
  readonly content: string | SentFile;
}

async function writeMultipart(members: readonly BodyMember[], body: Body, files?: OpenFolder): Promise<WrittenBody> {
  const boundary = `arsenal-${randomUUID()}`;
  const pieces: (string | SentFile)[] = [];
  for (const member of members)
    for (const { head, content } of member.file ? await fileParts(member, body, files) : textParts(member, body))
      pieces.push(`--${boundary}\r\n${head}\r\n\r\n`, content, "\r\n");
  pieces.push(`--${boundary}--\r\n`);
  const type = body.contentType.replace(/\s*;\s*boundary=.*$/i, "");
  return { contentType: `${type}; boundary=${boundary}`, ...(await toContent(pieces)) };
}

/** Concatenates texts and files: in memory if every file is in memory, otherwise as a stream. */
async function toContent(pieces: readonly (string | SentFile)[]): Promise<Omit<WrittenBody, "contentType">> {
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) {
      if (typeof piece === "string") yield Buffer.from(piece);
      else yield* piece.content();
    }
  };
  if (pieces.every((piece) => typeof piece === "string" || piece.isInMemory))
    return { content: await buffer(chunks()) };
  const sizes = pieces.map((piece) => (typeof piece === "string" ? Buffer.byteLength(piece) : piece.size));
  return { content: Readable.from(chunks()), length: sizes.reduce((sum, size) => sum + size, 0) };
}

function textParts(member: BodyMember, body: Body): readonly MultipartPart[] {
  const { writing, contentType } = body.encoding.get(member.name) ?? {};
  const typed = (content: unknown, type: string | undefined): MultipartPart => ({
    head: headOf(member.name, undefined, type),
    content: type !== undefined && isJson(type) ? JSON.stringify(content) : toText(content),
  });
  if (member.value === undefined || member.value === null) return [];
  if (writing !== undefined)
    return formPairs(member, body, (text) => text).map(([name, content]) => ({ head: headOf(name), content }));
  const type = (value: unknown): string | undefined =>
    contentType ?? (typeof value === "object" ? "application/json" : undefined);
  if (Array.isArray(member.value)) return member.value.map((each: unknown) => typed(each, type(each)));
  return [typed(member.value, type(member.value))];
}

async function fileParts(
  { name, argument, value }: BodyMember,
  body: Body,
  files?: OpenFolder,
): Promise<readonly MultipartPart[]> {
  if (value === undefined || value === null) return [];
  // A list of types names the accepted types, not the type of this file.
  const encoded = body.encoding.get(name)?.contentType;
  const fallback = encoded === undefined || /[,*]/.test(encoded) ? "application/octet-stream" : encoded;
  const parts: MultipartPart[] = [];
  for (const [index, each] of (Array.isArray(value) ? value : [value]).entries()) {
    const file = await toFile(each, Array.isArray(value) ? `${argument}.${index}` : argument, files);
    parts.push({ head: headOf(name, file.filename ?? name, file.contentType ?? fallback), content: file });
  }
  return parts;
}

function headOf(name: string, filename?: string, contentType?: string): string {
  const file = filename === undefined ? "" : `; filename="${escape(filename)}"`;
  const type = contentType === undefined ? "" : `\r\nContent-Type: ${contentType}`;
  return `Content-Disposition: form-data; name="${escape(name)}"${file}${type}`;
}

/** Escapes like browsers do. */
function escape(text: string): string {
  return text.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
}
