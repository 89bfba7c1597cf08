import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeyText, hashOfKey, updateKeyFile } from "../../../src/adapters/identity/api-keys/key-file.ts";
import { CAPABILITIES } from "../../../src/tool/tool.ts";
import { type GatewayOptions, type GatewayProcess, startGateway } from "../gateway-process.ts";

/** Callers by the names of their keys, each with its roles and tenant. */
const CALLERS = {
  "guest-a": { roles: [], tenant: "a" },
  "approver-a": { roles: ["approver"], tenant: "a" },
  approver: { roles: ["approver"] },
  "operator-a": { roles: ["operator"], tenant: "a" },
  "operator-b": { roles: ["operator"], tenant: "b" },
  operator: { roles: ["operator"] },
  guest: { roles: [] },
} as const satisfies Readonly<Record<string, { readonly roles: readonly string[]; readonly tenant?: string }>>;

/** A caller, or nobody: a request without a key. */
export type Caller = keyof typeof CALLERS | "nobody";

/** An answer of the gateway. */
export interface KeyedAnswer {
  readonly status: number;
  readonly text: string;
  // The tests look into answers of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Rejects if the answer takes longer, in milliseconds. */
  readonly withinMs?: number;
}

/** A gateway process whose callers have keys. */
export interface KeyedGateway {
  /** Changes when it is started again. */
  readonly url: string;
  readonly pid: number;
  /** The roles and the tenant of a caller. */
  readonly callers: Readonly<Record<string, { readonly roles: readonly string[]; readonly tenant?: string }>>;
  /** The key of a caller. */
  keyOf(who: Caller): string;
  /** Asks for a path of the gateway, such as `/api/v1/tools`. A stream without an end is left once its headers are there. */
  ask(who: Caller, method: string, path: string, body?: unknown, more?: AskOptions): Promise<KeyedAnswer>;
  /** Ends the process without warning. */
  kill(): Promise<void>;
  /** Starts a process with the same keys and settings after the first was killed, on a free port unless told otherwise. */
  start(port?: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a gateway as users do, with a key for each caller. `policy` is the text of its policy file. */
export async function startKeyedGateway(
  options: Partial<Omit<GatewayOptions, "settings">> & {
    readonly policy?: string;
    readonly security?: object;
    readonly settings?: Readonly<Record<string, unknown>>;
  } = {},
): Promise<KeyedGateway> {
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-keyed-"));
  const keyFile = join(folder, "keys.json");
  const policyFile = join(folder, "policy.yaml");
  const { policy, security, settings, servers = {}, ...more } = options;
  if (policy !== undefined) writeFileSync(policyFile, policy);
  const keys = new Map<string, string>();
  for (const [name, { roles, ...tenant }] of Object.entries(CALLERS)) {
    const key = createKeyText(name);
    keys.set(name, key);
    const principal = { id: name, roles, capabilities: CAPABILITIES, scopes: ["*"], local: false, ...tenant };
    await updateKeyFile(keyFile, (known) => [...known, { id: name, hash: hashOfKey(key), principal }]);
  }
  const open = (port = more.port): Promise<GatewayProcess> =>
    startGateway({
      servers,
      tier: "lexical",
      ...more,
      ...(port !== undefined && { port }),
      settings: {
        ...settings,
        security: { ...security, ...(policy !== undefined && { policy_file: policyFile }) },
        server: { auth: { api_keys: { file: keyFile } } },
      },
    });
  let gateway = await open();
  const keyOf = (who: Caller): string => keys.get(who) ?? "";
  return {
    get url() {
      return gateway.url;
    },
    get pid() {
      return gateway.pid;
    },
    callers: CALLERS,
    keyOf,
    async ask(who, method, path, body, { headers = {}, withinMs } = {}) {
      const sent = {
        method,
        headers: {
          ...(who !== "nobody" && { authorization: `Bearer ${keyOf(who)}` }),
          ...(method !== "GET" && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      };
      const left = new AbortController();
      const signals = [left.signal, ...(withinMs === undefined ? [] : [AbortSignal.timeout(withinMs)])];
      const response = await fetch(gateway.url + path, { ...sent, signal: AbortSignal.any(signals) });
      const { status } = response;
      const type = response.headers.get("content-type") ?? "";
      if (type.startsWith("text/event-stream")) {
        left.abort();
        return { status, text: "", body: undefined };
      }
      const text = await response.text();
      return { status, text, body: type.includes("json") && text !== "" ? (JSON.parse(text) as unknown) : undefined };
    },
    async kill() {
      process.kill(gateway.pid, "SIGKILL");
      await gateway.close();
    },
    async start(port) {
      gateway = await open(port);
    },
    async close() {
      await gateway.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
