/** The Effect service's types: this file is right where it compiles. Each `@ts-expect-error` is a control. */
import { Context, Effect, type Layer, Schema, type Scope } from "effect";
import {
  type EventBus,
  type IdentityService,
  type MCPConnectionError,
  type MCPServer,
  type ToolAuthorizationError,
  type ToolDefinition,
  type ToolExecutionError,
  type ToolNotFoundError,
  type ToolOutput,
  ToolService,
  type ToolServiceError,
  type ToolServiceLive,
  type ToolTimeoutError,
  type ToolValidationError,
  toolServiceFromConfig,
} from "../../../src/effect/index.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function assertType<Claim extends true>(): Claim;

type Service = ToolService["Service"];
type Returned<Name extends keyof Service> = ReturnType<Service[Name]>;
type CallError =
  | ToolNotFoundError
  | ToolExecutionError
  | ToolTimeoutError
  | ToolValidationError
  | ToolAuthorizationError;

class Database extends Context.Service<Database, { readonly rows: number }>()("consumer/Database") {}

declare const definition: ToolDefinition;

/** Never run. */
export const claims = Effect.gen(function* () {
  assertType<Equal<Returned<"execute">, Effect.Effect<ToolOutput, CallError>>>();
  assertType<Equal<Returned<"connectMCPServer">, Effect.Effect<MCPServer, MCPConnectionError>>>();
  assertType<Equal<Returned<"connectMCPServerScoped">, Effect.Effect<MCPServer, MCPConnectionError, Scope.Scope>>>();
  assertType<Equal<Returned<"disconnectMCPServer">, Effect.Effect<void, MCPConnectionError>>>();
  assertType<Equal<Returned<"listTools">, Effect.Effect<readonly ToolDefinition[]>>>();
  assertType<Equal<Returned<"getTool">, Effect.Effect<ToolDefinition, ToolNotFoundError>>>();
  assertType<Equal<Returned<"listMCPServers">, Effect.Effect<readonly MCPServer[]>>>();
  assertType<Equal<typeof ToolServiceLive, Layer.Layer<ToolService, never, EventBus | IdentityService>>>();
  const fromConfig = toolServiceFromConfig("arsenal.yaml");
  assertType<Equal<typeof fromConfig, Layer.Layer<ToolService, ToolServiceError, EventBus | IdentityService>>>();
  // @ts-expect-error execute can fail
  assertType<Equal<Returned<"execute">, Effect.Effect<ToolOutput>>>();

  const tools = yield* ToolService;
  const plain = tools.register(definition, (args) => Effect.succeed(args["x"]));
  assertType<Equal<typeof plain, Effect.Effect<void>>>();
  const needing = tools.register(definition, () => Effect.map(Database, ({ rows }) => rows));
  assertType<Equal<typeof needing, Effect.Effect<void, never, Database>>>();

  const typed = tools.register(
    { ...definition, parameters: Schema.Struct({ city: Schema.String, days: Schema.optional(Schema.Number) }) },
    (args) => {
      assertType<Equal<typeof args, { readonly city: string; readonly days?: number | undefined }>>();
      // @ts-expect-error the Schema has no such parameter
      return Effect.map(Database, ({ rows }) => [args.city.length + (args.days ?? rows), args.country]);
    },
  );
  assertType<Equal<typeof typed, Effect.Effect<void, never, Database>>>();

  const execute = tools.execute({ toolName: "x", arguments: {}, agentId: "a", sessionId: "s" });
  const recovered = execute.pipe(
    Effect.catchTags({
      ToolNotFoundError: ({ availableTools }) => Effect.succeed(availableTools),
      ToolValidationError: ({ parameter }) => Effect.succeed(parameter),
      ToolTimeoutError: ({ timeoutMs }) => Effect.succeed(timeoutMs),
      ToolAuthorizationError: ({ confirmationId }) => Effect.succeed(confirmationId),
    }),
  );
  assertType<Equal<Effect.Error<typeof recovered>, ToolExecutionError>>();

  const [definitions] = [yield* tools.retrieveTools("search", { dialect: "anthropic" })];
  return definitions.map(({ name }) => name satisfies string);
});
