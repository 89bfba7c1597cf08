import { present } from "../base/present.ts";
import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, Effect, Layer, type Scope } from "effect";
import { internalsOf, ToolArsenal } from "../arsenal.ts";
import { definitionWriter } from "../adapters/dialects/write-definitions.ts";
import type { AskedBy } from "../facade/options.ts";
import type { ToolArsenalParts } from "../wire/parts.ts";
import { isArsenalError } from "../errors/arsenal-error.ts";
import { messageOf } from "../errors/show-value.ts";
import { createPrincipal, type Principal } from "../guard/principal.ts";
import type { RiskLevel, Tool } from "../tool/tool.ts";
import type { Handler } from "../tool/handler.ts";
import { EVERY_TOOL } from "../tool/tool-filter.ts";
import { isParameterList, nameOf, toDefinition, toDraft, toFunctionDefinition } from "./definitions.ts";
import { ToolNotFoundError, ToolServiceError } from "./errors.ts";
import { EventBus } from "./event-bus.ts";
import { makeExecute } from "./execute.ts";
import { findTool } from "./find-tool.ts";
import { IdentityService } from "./identity-service.ts";
import { makeMcpServers } from "./mcp-servers.ts";
import { toHandler } from "./run-handler.ts";
import type { FunctionCallingTool } from "./schemas.ts";
import {
  type EffectHandler,
  type RegisteredDefinition,
  type SeenBy,
  type ToolArguments,
  type ToolParameters,
  ToolService,
} from "./tool-service.ts";

/** Maximum number of names in a `ToolNotFoundError`. */
const MOST_NAMES = 100;

/** A service with a new arsenal and default settings. The arsenal is closed with the layer. */
export const ToolServiceLive: Layer.Layer<ToolService, never, EventBus | IdentityService> = owning(
  Effect.sync(() => new ToolArsenal()),
);

/**
 * A service with the arsenal of a configuration file. The arsenal is closed with the layer. `parts.environment` fills `${NAME}` and defaults to the
 * process environment.
 */
export function toolServiceFromConfig(
  path: string,
  parts: ToolArsenalParts = {},
): Layer.Layer<ToolService, ToolServiceError, EventBus | IdentityService> {
  return owning(attempt(() => ToolArsenal.fromConfig(path, parts)));
}

/**
 * A service with your own arsenal, which stays open when the layer closes. MCP servers that the service connected are then disconnected. Tools that
 * the service registered stay, but calling them fails with CLOSED, because the services of their handlers are gone.
 */
export function toolServiceFrom(arsenal: ToolArsenal): Layer.Layer<ToolService, never, EventBus | IdentityService> {
  return Layer.effect(ToolService, makeToolService(arsenal, { owned: false }));
}

function owning<E>(opening: Effect.Effect<ToolArsenal, E>): Layer.Layer<ToolService, E, EventBus | IdentityService> {
  const arsenal = Effect.acquireRelease(opening, (opened) => Effect.promise(() => opened.close()));
  return Layer.effect(
    ToolService,
    Effect.flatMap(arsenal, (opened) => makeToolService(opened, { owned: true })),
  );
}

function makeToolService(
  arsenal: ToolArsenal,
  { owned }: { readonly owned: boolean },
): Effect.Effect<ToolService["Service"], never, EventBus | IdentityService | Scope.Scope> {
  return Effect.gen(function* () {
    const events = yield* EventBus;
    const identity = yield* IdentityService;
    const callers = new AsyncLocalStorage<Context.Context<never>>();
    let closed = false;
    yield* Effect.addFinalizer(() => Effect.sync(() => (closed = true)));

    const principalOf = (agentId: string): Effect.Effect<Principal, unknown> =>
      identity.principal?.(agentId) ?? Effect.succeed(createPrincipal({ id: agentId, roles: ["agent"] }));

    const askedBy = ({ agentId, toolset }: SeenBy): Effect.Effect<AskedBy> =>
      Effect.map(agentId === undefined ? Effect.undefined : Effect.orDie(principalOf(agentId)), (principal) =>
        present({ principal, toolset }),
      );

    const namesFor = (by: AskedBy): Effect.Effect<readonly string[]> =>
      Effect.promise(() => arsenal.listTools(by)).pipe(
        Effect.map((tools) => tools.slice(0, MOST_NAMES).map(nameOf)),
        Effect.catchDefect(() => Effect.succeed([])),
      );

    const timeoutOf = ({ timeoutMs, ensemble }: Tool): number =>
      timeoutMs ?? internalsOf(arsenal).upstreams.find(({ name }) => name === ensemble)?.settings.timeoutMs ?? 30_000;

    return ToolService.of({
      execute: makeExecute({ arsenal, events, identity, callers, principalOf, namesFor, timeoutOf }),
      register: <E, R, Parameters extends ToolParameters>(
        definition: RegisteredDefinition<Parameters>,
        handler: EffectHandler<E, R, ToolArguments<Parameters>>,
      ) =>
        Effect.contextWith((context: Context.Context<R>) => {
          // The parameters have already checked the arguments.
          const run = toHandler(handler as EffectHandler<E, R>, context, { callers, isClosed: () => closed });
          const { parameters, ...rest } = definition;
          if (isParameterList(parameters))
            return Effect.asVoid(Effect.promise(() => arsenal.addTool(toDraft({ ...rest, parameters }), run)));
          return Effect.sync(
            () => void arsenal.register(toFunctionDefinition({ ...rest, parameters }), run as Handler<unknown>),
          );
        }),
      ...(yield* makeMcpServers({ arsenal, events, owned })),
      listTools: ({ category, source, riskLevel, ...seenBy } = {}) =>
        Effect.gen(function* () {
          const by = yield* askedBy(seenBy);
          const filter = {
            all: [
              category === undefined ? EVERY_TOOL : { categories: [category] },
              riskLevel === undefined ? EVERY_TOOL : { risks: [riskLevel as RiskLevel] },
            ],
          };
          const tools = yield* Effect.promise(() => arsenal.listTools({ filter, ...by }));
          const definitions = tools.map((tool) => toDefinition(tool, timeoutOf(tool)));
          return definitions.filter((each) => source === undefined || each.source === source);
        }),
      getTool: (name, seenBy = {}) =>
        Effect.gen(function* () {
          const by = yield* askedBy(seenBy);
          const tool = yield* Effect.orDie(findTool(arsenal, name, by));
          if (tool !== undefined) return toDefinition(tool, timeoutOf(tool));
          return yield* new ToolNotFoundError({
            message: `Tool "${name}" not found. Use one of availableTools, or register it.`,
            toolName: name,
            code: "TOOL_NOT_FOUND",
            availableTools: yield* namesFor(by),
          });
        }),
      toFunctionCallingFormat: (seenBy = {}) =>
        Effect.gen(function* () {
          const by = yield* askedBy(seenBy);
          const tools = yield* Effect.promise(() => arsenal.listTools(by));
          const write = yield* Effect.promise(() => definitionWriter({ dialect: "anthropic" }));
          return write(tools) as FunctionCallingTool[];
        }),
      retrieve: (query) => attempt(() => arsenal.retrieve(query)),
      retrieveTools: (query, options) => attempt(() => arsenal.retrieveTools(query, options)),
    });
  });
}

/** Wraps a call that may reject with an `ArsenalError`. */
function attempt<A>(run: () => Promise<A>): Effect.Effect<A, ToolServiceError> {
  return Effect.tryPromise({
    try: run,
    catch: (cause) =>
      new ToolServiceError({
        message: messageOf(cause),
        ...(isArsenalError(cause) && { code: cause.code }),
        cause,
      }),
  });
}
