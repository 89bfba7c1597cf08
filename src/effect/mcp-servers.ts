import { internalsOf } from "../arsenal.ts";
import { Effect, Exit, type Scope } from "effect";
import type { McpServerSettings } from "../adapters/sources/mcp/settings.ts";
import type { McpUpstream } from "../adapters/sources/mcp/upstream/upstream.ts";
import type { ToolArsenal } from "../arsenal.ts";
import { isArsenalError } from "../errors/arsenal-error.ts";
import { messageOf } from "../errors/show-value.ts";
import type { JsonObject } from "../mcp/protocol.ts";
import { MCPConnectionError } from "./errors.ts";
import type { EventBus } from "./event-bus.ts";
import type { MCPServer, MCPServerConfig } from "./schemas.ts";
import type { ToolService } from "./tool-service.ts";

type McpMethods = Pick<
  ToolService["Service"],
  "connectMCPServer" | "connectMCPServerScoped" | "disconnectMCPServer" | "listMCPServers"
>;

/**
 * Manages the MCP servers of a service. Servers that the service connected are disconnected when the scope closes, or together with the arsenal if
 * the service owns it.
 */
export function makeMcpServers({
  arsenal,
  events,
  owned,
}: {
  readonly arsenal: ToolArsenal;
  readonly events: EventBus["Service"];
  readonly owned: boolean;
}): Effect.Effect<McpMethods, never, Scope.Scope> {
  return Effect.gen(function* () {
    /** Servers without a scope: they stay connected until they are disconnected. */
    const connected = new Set<McpUpstream>();
    const disconnected = new Map<string, MCPServer>();

    /** An unreachable server is listed without its tools. */
    const describe = (upstream: McpUpstream): Effect.Effect<MCPServer> =>
      Effect.tryPromise(() => upstream.list("tools")).pipe(
        Effect.orElseSucceed(() => []),
        Effect.map((tools) => toServer(upstream, tools)),
      );

    const find = (name: string): McpUpstream | undefined =>
      internalsOf(arsenal).upstreams.find((each) => each.name === name);

    /** Connects, and lets `keep` register the disconnection. Both happen without interruption in between. */
    const connect = <R>(
      config: MCPServerConfig,
      keep: (upstream: McpUpstream) => Effect.Effect<unknown, never, R>,
    ): Effect.Effect<MCPServer, MCPConnectionError, R> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const settings = yield* toSettings(config);
          yield* addServer(arsenal, settings, restore).pipe(Effect.mapError((cause) => failure(config, cause)));
          const upstream = find(config.name);
          if (upstream === undefined) return yield* failure(config, new Error("It was disconnected meanwhile."));
          yield* keep(upstream);
          disconnected.delete(config.name);
          const server = yield* describe(upstream);
          const payload = { serverName: server.name, tools: server.tools };
          yield* events.publish({ type: "tools.mcp-connected", payload });
          return server;
        }),
      );

    /** Does nothing if the server was already disconnected, even if another server has its name now. */
    const disconnect = (upstream: McpUpstream): Effect.Effect<void, unknown> =>
      Effect.gen(function* () {
        const { name } = upstream;
        connected.delete(upstream);
        if (find(name) !== upstream) return;
        yield* Effect.tryPromise({ try: () => arsenal.remove(name), catch: (error) => error });
        yield* publishDisconnected(upstream);
      });

    const publishDisconnected = ({ name }: McpUpstream): Effect.Effect<void> =>
      events.publish({ type: "tools.mcp-disconnected", payload: { serverName: name } });

    // A closed arsenal disconnects its servers and leaves their tools in a stored catalog for the next start.
    const endWithLayer = owned ? publishDisconnected : (upstream: McpUpstream) => Effect.ignore(disconnect(upstream));
    yield* Effect.addFinalizer(() => Effect.forEach([...connected], endWithLayer, { discard: true }));

    return {
      connectMCPServer: (config) => connect(config, (upstream) => Effect.sync(() => connected.add(upstream))),
      connectMCPServerScoped: (config) =>
        connect(config, (upstream) => Effect.addFinalizer(() => Effect.ignore(disconnect(upstream)))),
      disconnectMCPServer: (name) =>
        Effect.gen(function* () {
          const upstream = find(name);
          if (upstream === undefined)
            return yield* new MCPConnectionError({
              message: `MCP server "${name}" is not connected. Connect it first, or check the name.`,
              serverName: name,
              transport: disconnected.get(name)?.transport ?? "unknown",
            });
          const server = yield* describe(upstream);
          yield* disconnect(upstream).pipe(Effect.mapError((cause) => failure(server, cause, "disconnect")));
          disconnected.set(name, { ...server, status: "disconnected" });
        }),
      listMCPServers: () =>
        Effect.map(Effect.forEach(internalsOf(arsenal).upstreams, describe), (servers) => {
          const names = new Set(servers.map(({ name }) => name));
          return [...servers, ...[...disconnected.values()].filter(({ name }) => !names.has(name))];
        }),
    };
  });
}

