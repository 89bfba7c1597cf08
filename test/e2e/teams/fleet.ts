import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolArsenal } from "../../../src/index.ts";
import { startGateway } from "../gateway-process.ts";
import { eventually } from "../replicas/eventually.ts";

export const ROOT_TOKEN = "root-token-of-this-test-fleet";

/** An answer of a gateway. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  // The tests look into answers of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

interface KeySettings {
  readonly tenant?: string;
  readonly roles?: readonly string[];
  readonly capabilities?: readonly string[];
}

/** Three gateways on one state. */
export interface Fleet {
  readonly urls: readonly string[];
  /** Sends a request to one of the gateways: `ask(0, key, "GET", "/tenants")`. Leaves a stream once its headers are there. */
  ask(at: number, key: string, method: string, path: string, body?: unknown): Promise<Answer>;
  /** Creates a key that may read and write data unless it says more, and waits until every gateway accepts it. */
  key(name: string, more?: KeySettings): Promise<string>;
  /** Creates a tenant, and waits until every gateway knows it. */
  tenant(id: string, settings?: object): Promise<void>;
  /** Opens the stream of events. Resolves once its headers are there; `ended` resolves when the gateway ends it. */
  stream(at: number, key: string): Promise<{ readonly ended: Promise<void>; read(): Promise<string> }>;
  close(): Promise<void>;
}

/** Starts three gateways in this process. They share the state, and nothing else. */
export async function startFleet(
  settings: Readonly<Record<string, unknown>>,
  prepare: (arsenal: ToolArsenal) => void | Promise<void> = () => {},
): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-teams-"));
  const urls: string[] = [];
  const stops: (() => Promise<void>)[] = [];
  for (let index = 0; index < 3; index++) {
    const arsenal = new ToolArsenal({
      state: { file: join(folder, "state.sqlite") },
      registries: [],
      embedder: { tier: "lexical" },
      server: { tokens: { root: ROOT_TOKEN }, auth: { apiKeys: { state: true } } },
      telemetry: { enabled: false, history: { enabled: true } },
      ...settings,
    });
    await prepare(arsenal);
    const { url, close } = await arsenal.serve({ rest: true, ui: true, port: 0 });
    urls.push(url ?? "");
    stops.push(close, () => arsenal.close());
  }
  return fleetAt(urls, async () => {
    for (const stop of stops) await stop();
    rmSync(folder, { recursive: true, force: true });
  });
}

/** Starts three gateways as processes of their own, with the tools of `tools.ts`. The settings are those of `arsenal.yaml`, and name the state. */
export async function startProcesses(settings: Readonly<Record<string, unknown>>): Promise<Fleet> {
  const gateways = await Promise.all(
    [0, 1, 2].map(() =>
      startGateway({
        tier: "lexical",
        servers: {},
        settings: {
          modules: [join(import.meta.dirname, "tools.ts")],
          registries: [],
          server: { tokens: { root: ROOT_TOKEN }, auth: { api_keys: { state: true } } },
          telemetry: { history: { enabled: true } },
          ...settings,
        },
        mode: "static",
      }),
    ),
  );
  const urls = gateways.map(({ url }) => url);
  return fleetAt(urls, async () => void (await Promise.all(gateways.map((gateway) => gateway.close()))));
}

function fleetAt(urls: readonly string[], close: () => Promise<void>): Fleet {
  const open = (at: number, key: string, method: string, path: string, body?: unknown, signal?: AbortSignal) =>
    fetch(`${urls[at]}${path.startsWith("/openapi") ? path : `/api/v1${path}`}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });

  async function ask(at: number, key: string, method: string, path: string, body?: unknown): Promise<Answer> {
    const leave = new AbortController();
    const response = await open(at, key, method, path, body, leave.signal);
    if (response.headers.get("content-type")?.includes("event-stream") === true) {
      leave.abort();
      return { status: response.status, text: "", body: {} };
    }
    const text = await response.text();
    const isJson = /json/.test(response.headers.get("content-type") ?? "");
    return { status: response.status, text, body: isJson ? JSON.parse(text) : undefined };
  }

  /** Waits until every gateway answers a caller with this status. */
  const everywhere = async (key: string, expected: number): Promise<void> => {
    for (const at of urls.keys())
      await eventually(
        `gateway ${at} answers ${expected}`,
        async () => (await ask(at, key, "GET", "/info")).status === expected,
      );
  };

  const root = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await ask(0, ROOT_TOKEN, method, path, body);
    assert.ok(answer.status < 300, `${method} ${path} was answered with ${answer.status}: ${answer.body?.detail}`);
    return answer;
  };

  return {
    urls,
    ask,
    async key(name, more = {}) {
      const rights = { capabilities: ["read_data", "write_data"], scopes: ["*"] };
      const { body } = await root("POST", "/keys", { name, ...rights, ...more });
      await everywhere(body.text, 200);
      return body.text;
    },
    async tenant(id, more = {}) {
      // A gateway that first refuses the tenant and then accepts it has read all of its settings.
      await root("POST", "/tenants", { id, ...more, state: "suspended" });
      const { body } = await root("POST", "/keys", { name: `probe-${id}`, tenant: id });
      await everywhere(body.text, 401);
      await root("PUT", `/tenants/${id}`, { state: "active" });
      await everywhere(body.text, 200);
      await root("DELETE", `/keys/probe-${id}`);
    },
    async stream(at, key) {
      const response = await open(at, key, "GET", "/events");
      assert.equal(response.status, 200);
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      const decoder = new TextDecoder();
      const drain = async (): Promise<void> => {
        // A stream that is cut off rejects, one that is closed ends.
        while (!(await reader.read().catch(() => ({ done: true }))).done);
      };
      let draining: Promise<void> | undefined;
      return {
        get ended() {
          return (draining ??= drain());
        },
        async read() {
          const { value } = await reader.read();
          return decoder.decode(value);
        },
      };
    },
    close,
  };
}
