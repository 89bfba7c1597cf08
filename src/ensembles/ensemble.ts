import type { DescribedInvoker } from "../adapters/sources/descriptor/invocable.ts";
import { internalsOf, type ToolArsenal } from "../arsenal.ts";
import { type ArsenalError, fixable, isArsenalError } from "../errors/arsenal-error.ts";
import { nearest, showValue } from "../errors/show-value.ts";
import type { ToolCall } from "../execute/call.ts";
import type { ToolResult } from "../execute/result.ts";
import { remember } from "../base/remember.ts";
import { createTurns } from "../base/turns/in-order.ts";
import type { Tool } from "../tool/tool.ts";
import type { SharedArsenal } from "./shared-arsenal.ts";

/** Tools that share one lifecycle and its defaults: the invokers of a descriptor, or the tools of one MCP server. */
export interface Ensemble {
  readonly name: string;
  /** Keyed by the name in the descriptor or from the server. Follows changes while connected; empty before `connect`. */
  readonly invokers: ReadonlyMap<string, Invoker>;
  /** The ensemble's defaults and settings, as the user wrote them. */
  readonly configuration: EnsembleConfiguration;
  readonly isConnected: boolean;
  /** The ensemble's connection, such as an `McpUpstream`; undefined if it needs none or is not connected. */
  readonly connection: unknown;
  /** The arsenal that its tools are registered in and run through. */
  readonly arsenal: ToolArsenal;
  /** Registers its tools, and opens their connections. If it fails, everything is undone. Does nothing if the ensemble is already connected. */
  connect(options?: ConnectOptions): Promise<void>;
  /** Removes its tools and releases all resources. Can be called twice. `connect` connects the ensemble again. */
  disconnect(): Promise<void>;
  /** Throws TOOL_NOT_FOUND, with the nearest name, if no invoker has that name. */
  accessInvoker(name: string): Invoker;
}

/** Options to connect an ensemble. */
export interface ConnectOptions {
  /** Stops connecting. */
  readonly signal?: AbortSignal | undefined;
}

/** Defaults that the tools of an ensemble inherit, and settings for its invocables. */
export interface EnsembleConfiguration {
  /** Timeout of one run in seconds, unless the tool sets its own. */
  readonly timeout?: number;
  /** Maximum number of attempts of a call that is safe to repeat; 0 and 1 mean no retry. */
  readonly maxRetries?: number;
  /** Maximum number of concurrent calls of the ensemble's tools. */
  readonly maxConcurrent?: number;
  readonly [key: string]: unknown;
}

/** One tool of an ensemble. */
export interface Invoker extends DescribedInvoker {
  readonly ensemble: Ensemble;
  /** Runs the tool through the arsenal, under its policy. A failed call is a result with a status, unless `execution.onFailure` is `throw`. */
  invoke(arguments_: Readonly<Record<string, unknown>>, options?: InvokeOptions): Promise<ToolResult>;
}

/** Options of one run: `auxdata` for the invocable, `signal`, `principal`, `timeoutMs` and all other options of a call. */
export type InvokeOptions = Omit<ToolCall, "toolName" | "arguments">;

export interface EnsembleKind {
  readonly name: string;
  configuration(): EnsembleConfiguration;
  /** Adds the ensemble to an arsenal. If it rejects, everything is undone. */
  add(arsenal: ToolArsenal, ensemble: Ensemble, options: ConnectOptions): Promise<unknown>;
  connection?(arsenal: ToolArsenal): unknown;
}

export function toEnsemble(kind: EnsembleKind, shared: SharedArsenal): Ensemble {
  const { name } = kind;
  let isConnected = false;
  /** Runs connecting and disconnecting one after another. */
  const turns = createTurns();

  const toInvoker = remember((tool: Tool): Invoker => ({
    name: tool.sourceName,
    tool,
    argumentsSchema: tool.parameters,
    ensemble,
    invoke: (args, options = {}) => ensemble.arsenal.execute({ ...options, toolName: tool.id, arguments: args }),
  }));

  const ensemble: Ensemble = {
    name,
    get invokers() {
      const tools = isConnected ? internalsOf(shared.current()).ensembleTools(name) : [];
      return new Map(tools.map((tool) => [tool.sourceName, toInvoker(tool)]));
    },
    get configuration() {
      return kind.configuration();
    },
    get isConnected() {
      return isConnected;
    },
    get connection() {
      return isConnected ? kind.connection?.(shared.current()) : undefined;
    },
    get arsenal() {
      return shared.current();
    },
    connect: (options = {}) =>
      turns.take(async () => {
        if (isConnected) return;
        const arsenal = shared.take();
        try {
          await kind.add(arsenal, ensemble, options);
          isConnected = true;
        } catch (error) {
          await shared.release();
          throw error;
        }
      }),
    disconnect: () =>
      turns.take(async () => {
        if (!isConnected) return;
        isConnected = false;
        try {
          await shared.current().remove(name);
        } catch (error) {
          // The closed arsenal has already disconnected it.
          if (!isArsenalError(error) || error.code !== "CLOSED") throw error;
        } finally {
          await shared.release();
        }
      }),
    accessInvoker(asked) {
      const { invokers } = ensemble;
      const invoker = invokers.get(asked);
      if (invoker !== undefined) return invoker;
      throw notFound(name, asked, [...invokers.keys()], isConnected);
    },
  };
  return ensemble;
}

function notFound(ensemble: string, asked: string, names: readonly string[], isConnected: boolean): ArsenalError {
  const near = nearest(asked, names);
  const known = names.length === 0 ? "It has none." : `Use one of ${names.slice(0, 20).join(", ")}.`;
  const fix = !isConnected ? "Connect it first." : near === undefined ? known : `Did you mean ${showValue(near)}?`;
  const problem = `The ensemble ${showValue(ensemble)} has no invoker named ${showValue(asked)}.`;
  return fixable("TOOL_NOT_FOUND", problem, fix, { field: "name", value: asked });
}
