import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { Ajv } from "ajv";

/** A request as a double saw it. */
export interface SeenRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Parsed; undefined if it is not JSON. */
  readonly body: unknown;
}

export interface DoubleAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a text as it is, an async generator piece by piece. A generator that throws breaks the connection. */
  readonly body: unknown;
}

/** Never answers, answers half, or breaks the connection. */
export type Mishap = "hang" | "stall" | "drop";

/** A server on loopback that stands in for a provider. */
export interface HttpDouble {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** The most requests that were under way at once. */
  readonly mostAtOnce: number;
  /** What the next requests are answered with, one each, before the double answers itself again. */
  answerNext(...answers: readonly (DoubleAnswer | Promise<DoubleAnswer> | Mishap)[]): void;
  /** Resolves once no request is under way: each was answered, or its connection is closed. */
  whenIdle(): Promise<void>;
  close(): Promise<void>;
}

export async function startDouble(
  answer: (request: SeenRequest) => DoubleAnswer | Promise<DoubleAnswer>,
): Promise<HttpDouble> {
  const requests: SeenRequest[] = [];
  const planned: (DoubleAnswer | Promise<DoubleAnswer> | Mishap)[] = [];
  let atOnce = 0;
  let mostAtOnce = 0;
  let waiting: (() => void)[] = [];
  const leave = (): void => {
    if (--atOnce > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  const server = createServer((incoming, outgoing) => {
    mostAtOnce = Math.max(mostAtOnce, ++atOnce);
    outgoing.once("close", leave);
    void (async () => {
      const { method = "", url = "", headers } = incoming;
      const request = { method, path: url, headers, body: parse(await text(incoming)) };
      requests.push(request);
      const plan = planned.shift();
      if (plan === "hang") return;
      if (plan === "stall") return void outgoing.writeHead(200, { "content-type": "application/json" }).write("{");
      if (plan === "drop") return void incoming.socket.destroy();
      const { status, headers: given = {}, body } = plan === undefined ? await answer(request) : await plan;
      if (isGenerator(body)) {
        outgoing.writeHead(status, given);
        return void (await pipeline(body, outgoing).catch(() => incoming.socket.destroy()));
      }
      const sent = typeof body === "string" ? body : JSON.stringify(body);
      outgoing.writeHead(status, { "content-type": "application/json", ...given }).end(sent);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    get mostAtOnce() {
      return mostAtOnce;
    },
    answerNext: (...answers) => void planned.push(...answers),
    whenIdle: () => (atOnce === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isGenerator(body: unknown): body is AsyncGenerator<string | Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

const ajv = new Ajv({ allErrors: false, strict: false });

/** Says what is wrong with a body; undefined if nothing is. An object may have no other members than those of its schema. */
export function strictly(properties: object, required: readonly string[]): (body: unknown) => string | undefined {
  const validate = ajv.compile({ type: "object", properties, required, additionalProperties: false });
  return (body) => {
    if (validate(body)) return undefined;
    const [error] = validate.errors ?? [];
    const unknown = (error?.params as { readonly additionalProperty?: string } | undefined)?.additionalProperty;
    return unknown === undefined ? `${error?.instancePath ?? ""} ${error?.message ?? ""}` : `unknown field ${unknown}`;
  };
}
