import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import type { ApiSchema } from "./api-schema.ts";

/** A request that the published document of an API does not allow. */
export class ShapeError extends Error {}

export interface DoubleRequest {
  /** As the document names it: `POST /path/{name}`. */
  readonly operation: string;
  /** The parts of the path, decoded. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Parsed; undefined if there is none. */
  readonly body: unknown;
}

export interface DoubleAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a double does with requests. */
export interface Behaviour {
  readonly schema: ApiSchema;
  /** Refuses a request before it is looked at, for want of a key. */
  authorize(headers: IncomingHttpHeaders): DoubleAnswer | undefined;
  /** Answers a request that the document allows. */
  answer(request: DoubleRequest): DoubleAnswer;
  /** Answers one that it does not allow. */
  malformed(message: string): DoubleAnswer;
}

/** A server on loopback that stands in for a service. */
export interface Double {
  readonly url: string;
  /** Every request so far, as `METHOD /path`. */
  readonly requests: readonly string[];
  /** Answers the next requests instead of the service, one answer each. */
  answerNext(...answers: readonly DoubleAnswer[]): void;
  close(): Promise<void>;
}

/** Starts a server. Its own answers are checked as strictly as the requests. */
export async function startDouble({ schema, authorize, answer, malformed }: Behaviour): Promise<Double> {
  const requests: string[] = [];
  const planned: DoubleAnswer[] = [];

  function respond(method: string, url: URL, headers: IncomingHttpHeaders, sent: string): DoubleAnswer {
    const refusal = planned.shift() ?? authorize(headers);
    if (refusal) return refusal;
    try {
      if (sent !== "" && headers["content-type"] !== "application/json")
        throw new ShapeError("expected application/json");
      const path = url.pathname.split("/").slice(1).map(decodeURIComponent);
      const body: unknown = sent === "" ? undefined : JSON.parse(sent);
      const operation = schema.checkRequest(method, path, url.searchParams, body);
      if (operation === undefined) return { status: 404 };
      const given = answer({ operation, path, query: url.searchParams, headers, body });
      try {
        schema.checkAnswer(operation, given.status, given.body);
      } catch (error) {
        return { status: 500, body: `the double may not answer so to ${operation}: ${String(error)}` };
      }
      return given;
    } catch (error) {
      return error instanceof ShapeError ? malformed(error.message) : { status: 500, body: String(error) };
    }
  }

  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const sent = await textOf(incoming);
      const { method = "", headers } = incoming;
      const url = new URL(incoming.url ?? "/", "http://double");
      requests.push(`${method} ${url.pathname}`);
      const given = respond(method, url, headers, sent);
      const isText = typeof given.body === "string";
      outgoing.writeHead(given.status, {
        "content-type": isText ? "text/plain" : "application/json",
        ...given.headers,
      });
      outgoing.end(given.body === undefined ? "" : isText ? given.body : JSON.stringify(given.body));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answerNext: (...answers) => void planned.push(...answers),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
