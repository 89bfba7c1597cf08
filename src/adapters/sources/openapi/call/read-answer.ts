import { buffer } from "node:stream/consumers";
import type { EgressResponse } from "../../../../guard/egress/egress.ts";
import type { Redactor } from "../../../../guard/redaction/redactor.ts";
import { nextTurn } from "../../../../base/turns/event-loop.ts";
import { parseForeign } from "../../../../base/json/json-text.ts";

/** Reads a response. Returns JSON as its value, text as text, an empty body as null, and anything else as a content block in base64. */
export async function readAnswer(answer: Pick<EgressResponse, "headers" | "body" | "url">): Promise<unknown> {
  const bytes = await buffer(answer.body);
  if (bytes.length === 0) return null;
  const { type, charset } = mediaOf(answer.headers["content-type"] ?? "");
  if (type === "") return guess(bytes, answer.url);
  if (isJsonAnswer(type)) return bytes.length > LARGE ? readLarge(bytes, charset) : toValue(decode(bytes, charset));
  if (isText(type)) return decode(bytes, charset);
  return { content: [toBlock(bytes, type, answer.url)] };
}

/** In bytes. Reading a larger response takes milliseconds. */
const LARGE = 256 * 1024;

async function readLarge(bytes: Uint8Array, charset: string): Promise<unknown> {
  await nextTurn();
  const text = decode(bytes, charset);
  await nextTurn();
  const value = toValue(text);
  await nextTurn();
  return value;
}

/** The searched text is this many times longer than the shown text. */
const READ_AHEAD = 16;

/** Returns the text of a response, redacted and then shortened for a message. Redaction comes first, because half of a secret would not be recognised. */
export async function readShortly(
  answer: Pick<EgressResponse, "headers" | "body">,
  max: number,
  redactor: Pick<Redactor, "text" | "stream">,
): Promise<string> {
  const { type, charset } = mediaOf(answer.headers["content-type"] ?? "");
  const bytes = await buffer(answer.body);
  if (type !== "" && !isJsonAnswer(type) && !isText(type)) return `${bytes.length} bytes of ${type}`;
  const whole = decode(bytes, charset).trim();
  const isCut = whole.length > max * READ_AHEAD;
  // The cut may split a secret. `stream` also removes the first part of such a secret.
  const text = isCut ? redactor.stream()(whole.slice(0, max * READ_AHEAD)) : redactor.text(whole);
  return isCut || text.length > max ? `${text.slice(0, max)}…` : text;
}

function mediaOf(header: string): { readonly type: string; readonly charset: string } {
  const [type = "", ...parameters] = header.split(";").map((part) => part.trim());
  const charset = parameters.find((parameter) => /^charset=/i.test(parameter))?.slice("charset=".length);
  return { type: type.toLowerCase(), charset: charset?.replaceAll('"', "") ?? "utf-8" };
}

function isJsonAnswer(type: string): boolean {
  return type === "application/json" || type === "text/json" || type.endsWith("+json");
}

function isText(type: string): boolean {
  return /^text\/|^application\/(?:.*\+)?(?:xml|yaml|x-yaml|javascript|x-ndjson|jsonl|graphql|toml|x-www-form-urlencoded)$/.test(
    type,
  );
}

function decode(bytes: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** The most values that a response may contain to be parsed. Members of objects also count. */
const MAX_VALUES = 200_000;
const MAX_MEMBERS = 50_000;

/** Parses a response with a JSON content type. Returns the text if it is not JSON or has too many values. */
function toValue(text: string): unknown {
  const value = parseForeign(text, { maxValues: MAX_VALUES, maxMembers: MAX_MEMBERS });
  return value === undefined ? text : value;
}

function guess(bytes: Uint8Array, url: string): unknown {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return /^\s*[[{]/.test(text) ? toValue(text) : text;
  } catch {
    return { content: [toBlock(bytes, "application/octet-stream", url)] };
  }
}

/** Converts a file in a response to a content block, in the format of model APIs. */
function toBlock(bytes: Uint8Array, mimeType: string, url: string): object {
  const data = Buffer.from(bytes).toString("base64");
  const kind = mimeType.split("/")[0];
  if (kind === "image" || kind === "audio") return { type: kind, data, mimeType };
  // Queries may contain keys.
  return { type: "resource", resource: { uri: url.replace(/[?#].*$/, ""), mimeType, blob: data } };
}
