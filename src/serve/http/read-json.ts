import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { RPC } from "../../mcp/protocol.ts";
import { checkJson, MAX_DEPTH, type CheckedJson, type JsonRefusal } from "./check-json.ts";

export { checkJson, type CheckedJson, type JsonRefusal } from "./check-json.ts";

/** How much of a body is read, and for how long. */
export interface ReadLimits {
  /** Default 4 MiB. */
  readonly maxBytes?: number;
  /** Default 64. */
  readonly maxDepth?: number;
  /** Default 15 s. */
  readonly timeoutMs?: number;
}

const MAX_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 15_000;

/**
 * Reads a request's body as JSON, or says why it was refused. Never rejects. A body refused with 408 or 413 is left unread: answer it with
 * `refuse`, which closes the connection.
 */
export async function readJson(request: IncomingMessage, limits: ReadLimits = {}): Promise<CheckedJson> {
  const { maxBytes = MAX_BYTES, maxDepth = MAX_DEPTH, timeoutMs = TIMEOUT_MS } = limits;
  const unusable = refusedByHeaders(request, maxBytes);
  if (unusable !== undefined) return { refused: unusable };
  const body = await readBody(request, maxBytes, timeoutMs);
  if (!Buffer.isBuffer(body)) return { refused: body };
  if (!isUtf8(body)) return { refused: refusal(400, "The body is not valid UTF-8.", RPC.parseError) };
  return checkJson(body.toString("utf8"), { maxDepth });
}

function refusedByHeaders({ headers }: IncomingMessage, maxBytes: number): JsonRefusal | undefined {
  const type = headers["content-type"];
  if (type !== "application/json" && !isJson(type)) return refusal(415, "Content-Type must be application/json.");
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity")
    return refusal(415, "A body with a Content-Encoding is not accepted: send it as it is.");
  if (Number(headers["content-length"]) > maxBytes) return tooLarge(maxBytes);
  return undefined;
}

/** JSON is UTF-8 by definition; a client that says otherwise means another encoding. */
function isJson(type: string | undefined): boolean {
  return type !== undefined && /^application\/json\s*(?:;\s*(?:charset\s*=\s*"?utf-?8"?\s*)?)?$/i.test(type.trim());
}

/** The whole body, or why not. Nothing is read after a refusal. */
function readBody(request: IncomingMessage, maxBytes: number, timeoutMs: number): Promise<Buffer | JsonRefusal> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let timer: NodeJS.Timeout | undefined;

    // The first outcome counts: a request also closes after it has ended.
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
    // A short body comes with its headers, and has all been parsed by the next tick: it needs no timer.
    process.nextTick(() => {
      if (request.complete || request.destroyed) return;
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
