import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Principal } from "../../guard/principal.ts";
import { createShares } from "../../base/shares.ts";
import { createFairTurns } from "./fair-turns.ts";
import { MAX_BYTES } from "./read-json.ts";

const MEBIBYTE = 1024 * 1024;
/** Maximum memory for bodies of open requests. One caller can have six bodies of the maximum size. */
const BODIES = { count: Infinity, bytes: 96 * MEBIBYTE, perCaller: { bytes: 24 * MEBIBYTE } };
/** Smaller bodies are not counted. */
const COUNTED_BYTES = 128 * 1024;
/** Parsing a large body is about a quarter of the work for its request. */
const WORK_PER_PARSING = 4;

export interface IntakeRefusal {
  readonly status: number;
  readonly message: string;
  readonly headers: OutgoingHttpHeaders;
}

export type Intake = ReturnType<typeof createIntake>;

/** Admits requests so that no remote caller uses up the time or memory of others. The local operator never waits. */
export function createIntake({ turns = createFairTurns() } = {}) {
  const bodies = createShares(BODIES);

  function takeBody(principal: Principal, response: ServerResponse, bytes: number): IntakeRefusal | undefined {
    if (bytes < COUNTED_BYTES) return undefined;
    const share = bodies.take(principal, { bytes });
    if (share === undefined) return refusal("has too many large requests under way");
    response.once("close", () => share.release());
    return undefined;
  }

  return {
    /**
     * Waits for the caller's turn, if necessary, and reserves memory for the body. Returns the refusal, or undefined if the request may be handled.
     */
    take(
      principal: Principal,
      request: IncomingMessage,
      response: ServerResponse,
    ): IntakeRefusal | undefined | Promise<IntakeRefusal | undefined> {
      if (principal.local) return undefined;
      const bytes = bytesOf(request);
      const turn = turns.take(principal, bytes);
      if (turn === "refused") return refusal("has too many requests waiting");
      return turn === "now"
        ? takeBody(principal, response, bytes)
        : turn.then(() => takeBody(principal, response, bytes));
    },
    /** Charges a caller for parsing a large body for `ms` milliseconds. */
    parsed(principal: Principal, ms: number): void {
      if (!principal.local) turns.charge(principal, ms * WORK_PER_PARSING);
    },
  };
}

/** Returns the maximum size of the body. Without a length, this is the limit of reading. */
function bytesOf({ method, headers }: IncomingMessage): number {
  const { "content-length": length, "transfer-encoding": encoding } = headers;
  if (length !== undefined) return Math.min(Number(length) || 0, MAX_BYTES);
  return method === "GET" || encoding === undefined ? 0 : MAX_BYTES;
}

function refusal(why: string): IntakeRefusal {
  const message = `The gateway is busy, and this caller ${why}. Wait until some are answered, and send fewer at once.`;
  // The connection is closed, because the body is unread.
  return { status: 429, message, headers: { "retry-after": "1", connection: "close" } };
}
