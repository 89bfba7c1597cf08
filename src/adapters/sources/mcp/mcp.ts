import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { createRedactor, type Redactor } from "../../../guard/redaction/redactor.ts";
import type { Emit } from "../../../observe/events.ts";
import { mapInTurns } from "../../../register/in-turns.ts";
import type { OfferedTool, Source } from "../../../register/source.port.ts";
import { hasOwnCredentials } from "./upstream/misplaced-secret.ts";
import { createPerCallerUpstream } from "./upstream/per-caller-upstream.ts";
import { type McpServerSettings, signsInCallers, type StdioSettings, type WrittenMcpServer } from "./settings.ts";
import { createServerLog, type ServerLog } from "./upstream/server-log.ts";
import { createHandler, toDraft } from "./upstream/server-tool.ts";
import type { UserTokens } from "./oauth/user-tokens.ts";
import { userAccountsOf } from "./upstream/user-accounts.ts";
import type { OnMessage } from "../../../mcp/connection.ts";
import type { RpcNotification } from "../../../mcp/protocol.ts";
import { untilAborted } from "../../../base/turns/until-aborted.ts";
import {
  hasReference,
  problemError,
  type Reach,
  type SettingProblem,
  type SourceSurroundings,
} from "../source-adapter.ts";
import { readServer } from "./read-settings.ts";
import { createUpstream, type McpUpstream, type UpstreamParts } from "./upstream/upstream.ts";

/** Default timeout of a call, in milliseconds. Also of a call whose caller can answer questions. */
const TIMEOUT_MS = 60_000;
const ASKING_TIMEOUT_MS = 300_000;
/** Default timeout of a call that the client follows as a task. */
const TASK_TIMEOUT_MS = 3_600_000;

/** @internal */
export interface McpParts extends Omit<UpstreamParts, "onStderr" | "onAgain" | "onLog" | "onMessage"> {
  /** Starts without tools, and registers them once the server is connected. If false, a failed first attempt is an error. */
  readonly patient?: boolean;
  /** Emits events when the server fails or reconnects, and for each unusable entry of its lists. */
  readonly emit?: Emit;
  /** Defaults to a new log. */
  readonly log?: ServerLog;
  readonly debugProtocol?: boolean;
  /** Tokens of callers who sign in to servers themselves. If omitted, one login serves all callers. */
  readonly userTokens?: UserTokens | undefined;
}

/** @internal */
export interface McpSource extends Source {
  readonly upstream: McpUpstream;
}

/**
 * Offers the tools of one MCP server, of any era and transport. Starts to connect at once.
 *
 * @example
 * await arsenal.add(mcpSource({ name: "files", transport: { kind: "stdio", command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] } }));
 * @internal
 */
export function mcpSource(settings: McpServerSettings, given: McpParts = {}): McpSource {
  const { patient = false, emit, debugProtocol = false, userTokens, ...parts } = given;
  const log = given.log ?? createServerLog({ clock: parts.clock, redactor: parts.secrets?.redactor });
  const accounts = userAccountsOf(settings, { ...parts, userTokens });
  const isPerCaller = accounts !== undefined || hasOwnCredentials(settings);
  const connectUpstream = isPerCaller ? createPerCallerUpstream : createUpstream;
  const upstream = connectUpstream(settings, {
    ...parts,
    ...(accounts && { accounts }),
    ...(debugProtocol && emit && { onMessage: toMessageEvents(settings.name, emit, parts.secrets?.redactor) }),
    onStderr: (line) => log.add("stderr", line),
    onAgain: () =>
      log.add("gateway", "exited during the probe for its MCP version; connecting again without the probe"),
    onLog: (message) => addMessage(log, message),
    report(problem) {
      parts.report?.(problem);
      const message = `The list of ${problem.listing} of the MCP server "${settings.name}" has a problem: ${problem.reason}`;
      emit?.("tool-rejected", { name: problem.name, code: "PROTOCOL_ERROR", message });
    },
  });
  let offered: readonly OfferedTool[] = [];
  let instructions: string | undefined;
  let comesBack = false;

  const stopTelling = upstream.watch((change) => {
    if (change.kind !== "state") return;
    const { state } = change;
    if (state.kind === "connected") log.add("gateway", `connected, with MCP ${state.protocolVersion}`);
    if (state.kind !== "failed") return;
    comesBack = true;
    log.add("gateway", state.error.message, "error");
    emit?.("ensemble-failed", { ensemble: settings.name, message: state.error.message });
  });

  const list = async (signal: AbortSignal): Promise<readonly OfferedTool[]> => {
    const tools = await upstream.list("tools", { signal });
    const toOffered = (tool: (typeof tools)[number]): OfferedTool => ({
      draft: toDraft(tool, settings),
      handler: createHandler(tool, upstream),
    });
    offered = await mapInTurns(tools, toOffered, { signal });
    const { state } = upstream;
    if (state.kind === "connected") instructions = state.server.instructions ?? "";
    if (comesBack) emit?.("ensemble-connected", { ensemble: settings.name, tools: offered.length });
    comesBack = false;
    return offered;
  };

  return {
    name: settings.name,
    kind: "mcp",
    namespaces: [settings.namespace ?? settings.name],
    // A program on this machine can use the files and the network of the user who runs it.
    capabilities: settings.transport.kind === "stdio" ? ["file_system", "network_access"] : ["network_access"],
    trustsAnnotations: settings.trustAnnotations === true,
    guardsEgress: settings.transport.kind !== "stdio",
    upstream,
    log,
    maxConcurrent: settings.maxConcurrent,
    timeoutMs: settings.timeoutMs ?? TIMEOUT_MS,
    askingTimeoutMs: settings.timeoutMs ?? ASKING_TIMEOUT_MS,
    taskTimeoutMs: settings.timeoutMs ?? TASK_TIMEOUT_MS,
    async connect({ signal }) {
      signal.throwIfAborted();
      if (patient) return;
      await untilAborted(upstream.attempted, signal);
      const { state } = upstream;
      if (state.kind === "failed") throw state.error;
      if (state.kind !== "connected")
        throw new ArsenalError("SOURCE_UNAVAILABLE", `The MCP server "${settings.name}" was closed. Add it again.`);
    },
    async list({ signal }) {
      // The tools of an unavailable server stay registered. Their calls report that the server is unavailable.
      if (patient && upstream.state.kind !== "connected") return offered;
      return list(signal);
    },
    reload: async ({ signal }) => void (await upstream.list("tools", { signal, fresh: true })),
    instructions: () => instructions,
    watch: (changed) =>
      upstream.watch((change) => {
        if (change.kind === "listed" && change.listing === "tools") changed();
      }),
    async disconnect() {
      stopTelling();
      if (upstream.state.kind === "connected") log.add("gateway", "disconnected");
      await upstream.close();
    },
    again: () => mcpSource(settings, { ...given, log }),
  };
}

