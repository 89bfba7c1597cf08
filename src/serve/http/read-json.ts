import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { nextTurn } from "../../base/turns/event-loop.ts";
import { RPC } from "../../mcp/protocol.ts";
import {
  countKeys,
  type JsonLimits,
  MAX_MEMBERS,
  MAX_VALUES,
  TOO_DEEP,
  TOO_MANY,
  TOO_MANY_MEMBERS,
} from "../../base/json/json-text.ts";

/** The reason why a body or a line was refused: the HTTP status, the JSON-RPC code, and the message for the sender. */
export interface JsonRefusal {
  readonly status: number;
  readonly code: number;
  readonly message: string;
}

/** Parsed JSON that is safe to use, or the refusal. */
export type CheckedJson = { readonly value: unknown } | { readonly refused: JsonRefusal };

/** The maximum nesting of objects and arrays. */
const MAX_DEPTH = 64;

export interface ReadLimits extends JsonLimits {
  /** Defaults to 64. */
  readonly maxDepth?: number;
  /** Defaults to 4 MiB. */
  readonly maxBytes?: number;
  /** Defaults to 15 s. */
  readonly timeoutMs?: number;
  /** Accepted content types. Defaults to `application/json`. */
  readonly types?: readonly string[];
}

export const MAX_BYTES = 4 * 1024 * 1024;
/** Size from which parsing takes milliseconds. */
const LARGE = 128 * 1024;
const TIMEOUT_MS = 15_000;
const JSON_TYPE: readonly string[] = ["application/json"];

/**
 * Reads a request's body as JSON, or returns the refusal. Never rejects. A body that is refused with 408 or 413 is left unread. `onParsed` gets the
 * time for parsing a large body, in milliseconds.
 */
export async function readJson(
  request: IncomingMessage,
  limits: ReadLimits = {},
  onParsed?: (ms: number) => void,
): Promise<CheckedJson> {
  const { maxBytes = MAX_BYTES, timeoutMs = TIMEOUT_MS } = limits;
  const unusable = refusedByHeaders(request, maxBytes, limits.types);
  if (unusable !== undefined) return { refused: unusable };
  const body = await readBody(request, maxBytes, timeoutMs);
  if (!Buffer.isBuffer(body)) return { refused: body };
  if (!isUtf8(body)) return { refused: refusal(400, "The body is not valid UTF-8.", RPC.parseError) };
  const text = body.toString("utf8");
  if (body.length <= LARGE) return checkJson(text, limits);
  return checkLarge(text, limits, onParsed);
}

function refusedByHeaders(
  { headers }: IncomingMessage,
  maxBytes: number,
  types: readonly string[] = JSON_TYPE,
): JsonRefusal | undefined {
  const type = headers["content-type"];
  if (type === undefined || (!types.includes(type) && !isJson(type, types)))
    return refusal(415, `Content-Type must be ${types.join(" or ")}.`);
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity")
    return refusal(415, "A body with a Content-Encoding is not accepted: send it as it is.");
  if (Number(headers["content-length"]) > maxBytes) return tooLarge(maxBytes);
  return undefined;
}

/** JSON is always UTF-8, so any other charset is refused. */
function isJson(type: string, types: readonly string[]): boolean {
  const [, named = ""] = /^([^\s;]+)\s*(?:;\s*(?:charset\s*=\s*"?utf-?8"?\s*)?)?$/i.exec(type.trim()) ?? [];
  return types.includes(named.toLowerCase());
}

