import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeyText, hashOfKey, updateKeyFile } from "../../../src/adapters/identity/api-keys/key-file.ts";
import { CAPABILITIES } from "../../../src/tool/tool.ts";
import { type GatewayOptions, startGateway } from "../gateway-process.ts";

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

/** A gateway process whose callers have keys. */
export interface KeyedGateway {
  readonly url: string;
  /** The roles and the tenant of a caller. */
  readonly callers: Readonly<Record<string, { readonly roles: readonly string[]; readonly tenant?: string }>>;
  /** Asks for a path of the gateway, such as `/api/v1/tools`. A stream without an end is left once its headers are there. */
  ask(who: Caller, method: string, path: string, body?: unknown): Promise<KeyedAnswer>;
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
  const gateway = await startGateway({
    servers,
    tier: "lexical",
    ...more,
    settings: {
      ...settings,
      security: { ...security, ...(policy !== undefined && { policy_file: policyFile }) },
      server: { auth: { api_keys: { file: keyFile } } },
    },
  });
  return {
    url: gateway.url,
    callers: CALLERS,
    async ask(who, method, path, body) {
      const headers = {
        ...(who !== "nobody" && { authorization: `Bearer ${keys.get(who) ?? ""}` }),
        ...(method !== "GET" && { "content-type": "application/json" }),
      };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const left = new AbortController();
      const response = await fetch(gateway.url + path, { method, headers, ...sent, signal: left.signal });
      const { status } = response;
      const type = response.headers.get("content-type") ?? "";
      if (type.startsWith("text/event-stream")) {
        left.abort();
        return { status, text: "", body: undefined };
      }
      const text = await response.text();
      return { status, text, body: type.includes("json") && text !== "" ? (JSON.parse(text) as unknown) : undefined };
    },
    async close() {
      await gateway.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
