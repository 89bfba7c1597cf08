import { randomUUID } from "node:crypto";
import type { SendMessageRequest } from "@a2a-js/sdk";
import type { Transport } from "@a2a-js/sdk/client";
import { createClient } from "../../../src/client/index.ts";
import type { ToolResult } from "../../../src/index.ts";
import { A2A_WAYS, type A2aWay, asking, outcomeOf, readEvents } from "../../serve/a2a-clients.ts";
import { askAt, eventsOf, type RestAnswer } from "../../serve/rest-gateway.ts";

/** A gateway over HTTP, and how it is asked. */
export interface Remote {
  readonly url: string;
  /** The toolset that the caller names, if any. */
  readonly toolset?: string;
  /** Say who calls. Nobody is the local operator. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a caller learns of a call. */
export type RemoteResult = Pick<ToolResult, "status" | "error" | "confirmationId" | "result">;

interface RemoteCall {
  readonly toolName: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Every way to run a tool over REST, with the client and over A2A. */
export const REMOTE_CALLS: readonly (readonly [string, (at: Remote, call: RemoteCall) => Promise<RemoteResult>])[] = [
  [
    "POST /api/v1/execute",
    async (at, call) => {
      const { status, body } = await rest(at, "POST", "/execute", { ...call, ...through(at) });
      return status >= 400 ? body.result : body;
    },
  ],
  [
    "POST /api/v1/execute, streamed",
    async (at, call) => {
      const streamed = { ...at, headers: { ...at.headers, accept: "text/event-stream" } };
      const { text } = await rest(streamed, "POST", "/execute", { ...call, ...through(at) });
      return eventsOf(text).find(({ event }) => event === "result")?.data as RemoteResult;
    },
  ],
  [
    "POST /api/v1/batch",
    async (at, call) => (await rest(at, "POST", "/batch", { calls: [{ ...call, ...through(at) }] })).body.results[0],
  ],
  ["toolarsenal/client, execute", (at, call) => clientAt(at).execute({ ...call, ...through(at) })],
  [
    "toolarsenal/client, execute with progress",
    (at, call) => clientAt(at).execute({ ...call, ...through(at), onProgress() {} }),
  ],
  [
    "toolarsenal/client, executeBatch",
    async (at, call) => {
      const { results } = await clientAt(at).executeBatch({ calls: [{ ...call, ...through(at) }] });
      return results[0] as RemoteResult;
    },
  ],
  ["/a2a, JSON-RPC", (at, call) => byClient("JSON-RPC, 1.0", at, call)],
  ["/a2a, JSON-RPC, 0.3", (at, call) => byClient("JSON-RPC, 0.3", at, call)],
  ["/a2a, HTTP+JSON", (at, call) => byClient("HTTP+JSON, 1.0", at, call)],
  ["/a2a, HTTP+JSON, 0.3", (at, call) => byClient("HTTP+JSON, 0.3", at, call)],
  ["/a2a, tasks/send", async (at, call) => toResult(await byTasksSend(at, [{ type: "data", data: dataOf(at, call) }]))],
];

/** Every way to learn of tools over REST, with the client and over A2A: what a search or a list tells, and tools with these ids. */
export const REMOTE_LISTS: readonly (readonly [
  string,
  (at: Remote, query: string, ids: readonly string[]) => Promise<unknown>,
])[] = [
  [
    "GET /api/v1/tools",
    async (at) => (await rest(at, "GET", `/tools?${new URLSearchParams(through(at)).toString()}`)).body,
  ],
  [
    "POST /api/v1/search",
    async (at, query) => {
      const asked = { context: { query }, explain: true, limit: 50, scoreThreshold: 0, ...through(at) };
      return (await rest(at, "POST", "/search", asked)).body;
    },
  ],
  [
    "POST /api/v1/tools/retrieve",
    async (at, query) =>
      (await rest(at, "POST", "/tools/retrieve", { query, limit: 50, refuse: "never", ...through(at) })).body,
  ],
  [
    "POST /api/v1/export",
    async (at, _query, ids) =>
      (await rest(at, "POST", "/export", { format: "openai", ids, ...through(at) })).body.tools,
  ],
  ["toolarsenal/client, listTools", (at) => clientAt(at).listTools(through(at))],
  [
    "toolarsenal/client, pages",
    async (at) => {
      const pages: unknown[] = [];
      for await (const page of clientAt(at).pages({ limit: 2, ...through(at) })) pages.push(page);
      return pages;
    },
  ],
  [
    "toolarsenal/client, retrieve",
    (at, query) => clientAt(at).retrieve({ context: { query }, limit: 50, ...through(at) }),
  ],
  [
    "toolarsenal/client, retrieveTools",
    (at, query) => clientAt(at).retrieveTools(query, { limit: 50, refuse: "never", ...through(at) }),
  ],
  [
    "toolarsenal/client, exportTools",
    async (at, _query, ids) => (await clientAt(at).exportTools("openai", ids, through(at))).tools,
  ],
  ...A2A_WAYS.flatMap(
    (way) =>
      [
        [`/a2a, a text, ${way.name}`, async (at: Remote, query: string) => outcomeOf(await send(way, at, query)).made],
        [
          `/a2a, a text, streamed, ${way.name}`,
          async (at: Remote, query: string) =>
            readEvents((await connect(way, at)).sendMessageStream(request(query, at))),
        ],
      ] as const,
  ),
  [
    "/a2a, a text, tasks/send",
    async (at, query) => {
      const data = { limit: 50, ...through(at) };
      const parts = [
        { type: "text", text: query },
        { type: "data", data },
      ];
      return (await byTasksSend(at, parts)).artifacts;
    },
  ],
];

/** What the cards of a gateway say: those for anybody, and those for a caller that is known. */
export async function cardsOf(at: Remote): Promise<{ readonly open: string; readonly extended: readonly string[] }> {
  const open = await Promise.all(
    ["/.well-known/agent-card.json", "/.well-known/agent.json"].map(async (path) =>
      (await fetch(at.url + path)).text(),
    ),
  );
  const extendedBy = async (client: Transport): Promise<string> =>
    JSON.stringify(await client.getExtendedAgentCard({ tenant: "" }));
  const clients = await Promise.all(A2A_WAYS.map((way) => connect(way, at)));
  return { open: open.join("\n"), extended: await Promise.all(clients.map(extendedBy)) };
}

const through = ({ toolset }: Remote) => (toolset === undefined ? {} : { toolset });
const clientAt = ({ url, headers = {} }: Remote) => createClient({ url, headers });
const connect = (way: A2aWay, { url, headers }: Remote): Promise<Transport> => way.connect(url, headers);
const rest = ({ url, headers = {} }: Remote, method: string, path: string, body?: object): Promise<RestAnswer> =>
  askAt(`${url}/api/v1`)(method, path, { headers, ...(body !== undefined && { body }) });

const wayNamed = (name: string): A2aWay => A2A_WAYS.find((each) => each.name === name) ?? A2A_WAYS[0];

const dataOf = (at: Remote, { toolName, arguments: args }: RemoteCall) => ({
  tool: toolName,
  arguments: args,
  ...through(at),
});

async function byClient(name: string, at: Remote, call: RemoteCall): Promise<RemoteResult> {
  const client = await connect(wayNamed(name), at);
  const { state, said, made } = outcomeOf(await client.sendMessage(asking(dataOf(at, call))));
  return toResult({ state, said, made });
}

/** A search in words, addressed to the skill of a toolset if there is one. */
function request(query: string, { toolset }: Remote): SendMessageRequest {
  const partsOf = (part: string | object) => asking(part).message?.parts ?? [];
  const skill = toolset === undefined ? {} : { metadata: { skillId: `toolset_${toolset}` } };
  return asking(query, {
    parts: [...partsOf(query), ...partsOf({ limit: 50 })],
    ...skill,
  });
}

const send = async (way: A2aWay, at: Remote, query: string) => (await connect(way, at)).sendMessage(request(query, at));

interface Outcome {
  readonly state: string;
  readonly said: readonly unknown[];
  readonly made: readonly unknown[];
}

interface Part {
  readonly text?: string;
  readonly data?: object;
}

async function byTasksSend(
  { url, headers = {} }: Remote,
  parts: readonly object[],
): Promise<Outcome & { readonly artifacts: readonly object[] }> {
  const params = { id: randomUUID(), message: { role: "user", parts } };
  const response = await fetch(`${url}/a2a`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tasks/send", params }),
  });
  const { result } = (await response.json()) as {
    readonly result: {
      readonly status: { readonly state: string; readonly message?: { readonly parts: readonly Part[] } };
      readonly artifacts?: readonly { readonly parts: readonly Part[] }[];
    };
  };
  const contentOf = (from: readonly Part[] = []): readonly unknown[] => from.map(({ data, text }) => data ?? text);
  const { status, artifacts = [] } = result;
  const made = artifacts.flatMap((artifact) => contentOf(artifact.parts));
  return { state: status.state, said: contentOf(status.message?.parts), made, artifacts };
}

/** A task that did not complete says why in its second part. */
function toResult({ state, said, made }: Outcome): RemoteResult {
  if (state === "completed") return { status: "success", result: made };
  const { status, code, message, confirmationId } = said[1] as RemoteResult & NonNullable<RemoteResult["error"]>;
  return { status, error: { code, message }, ...(confirmationId !== undefined && { confirmationId }) };
}
