import {
  Agent,
  createServer,
  request as send,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/** A plain round-robin HTTP proxy: no affinity, no retry of anything that was sent, readiness by `/readyz`. */
export interface Proxy {
  readonly url: string;
  /** The replicas that requests are spread over. */
  readonly replicas: Set<string>;
  /** How many requests each replica got. */
  readonly sent: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** How often replicas are asked whether they are ready. */
const PROBE_MS = 100;

/** Starts a proxy on a free port. A replica that is not ready gets no new requests. */
export async function startProxy(): Promise<Proxy> {
  const replicas = new Set<string>();
  const unready = new Set<string>();
  const sent = new Map<string, number>();
  const agent = new Agent({ keepAlive: true });
  let turn = 0;

  function order(): readonly string[] {
    const ready = [...replicas].filter((each) => !unready.has(each));
    const first = turn++ % Math.max(1, ready.length);
    return [...ready.slice(first), ...ready.slice(0, first)];
  }

  function forward(
    request: IncomingMessage,
    response: ServerResponse,
    body: Buffer,
    [to, ...others]: readonly string[],
  ): void {
    if (to === undefined) return void response.writeHead(503).end();
    sent.set(to, (sent.get(to) ?? 0) + 1);
    const { method, headers, url } = request;
    const { host: _, ...passed } = headers;
    const outgoing: ClientRequest = send(to + url, { method, headers: passed, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      // A cut answer must look cut to the client.
      answer.on("error", () => response.destroy());
      answer.on("aborted", () => response.destroy());
    });
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      // Nothing was sent, so another replica may take it. That is all a plain proxy may repeat.
      if (error.code === "ECONNREFUSED") return forward(request, response, body, others);
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
    response.on("close", () => outgoing.destroy());
    outgoing.end(body);
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => forward(request, response, Buffer.concat(chunks), order()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  async function probe(replica: string): Promise<void> {
    const ready = await fetch(`${replica}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
      async (answer) => (await answer.body?.cancel(), answer.status === 200),
      () => false,
    );
    if (ready) unready.delete(replica);
    else unready.add(replica);
  }
  const probing = setInterval(() => replicas.forEach((replica) => void probe(replica)), PROBE_MS);

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    replicas,
    sent,
    async close() {
      clearInterval(probing);
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
