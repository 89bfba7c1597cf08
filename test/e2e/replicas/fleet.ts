import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeyText, hashOfKey, updateKeyFile } from "../../../src/adapters/identity/api-keys/key-file.ts";
import { CAPABILITIES } from "../../../src/tool/tool.ts";
import { type DroppingServer, startModern as startDropping } from "../dropping-servers.ts";
import { type GatewayProcess, type RemoteEntry, startGateway } from "../gateway-process.ts";
import { startLegacyServer, startModernServer, type UpstreamServer } from "../../mcp/upstream-server.ts";
import { type Proxy, startProxy } from "./proxy.ts";
import type { StateService } from "./states.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

/** Three gateways with one configuration behind a proxy, and the servers behind them. */
export interface Fleet {
  readonly folder: string;
  readonly proxy: Proxy;
  /** A server that counts executions, of each era. */
  readonly old: Upstream;
  readonly young: Upstream;
  /** A server whose tool `pay` fails after it took effect. */
  readonly moody: DroppingServer;
  /** A server whose list of tools a test changes, of each era. */
  readonly listed: readonly UpstreamServer[];
  /** The keys of callers: one asks, one approves, one operates. */
  readonly keys: { readonly asker: string; readonly approver: string; readonly operator: string };
  readonly state: StateService;
  /** The replica with that number. */
  replica(index: number): GatewayProcess;
  /** The replicas that run. */
  running(): readonly GatewayProcess[];
  /** Ends a replica without warning. */
  kill(index: number): Promise<void>;
  /** Asks a replica to stop, waits until it has, and returns its exit code. */
  stop(index: number): Promise<number | null>;
  /** Starts a replica in the place of one that ended. */
  start(index: number): Promise<void>;
  /** Writes the policy file that all replicas follow, with further rules. */
  writePolicy(rules?: readonly object[]): void;
  /** Adds a key and returns it. */
  addKey(name: string, roles?: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

const RULES = [
  { id: "seats", effect: "allow", tools: ["*"] },
  { id: "rated", effect: "allow", tools: ["*.rated"], obligations: { rate: "60/minute" } },
  { id: "bills", effect: "require_approval", tools: ["old.pay", "young.pay"] },
];

export interface FleetOptions {
  readonly size?: number;
  /** Further sections of the configuration. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Further servers. */
  readonly servers?: Readonly<Record<string, RemoteEntry>>;
  /** Replicas that the others cannot look up, as if they ran on another machine. */
  readonly elsewhere?: readonly number[];
}

/** Starts everything on free ports, in a folder of its own. */
export async function startFleet(
  openState: (folder: string) => Promise<StateService>,
  { size = 3, settings = {}, servers = {}, elsewhere = [] }: FleetOptions = {},
): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-fleet-"));
  const [state, proxy, old, young, moody, ...listed] = await Promise.all([
    openState(folder),
    startProxy(),
    startUpstream("legacy"),
    startUpstream("modern"),
    startDropping(),
    startLegacyServer(),
    startModernServer(),
  ]);
  const policyFile = join(folder, "policy.yaml");
  const keyFile = join(folder, "keys.json");
  const writePolicy: Fleet["writePolicy"] = (rules = []) =>
    writeFileSync(policyFile, JSON.stringify({ version: 1, rules: [...RULES, ...rules] }));

  async function addKey(name: string, roles: readonly string[] = []): Promise<string> {
    const key = createKeyText(name);
    const principal = { id: name, roles, capabilities: CAPABILITIES, scopes: ["*"], local: false };
    await updateKeyFile(keyFile, (known) => [...known, { id: name, hash: hashOfKey(key), principal }]);
    return key;
  }

  writePolicy();
  const keys = {
    asker: await addKey("asker"),
    approver: await addKey("approver", ["approver"]),
    operator: await addKey("operator", ["operator"]),
  };
  const [listedOld, listedYoung] = listed;
  const remote = ({ url }: { readonly url: string }) => ({ type: "http", url }) as const;
  const open = (index: number): Promise<GatewayProcess> =>
    startGateway({
      isElsewhere: elsewhere.includes(index),
      servers: {
        old: remote(old),
        young: remote(young),
        moody: remote(moody),
        alpha: remote(listedOld),
        beta: remote(listedYoung),
        ...servers,
      },
      mode: "static",
      tier: "lexical",
      settings: {
        ...state.settings,
        security: { policy_file: policyFile, max_requests_per_minute: 1_000_000 },
        execution: { circuit_breaker_threshold: 4 },
        server: { auth: { api_keys: { file: keyFile } }, shutdown_delay_s: 1 },
        ...settings,
      },
    });

  const replicas: (GatewayProcess | undefined)[] = [];
  async function start(index: number): Promise<void> {
    const opened = await open(index);
    replicas[index] = opened;
    proxy.replicas.add(opened.url);
  }
  const replica = (index: number): GatewayProcess => {
    const found = replicas[index];
    if (found === undefined) throw new Error(`Replica ${index} is not running.`);
    return found;
  };
  async function end(index: number, how: "asked" | "killed"): Promise<number | null> {
    const found = replica(index);
    if (how === "killed") process.kill(found.pid, "SIGKILL");
    const code = await found.close();
    proxy.replicas.delete(found.url);
    replicas[index] = undefined;
    return code;
  }

  async function close(): Promise<void> {
    await Promise.all(replicas.map((each) => each?.close()));
    await Promise.all([proxy, old, young, moody, ...listed, state].map((each) => each.close()));
    rmSync(folder, { recursive: true, force: true });
  }
  const started = await Promise.allSettled(Array.from({ length: size }, (_, index) => start(index)));
  const failed = started.find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") {
    await close();
    throw failed.reason;
  }
  return {
    folder,
    proxy,
    old,
    young,
    moody,
    listed,
    keys,
    state,
    replica,
    running: () => replicas.filter((each) => each !== undefined),
    kill: async (index) => void (await end(index, "killed")),
    stop: (index) => end(index, "asked"),
    start,
    writePolicy,
    addKey,
    close,
  };
}
