import { buffer } from "node:stream/consumers";
import type { EgressResponse } from "../../../../guard/egress/egress.ts";
import type { Redactor } from "../../../../guard/redaction/redactor.ts";
import { nextTurn } from "../../../../base/turns/event-loop.ts";
import { parseForeign } from "../../../../base/json/json-text.ts";

/** Reads an answer: JSON as its value, text as text, nothing as null, anything else as a block of content in base64. */
export async function readAnswer(answer: Pick<EgressResponse, "headers" | "body" | "url">): Promise<unknown> {
  const bytes = await buffer(answer.body);
  if (bytes.length === 0) return null;
  const { type, charset } = mediaOf(answer.headers["content-type"] ?? "");
  if (type === "") return guess(bytes, answer.url);
  if (isJsonAnswer(type)) return bytes.length > LARGE ? readLarge(bytes, charset) : toValue(decode(bytes, charset));
  if (isText(type)) return decode(bytes, charset);
  return { content: [toBlock(bytes, type, answer.url)] };
}

/** Reading a larger answer takes milliseconds. */
const LARGE = 256 * 1024;

async function readLarge(bytes: Uint8Array, charset: string): Promise<unknown> {
  await nextTurn();
  const text = decode(bytes, charset);
  await nextTurn();
  const value = toValue(text);
  await nextTurn();
  return value;
}

/** How many times longer the searched text is than the shown one. */
const READ_AHEAD = 16;

/** The text of an answer, redacted and then shortened for a message: half of a secret would not be recognised. */
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
  // Redaction may leave little of a long text. Its end is then shown, where a secret may be cut off.
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

/** The most values, and the most members of objects, that an answer may contain to be parsed. */
const MAX_VALUES = 200_000;
const MAX_MEMBERS = 50_000;

/** Parses an answer that claims to be JSON. Returns its text if it is not JSON, or has too many values. */
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

/** A file that a server answered with, in the format of model APIs. */
function toBlock(bytes: Uint8Array, mimeType: string, url: string): object {
  const data = Buffer.from(bytes).toString("base64");
  const kind = mimeType.split("/")[0];
  if (kind === "image" || kind === "audio") return { type: kind, data, mimeType };
  // Queries may contain keys.
  return { type: "resource", resource: { uri: url.replace(/[?#].*$/, ""), mimeType, blob: data } };
}
