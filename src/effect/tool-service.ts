import { Context, type Effect, type Schema, type Scope } from "effect";
import type { DialectName, DialectTools } from "../adapters/dialects/built-in.ts";
import type { RetrieveToolsOptions } from "../facade/options.ts";
import type { ToolQuery } from "../retrieve/query.ts";
import type { RetrievalResult } from "../retrieve/result.ts";
import type { HandlerContext } from "../tool/handler.ts";
import type {
  MCPConnectionError,
  ToolAuthorizationError,
  ToolExecutionError,
  ToolNotFoundError,
  ToolServiceError,
  ToolTimeoutError,
  ToolValidationError,
} from "./errors.ts";
import type {
  FunctionCallingTool,
  MCPServer,
  MCPServerConfig,
  ToolDefinition,
  ToolInput,
  ToolOutput,
  ToolParameter,
} from "./schemas.ts";

/** The parameters of a tool: a list, or an Effect Schema that also checks and decodes the arguments. */
export type ToolParameters = readonly ToolParameter[] | Schema.ConstraintDecoder<unknown>;

/** A definition whose parameters may be a Schema. */
export type RegisteredDefinition<Parameters extends ToolParameters = ToolParameters> = Omit<
  ToolDefinition,
  "parameters"
> & { readonly parameters: Parameters };

/** The arguments of a handler: the decoded type for a Schema, and unknown values by name for a list. */
export type ToolArguments<Parameters extends ToolParameters> =
  Parameters extends Schema.ConstraintDecoder<unknown> ? Parameters["Type"] : Record<string, unknown>;

/** Runs a tool. It is interrupted when the call is cancelled or times out. */
export type EffectHandler<E = never, R = never, Arguments = Record<string, unknown>> = (
  args: Arguments,
  context: HandlerContext,
) => Effect.Effect<unknown, E, R>;

/** The caller for whom tools are listed. Defaults to the local operator and the whole catalog. */
export interface SeenBy {
  readonly agentId?: string;
  readonly toolset?: string;
}

/** Selects the listed tools. */
export interface ToolListFilter extends SeenBy {
  readonly category?: string;
  readonly source?: string;
  readonly riskLevel?: string;
}

/** The arsenal as an Effect service. */
export class ToolService extends Context.Service<
  ToolService,
  {
    /** Runs a tool under policy. Interrupting the fiber cancels the call, also at an MCP server. */
    readonly execute: (
      input: ToolInput,
    ) => Effect.Effect<
      ToolOutput,
      ToolNotFoundError | ToolExecutionError | ToolTimeoutError | ToolValidationError | ToolAuthorizationError
    >;
    /**
     * Registers a tool, which can be called until the layer closes. The handler gets the services of the fiber that registers it. If the parameters
     * are a Schema, the handler gets arguments of the Schema's type. Dies if the definition is invalid.
     */
    readonly register: <E = never, R = never, Parameters extends ToolParameters = readonly ToolParameter[]>(
      definition: RegisteredDefinition<Parameters>,
      handler: EffectHandler<E, R, ToolArguments<Parameters>>,
    ) => Effect.Effect<void, never, R>;
    /** Connects an MCP server and registers its tools, until `disconnectMCPServer` or until the layer closes. */
    readonly connectMCPServer: (config: MCPServerConfig) => Effect.Effect<MCPServer, MCPConnectionError>;
    /** Connects an MCP server like `connectMCPServer`, until the scope closes. */
    readonly connectMCPServerScoped: (
      config: MCPServerConfig,
    ) => Effect.Effect<MCPServer, MCPConnectionError, Scope.Scope>;
    /** Disconnects an MCP server and removes its tools. */
    readonly disconnectMCPServer: (serverName: string) => Effect.Effect<void, MCPConnectionError>;
    /** Lists connected MCP servers, and servers that `disconnectMCPServer` disconnected. */
    readonly listMCPServers: () => Effect.Effect<readonly MCPServer[]>;
    readonly listTools: (filter?: ToolListFilter) => Effect.Effect<readonly ToolDefinition[]>;
    /** Accepts the same names as `execute`. */
    readonly getTool: (name: string, by?: SeenBy) => Effect.Effect<ToolDefinition, ToolNotFoundError>;
    /** Returns every tool in the format of the Anthropic API. With many tools, send only the results of `retrieveTools` instead. */
    readonly toFunctionCallingFormat: (by?: SeenBy) => Effect.Effect<readonly FunctionCallingTool[]>;
    /** Finds the tools that fit a request, best first. */
    readonly retrieve: (query: ToolQuery) => Effect.Effect<RetrievalResult, ToolServiceError>;
    /** Finds the tools that fit a request and returns them in the format of a model's API. The dialect defaults to `openai`. */
    readonly retrieveTools: <Name extends DialectName = "openai">(
      query: string,
      options?: RetrieveToolsOptions<Name>,
    ) => Effect.Effect<readonly DialectTools[Name][], ToolServiceError>;
  }
>()("toolarsenal/effect/ToolService") {}