/** Adds the server. Interruption cancels the attempt and waits until the server's process has exited. */
function addServer(
  arsenal: ToolArsenal,
  settings: McpServerSettings,
  restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>,
): Effect.Effect<number, unknown> {
  return Effect.suspend(() => {
    const controller = new AbortController();
    const adding = arsenal.addMcpServer(settings, { signal: controller.signal });
    const ended = Effect.tryPromise({ try: () => adding, catch: (error) => error });
    const giveUp = Effect.gen(function* () {
      controller.abort();
      // The server may have connected just as the attempt was cancelled.
      if (Exit.isSuccess(yield* Effect.exit(ended))) yield* Effect.promise(() => arsenal.remove(settings.name));
    });
    return Effect.onInterrupt(restore(ended), () => giveUp);
  });
}

function toSettings(config: MCPServerConfig): Effect.Effect<McpServerSettings, MCPConnectionError> {
  const { name, transport: kind, endpoint, command, args, env, headers, connectTimeoutMs = 10_000 } = config;
  const missing = kind === "stdio" ? command === undefined && "command" : endpoint === undefined && "endpoint";
  if (missing !== false)
    return Effect.fail(failure(config, new Error(`${missing} is missing. Give the ${missing} for ${kind}.`)));
  const transport: McpServerSettings["transport"] =
    kind === "stdio"
      ? { kind, command: command ?? "", ...(args && { args }), ...(env && { env }) }
      : { kind, url: endpoint ?? "", ...(headers && { headers }) };
  return Effect.succeed({ name, transport, connectTimeoutMs });
}

function toServer({ name, settings, state }: McpUpstream, tools: readonly JsonObject[]): MCPServer {
  return {
    name,
    version: state.kind === "connected" ? String(state.server.info["version"] ?? "unknown") : "unknown",
    ...toConfig(settings),
    tools: tools.map((tool) => String(tool["name"])),
    status: state.kind === "connected" ? "connected" : state.kind === "failed" ? "error" : "disconnected",
  };
}

function toConfig({ transport }: McpServerSettings): Pick<MCPServer, "transport" | "endpoint" | "command" | "args"> {
  if (transport.kind !== "stdio") return { transport: transport.kind, endpoint: transport.url };
  const { kind, command, args } = transport;
  return { transport: kind, command, ...(args && { args }) };
}

function failure(
  { name, transport }: Pick<MCPServer, "name" | "transport">,
  cause: unknown,
  doing = "connect to",
): MCPConnectionError {
  return new MCPConnectionError({
    message: `Cannot ${doing} MCP server "${name}": ${messageOf(cause)}`,
    serverName: name,
    transport,
    ...(isArsenalError(cause) && { code: cause.code }),
    cause,
  });
}