/** Reads the whole body, or returns the refusal. Stops reading after a refusal. */
function readBody(request: IncomingMessage, maxBytes: number, timeoutMs: number): Promise<Buffer | JsonRefusal> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let timer: NodeJS.Timeout | undefined;

    // Only the first outcome counts, because a request also closes after it has ended.
    function settle(outcome: Buffer | JsonRefusal): void {
      clearTimeout(timer);
      resolve(outcome);
    }
    function stop(refused: JsonRefusal): void {
      request.off("data", take).pause();
      settle(refused);
    }
    function take(chunk: Buffer): void {
      size += chunk.length;
      if (size > maxBytes) stop(tooLarge(maxBytes));
      else chunks.push(chunk);
    }

    request.on("data", take);
    request.on("end", () => {
      const [only] = chunks;
      settle(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size));
    });
    request.on("close", () => settle(refusal(400, "The connection was closed before the body was complete.")));
    const length = Number(request.headers["content-length"]);
    // A short body arrives with its headers and is complete by the next tick, before Node ends the request, so it needs no timer.
    process.nextTick(() => {
      if (request.complete || request.destroyed || size === length) return;
      timer = setTimeout(() => stop(refusal(408, `The body did not arrive within ${timeoutMs / 1000} s.`)), timeoutMs);
    });
  });
}

function tooLarge(maxBytes: number): JsonRefusal {
  return refusal(413, `The body is larger than ${maxBytes} bytes.`);
}

function refusal(status: number, message: string, code: number = RPC.invalidRequest): JsonRefusal {
  return { status, code, message };
}

/**
 * Parses text from a peer. Refuses ambiguous or harmful JSON: duplicate keys in one object, `__proto__`, `constructor.prototype`, and nesting that
 * would overflow the stack.
 */
export function checkJson(text: string, options: JsonLimits = {}): CheckedJson {
  const written = countWritten(text, options);
  if (typeof written !== "number") return written;
  const parsed = parse(text);
  return "refused" in parsed ? parsed : compare(parsed.value, written);
}

/** Like `checkJson`, for a large text: other work can run between the steps and after the last one. */
async function checkLarge(text: string, options: JsonLimits, onParsed?: (ms: number) => void): Promise<CheckedJson> {
  await nextTurn();
  const written = countWritten(text, options);
  if (typeof written !== "number") return written;
  await nextTurn();
  const startedAt = performance.now();
  const parsed = parse(text);
  onParsed?.(performance.now() - startedAt);
  if ("refused" in parsed) return parsed;
  await nextTurn();
  const compared = compare(parsed.value, written);
  await nextTurn();
  return compared;
}

/** Counts the keys in the text, or returns the reason why the text is not parsed. */
function countWritten(text: string, options: JsonLimits): number | { readonly refused: JsonRefusal } {
  const { maxDepth = MAX_DEPTH, maxValues = MAX_VALUES, maxMembers = MAX_MEMBERS } = options;
  const written = countKeys(text, maxDepth, maxValues, maxMembers);
  switch (written) {
    case TOO_DEEP:
      return { refused: refusal(400, `The JSON is nested deeper than ${maxDepth} levels.`) };
    case TOO_MANY: {
      const message = `The JSON has more than ${maxValues} members and elements in all. Send fewer at once.`;
      return { refused: refusal(413, message) };
    }
    case TOO_MANY_MEMBERS: {
      const message = `The objects of the JSON have more than ${maxMembers} members in all. Send fewer at once.`;
      return { refused: refusal(413, message) };
    }
    default:
      return written;
  }
}

function parse(text: string): CheckedJson {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    const message = text.trim() === "" ? "The message is empty." : "The message is not valid JSON.";
    return { refused: refusal(400, message, RPC.parseError) };
  }
}

function compare(value: unknown, written: number): CheckedJson {
  const kept = countKept(value);
  if (kept === written) return { value };
  const message = Number.isNaN(kept)
    ? "The JSON has a __proto__ or constructor.prototype key, which is never accepted."
    : "The JSON has the same key twice in one object.";
  return { refused: refusal(400, message) };
}

/** Counts the keys in the parsed value, where duplicate keys count once. Returns NaN for a forbidden key. */
function countKept(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) keys += countKept(item);
    return keys;
  }
  const object = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(object)) {
    if (key === "__proto__") return Number.NaN;
    const member = object[key];
    if (key === "constructor" && typeof member === "object" && Object.hasOwn(member ?? {}, "prototype"))
      return Number.NaN;
    keys += 1 + countKept(member);
  }
  return keys;
}
