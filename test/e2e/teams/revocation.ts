import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { A2A_WAYS, asking } from "../../serve/a2a-clients.ts";
import { eventually } from "../replicas/eventually.ts";
import { legacyClient, modernClient } from "../replicas/clients.ts";
import { type Fleet, ROOT_TOKEN } from "./fleet.ts";

/** The surfaces on which a call of the key runs while the key is revoked. */
export const WAYS = ["REST", "MCP 2026-07-28", "MCP 2025-11-25", "A2A"] as const;

/** The milliseconds from the answer to the revocation until a gateway has refused the key, ended its stream, and cancelled its calls. */
export interface Revocation {
  readonly refused: number;
  readonly stream: number;
  readonly calls: Readonly<Record<(typeof WAYS)[number], number>>;
}

/** Opens a stream and runs a call on every surface of every gateway, revokes the key at the first gateway, and waits for the end of all of them. */
export async function measureRevocation(fleet: Fleet, name: string): Promise<readonly Revocation[]> {
  const key = await fleet.key(name, { roles: ["operator"] });
  const reports = await startReports();
  try {
    const streams = await Promise.all(fleet.urls.map((_, at) => fleet.stream(at, key)));
    const calls = fleet.urls.map((url, at) =>
      WAYS.map((way) => {
        const id = `${at}-${WAYS.indexOf(way)}`;
        const wait = { report: `${reports.url}/${id}` };
        const answered = begin(way, { url, key }, wait);
        // Once the call runs, the gateway may answer or hang up; the tool itself reports its end.
        answered.catch(() => undefined);
        const early = answered.then((answer) => {
          throw new Error(`The call over ${way} was answered before it started: ${JSON.stringify(answer)}`);
        });
        return {
          started: Promise.race([reports.of(`/${id}/started`), early]),
          ended: reports.of(`/${id}/ended`),
        };
      }),
    );
    await Promise.all(calls.flat().map(({ started }) => started));
    await fleet.ask(0, ROOT_TOKEN, "DELETE", `/keys/${name}`);
    const since = performance.now();
    const after = async (ended: Promise<unknown>): Promise<number> => {
      await ended;
      return performance.now() - since;
    };
    return await Promise.all(
      fleet.urls.map(async (_, at): Promise<Revocation> => {
        const isRefused = async (): Promise<boolean> => (await fleet.ask(at, key, "GET", "/info")).status === 401;
        const [refused, stream, ...ended] = await Promise.all([
          after(eventually(`gateway ${at} refuses the key`, isRefused)),
          after(streams[at]?.ended ?? Promise.resolve()),
          ...(calls[at] ?? []).map((call) => after(call.ended)),
        ]);
        const each = Object.fromEntries(WAYS.map((way, index) => [way, ended[index] ?? Number.NaN]));
        return { refused, stream, calls: each as Revocation["calls"] };
      }),
    );
  } finally {
    await reports.close();
  }
}

async function begin(
  way: (typeof WAYS)[number],
  caller: { readonly url: string; readonly key: string },
  args: { readonly report: string },
): Promise<unknown> {
  switch (way) {
    case "REST":
      return fetch(`${caller.url}/api/v1/execute`, {
        method: "POST",
        headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
        body: JSON.stringify({ toolName: "default.wait", arguments: args }),
      });
    case "MCP 2026-07-28":
      return modernClient(caller).call("wait", args);
    case "MCP 2025-11-25":
      return (await legacyClient(caller)).call("wait", args);
    case "A2A": {
      const agent = await A2A_WAYS[0].connect(caller.url, { "x-api-key": caller.key });
      return agent.sendMessage(asking({ tool: "default.wait", arguments: args }));
    }
  }
}

/** A server that tools report to, by path. */
async function startReports() {
  const arrived = new Map<string, PromiseWithResolvers<void>>();
  const at = (path: string): PromiseWithResolvers<void> => {
    const known = arrived.get(path) ?? Promise.withResolvers<void>();
    arrived.set(path, known);
    return known;
  };
  const server = createServer((request, response) => {
    at(request.url ?? "").resolve();
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    of: (path: string): Promise<void> => at(path).promise,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