/** Creates the source of a server. The settings may be in either notation. */
export async function create(written: WrittenMcpServer, surroundings: SourceSurroundings): Promise<McpSource> {
  const settings = readServer(written);
  if ("message" in settings) throw problemError(`the MCP server "${written.name}"`, settings);
  const { patient, mayStart, clock, emit, egress, secrets, debugProtocol, envPassthrough } = surroundings;
  const { oauth } =
    settings.transport.kind === "stdio" || settings.transport.kind === "websocket" ? {} : settings.transport;
  const userTokens = signsInCallers(oauth) ? await surroundings.userTokens?.() : undefined;
  const guarded = mayStart && {
    async mayStart(command: StdioSettings): Promise<string | undefined> {
      const { commandDefinition } = await import("./upstream/command-definition.ts");
      return mayStart(settings.name, commandDefinition(command));
    },
  };
  const common = { patient, clock, emit, egress, secrets, debugProtocol, envPassthrough, userTokens };
  return mcpSource(settings, { ...common, ...guarded });
}

function settingsProblem(written: WrittenMcpServer): SettingProblem | undefined {
  const read = readServer(written);
  return "message" in read ? read : undefined;
}

export function reach(written: WrittenMcpServer): Reach {
  const read = readServer(written);
  if ("message" in read) return {};
  const { transport } = read;
  if (transport.kind === "stdio") return { commands: [[transport.command, ...(transport.args ?? [])].join(" ")] };
  const { issuer, tokenFile, identity } = (transport.kind !== "websocket" && transport.oauth) || {};
  return {
    addresses: [transport.url, issuer, identity?.issuer, identity?.tokenUrl].filter((address) => address !== undefined),
    writes: tokenFile === undefined ? [] : [tokenFile],
    secrets: hasReference(transport),
  };
}

/** The upstream retries a slow or unavailable server. */
export const patient = true;

export { settingsProblem as problem };
export { importServers as import } from "./import-servers.ts";
export { config } from "./settings.ts";

function addMessage(log: ServerLog, { params = {} }: RpcNotification): void {
  const { level, logger, data } = params;
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  const from = typeof logger === "string" && logger !== "" ? `${logger}: ` : "";
  log.add("mcp", from + text, typeof level === "string" ? level.slice(0, 20) : undefined);
}

/** The most characters of a message that an event has. Longer text is redacted before it is cut, so no secret is cut in two. */
const MAX_SHOWN = 8_192;
const MAX_REDACTED = 8 * MAX_SHOWN;

/** Emits messages as events. Redacts known secrets and text that looks like a credential. */
function toMessageEvents(server: string, emit: Emit, redactor: Pick<Redactor, "text"> = createRedactor()): OnMessage {
  return (direction, given) => {
    const text = redactor.text(JSON.stringify(given).slice(0, MAX_REDACTED));
    const message = text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN - 1)}…`;
    emit("mcp-message", { server, direction, message });
  };
}
