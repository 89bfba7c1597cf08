import { type Arsenal, createClient, type RemoteApprovals } from "../../src/client/index.ts";
import {
  type AcceptOptions,
  type ArsenalEvent,
  localOperator,
  type Principal,
  ToolArsenal,
  type ToolArsenalConfig,
  type ToolArsenalParts,
  type ToolDraft,
} from "../../src/index.ts";
import type { Toolset } from "../../src/toolset/index.ts";

/** An arsenal as its user has it, embedded or behind a gateway. */
interface Opened extends AsyncDisposable {
  readonly arsenal: Arsenal;
  /** The arsenal itself, in which functions are registered. */
  readonly host: ToolArsenal;
  /** The same arsenal, used by somebody else. */
  as(principal: Principal): Pick<Arsenal, "execute" | "executeBatch" | "retrieve" | "listTools" | "getTool">;
  /** The calls that wait, for somebody who did not ask for them and may answer them. */
  readonly approvals: Pick<RemoteApprovals, "list" | "get" | "approve" | "deny">;
  /** Accepts a tool as it is now, as an approver. */
  accept(id: string, options?: AcceptOptions): Promise<void>;
  toolsets(): Promise<readonly Toolset[]>;
  /** Resolves once every later event is heard. */
  subscribe(listener: (event: ArsenalEvent) => void): Promise<() => void>;
}

type Open = (config?: ToolArsenalConfig, parts?: ToolArsenalParts) => Promise<Opened>;

const quiet = { telemetry: { enabled: false } } as const;
const approver = localOperator({ id: "approver", local: false });

export const look: ToolDraft = {
  name: "look_around",
  description: "Looks around and says what it sees.",
  parameters: { type: "object" },
};

export const add: ToolDraft = {
  name: "add_numbers",
  namespace: "maths",
  description: "Adds two numbers and returns the sum.",
  parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
};

/** A caller without any capability. */
export const guest: Principal = { ...localOperator({ id: "guest" }), capabilities: [] };

const openEmbedded: Open = async (config = {}, parts = {}) => {
  const host = new ToolArsenal({ ...quiet, ...config, ...parts });
  return {
    arsenal: host,
    host,
    as: (principal) => ({
      execute: (call) => host.execute({ ...call, principal }),
      executeBatch: (batch) =>
        host.executeBatch({ ...batch, calls: batch.calls.map((call) => ({ ...call, principal })) }),
      retrieve: (query, options) =>
        typeof query === "string"
          ? host.retrieve(query, { ...options, principal })
          : host.retrieve({ ...query, principal }),
      listTools: (options) => host.listTools({ ...options, principal }),
      getTool: (name, namespace, by) => host.getTool(name, namespace, { ...by, principal }),
    }),
    approvals: {
      list: () => host.approvals.list({ approver }),
      get: (id) => host.approvals.get(id, { approver }),
      approve: (id) => host.approvals.approve(id, approver),
      deny: (id) => host.approvals.deny(id, approver),
    },
    accept: async (id, options) => host.pins?.accept(id, approver, options),
    toolsets: async () => host.toolsets.list(localOperator()),
    subscribe: async (listener) => host.subscribe(listener),
    [Symbol.asyncDispose]: () => host.close(),
  };
};

/** The same arsenal behind a gateway on this machine. Each caller has a token of its own. */
const openRemote: Open = async (config = {}, parts = {}) => {
  const host = new ToolArsenal({ ...quiet, ...config, ...parts });
  const callers = new Map<string, Principal>();
  const served = await host.serve({
    port: 0,
    identity: {
      name: "by-name",
      challenge: "Bearer",
      authenticate: async ({ headers }) => callers.get(headers["authorization"] ?? ""),
    },
  });
  const clients: AsyncDisposable[] = [];
  const as = (principal: Principal) => {
    callers.set(`Bearer ${principal.id}`, principal);
    const { onFailure } = config.execution ?? {};
    const client = createClient({ url: served.url ?? "", token: principal.id, ...(onFailure && { onFailure }) });
    clients.push(client);
    return client;
  };
  const client = as(localOperator());
  return {
    arsenal: client,
    host,
    as,
    approvals: as(approver).approvals,
    accept: as(approver).pins.accept,
    toolsets: () => client.toolsets.list(),
    async subscribe(listener) {
      const end = client.subscribe(listener);
      await end.connected;
      return end;
    },
    async [Symbol.asyncDispose]() {
      for (const each of clients) await each[Symbol.asyncDispose]();
      await served.close();
      await host.close();
    },
  };
};

/** Every way to have an arsenal: the tests in this folder hold for each. */
export const ARSENALS: readonly (readonly [where: string, open: Open])[] = [
  ["embedded", openEmbedded],
  ["behind a gateway", openRemote],
];
