import { randomUUID } from "node:crypto";
import type { SendMessageRequest } from "@a2a-js/sdk";
import type { Transport } from "@a2a-js/sdk/client";
import { createClient } from "../../../src/client/index.ts";
import type { ToolResult } from "../../../src/index.ts";
import { A2A_WAYS, type A2aWay, asking, outcomeOf, readEvents } from "../../serve/a2a-clients.ts";
import { askAt, eventsOf } from "../../serve/rest-gateway.ts";

/** A gateway over HTTP, and the toolset that its caller names, if any. */
export interface Remote {
  readonly url: string;
  readonly toolset?: string;
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
    async ({ url, ...through }, call) => {
      const { status, body } = await rest(url, "POST", "/execute", { ...call, ...through });
      return status >= 400 ? body.result : body;
    },
  ],
  [
    "POST /api/v1/execute, streamed",
    async ({ url, ...through }, call) => {
      const headers = { accept: "text/event-stream" };
      const { text } = await askAt(`${url}/api/v1`)("POST", "/execute", { body: { ...call, ...through }, headers });
      return eventsOf(text).find(({ event }) => event === "result")?.data as RemoteResult;
    },
  ],
  [
    "POST /api/v1/batch",
    async ({ url, ...through }, call) =>
      (await rest(url, "POST", "/batch", { calls: [{ ...call, ...through }] })).body.results[0],
  ],
  [
    "toolarsenal/client, execute",
    ({ url, ...through }, call) => createClient({ url }).execute({ ...call, ...through }),
  ],
  [
    "toolarsenal/client, execute with progress",
    ({ url, ...through }, call) => createClient({ url }).execute({ ...call, ...through, onProgress() {} }),
  ],
  [
    "toolarsenal/client, executeBatch",
    async ({ url, ...through }, call) => {
      const { results } = await createClient({ url }).executeBatch({ calls: [{ ...call, ...through }] });
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
    async ({ url, toolset }) => (await rest(url, "GET", `/tools${toolset ? `?toolset=${toolset}` : ""}`)).body,
  ],
  [
    "POST /api/v1/search",
    async ({ url, ...through }, query) => {
      const asked = { context: { query }, explain: true, limit: 50, scoreThreshold: 0, ...through };
      return (await rest(url, "POST", "/search", asked)).body;
    },
  ],
  [
    "POST /api/v1/tools/retrieve",
    async ({ url, ...through }, query) =>
      (await rest(url, "POST", "/tools/retrieve", { query, limit: 50, refuse: "never", ...through })).body,
  ],
  [
    "POST /api/v1/export",
    async ({ url, ...through }, _query, ids) =>
      (await rest(url, "POST", "/export", { format: "openai", ids, ...through })).body.tools,
  ],
  ["toolarsenal/client, listTools", ({ url, ...through }) => createClient({ url }).listTools(through)],
  [
    "toolarsenal/client, pages",
    async ({ url, ...through }) => {
      const pages: unknown[] = [];
      for await (const page of createClient({ url }).pages({ limit: 2, ...through })) pages.push(page);
      return pages;
    },
  ],
  [
    "toolarsenal/client, retrieve",
    ({ url, ...through }, query) => createClient({ url }).retrieve({ context: { query }, limit: 50, ...through }),
  ],
  [
    "toolarsenal/client, retrieveTools",
    ({ url, ...through }, query) =>
      createClient({ url }).retrieveTools(query, { limit: 50, refuse: "never", ...through }),
  ],
  [
    "toolarsenal/client, exportTools",
    async ({ url, ...through }, _query, ids) => (await createClient({ url }).exportTools("openai", ids, through)).tools,
  ],
  ...A2A_WAYS.flatMap(
    (way) =>
      [
        [`/a2a, a text, ${way.name}`, async (at: Remote, query: string) => outcomeOf(await send(way, at, query)).made],
        [
          `/a2a, a text, streamed, ${way.name}`,
          async ({ url, toolset }: Remote, query: string) =>
            readEvents((await way.connect(url)).sendMessageStream(request(query, toolset))),
        ],
      ] as const,
  ),
  [
    "/a2a, a text, tasks/send",
    async (at, query) => {
      const data = { limit: 50, ...(at.toolset !== undefined && { toolset: at.toolset }) };
      const parts = [
        { type: "text", text: query },
        { type: "data", data },
      ];
      return (await byTasksSend(at, parts)).artifacts;
    },
  ],
];

/** What the cards of a gateway say: those for anybody, and those for a caller that is known. */
export async function cardsOf(url: string): Promise<{ readonly open: string; readonly extended: readonly string[] }> {
  const open = await Promise.all(
    ["/.well-known/agent-card.json", "/.well-known/agent.json"].map(async (path) => (await fetch(url + path)).text()),
  );
  const extendedBy = async (client: Transport): Promise<string> =>
    JSON.stringify(await client.getExtendedAgentCard({ tenant: "" }));
  const clients = await Promise.all(A2A_WAYS.map((way) => way.connect(url)));
  return { open: open.join("\n"), extended: await Promise.all(clients.map(extendedBy)) };
}

function rest(url: string, method: string, path: string, body?: object): ReturnType<ReturnType<typeof askAt>> {
  return askAt(`${url}/api/v1`)(method, path, body === undefined ? {} : { body });
}

const wayNamed = (name: string): A2aWay => A2A_WAYS.find((each) => each.name === name) ?? A2A_WAYS[0];

const dataOf = ({ toolset }: Remote, { toolName, arguments: args }: RemoteCall) => ({
  tool: toolName,
  arguments: args,
  ...(toolset !== undefined && { toolset }),
});

async function byClient(name: string, at: Remote, call: RemoteCall): Promise<RemoteResult> {
  const client = await wayNamed(name).connect(at.url);
  const { state, said, made } = outcomeOf(await client.sendMessage(asking(dataOf(at, call))));
  return toResult({ state, said, made });
}

/** A search in words, addressed to the skill of a toolset if there is one. */
function request(query: string, toolset: string | undefined): SendMessageRequest {
  const partsOf = (part: string | object) => asking(part).message?.parts ?? [];
  const skill = toolset === undefined ? {} : { metadata: { skillId: `toolset_${toolset}` } };
  return asking(query, {
    parts: [...partsOf(query), ...partsOf({ limit: 50 })],
    ...skill,
  });
}

const send = async (way: A2aWay, { url, toolset }: Remote, query: string) =>
  (await way.connect(url)).sendMessage(request(query, toolset));

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
  { url }: Remote,
  parts: readonly object[],
): Promise<Outcome & { readonly artifacts: readonly object[] }> {
  const params = { id: randomUUID(), message: { role: "user", parts } };
  const response = await fetch(`${url}/a2a`, {
    method: "POST",
    headers: { "content-type": "application/json" },
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
