import { randomUUID } from "node:crypto";
import { A2A_WAYS, asking, outcomeOf } from "../../serve/a2a-clients.ts";
import type { Place } from "./place.ts";
import { opened, type OpenSurface, type Seen, type Surface } from "./surfaces.ts";

type Outcome = Pick<ReturnType<typeof outcomeOf>, "state" | "said">;

/** Sends a data part to a gateway, and reads how its task ended. */
type Send = (url: string, data: object) => Promise<Outcome>;

/** Each binding of A2A as a way to run tools. */
export const A2A_SURFACES: readonly Surface[] = [
  { name: "/a2a, JSON-RPC", open: (place) => served(place, byClient("JSON-RPC, 1.0")) },
  { name: "/a2a, HTTP+JSON", open: (place) => served(place, byClient("HTTP+JSON, 1.0")) },
  { name: "/a2a, tasks/send", open: (place) => served(place, byTasksSend) },
];

function byClient(name: string): Send {
  const way = A2A_WAYS.find((each) => each.name === name) ?? A2A_WAYS[0];
  return async (url, data) => outcomeOf(await (await way.connect(url)).sendMessage(asking(data)));
}

async function byTasksSend(url: string, data: object): Promise<Outcome> {
  const params = { id: randomUUID(), message: { role: "user", parts: [{ type: "data", data }] } };
  const response = await fetch(`${url}/a2a`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tasks/send", params }),
  });
  const { status } = ((await response.json()) as { readonly result: { readonly status: Sent } }).result;
  return { state: status.state, said: (status.message?.parts ?? []).map((part) => part.data ?? part.text) };
}

interface Sent {
  readonly state: string;
  readonly message?: { readonly parts: readonly { readonly text?: string; readonly data?: object }[] };
}

async function served({ config }: Place, send: Send): Promise<OpenSurface> {
  const arsenal = await opened(config);
  const gateway = await arsenal.serveMcp({ port: 0 });
  return {
    async call(namespace, name, args) {
      const { state, said } = await send(gateway.url ?? "", { tool: `${namespace}.${name}`, arguments: args });
      return state === "completed" ? { status: "success" } : toSeen(said[1] as Told);
    },
    async close() {
      await gateway.close();
      await arsenal.close();
    },
  };
}

interface Told {
  readonly status: string;
  readonly code: string;
  readonly confirmationId?: string;
}

function toSeen({ status, code, confirmationId }: Told): Seen {
  return { status, code, ...(confirmationId !== undefined && { confirmation: true }) };
}
