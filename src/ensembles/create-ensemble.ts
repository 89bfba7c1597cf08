import { type Invocable, type InvocableContext, toHandler } from "../adapters/sources/descriptor/invocable.ts";
import type { ToolArsenal } from "../arsenal.ts";
import { fixable } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import { type FunctionDefinition, fromFunction } from "../register/from-function.ts";
import type { Registration } from "../register/registry.ts";
import type { OfferedTool, Source } from "../register/source.port.ts";
import type { ArgumentsOf, ParametersSchema } from "../tool/infer.ts";
import { LIMITS } from "../tool/limits.ts";
import { present } from "../base/present.ts";
import { type Ensemble, type EnsembleConfiguration, type Invoker, toEnsemble } from "./ensemble.ts";
import { shareArsenal, type SharedArsenal } from "./shared-arsenal.ts";

/** The context of an invocable. It is passed together with the arguments. */
export interface Context extends InvocableContext {
  readonly invoker: Invoker;
}

/** An invoker as you write it: a tool's definition and the function that runs it. */
export type InvokerDefinition<Schema extends ParametersSchema = ParametersSchema> = Omit<
  FunctionDefinition<Schema>,
  "name" | "parameters" | "ensemble" | "namespace"
> & {
  readonly name: string;
  readonly invocable: (context: Context, arguments_: ArgumentsOf<Schema>) => unknown;
  /** A JSON Schema or a Standard Schema (Zod, Valibot, ArkType). Defaults to an object without properties. */
  readonly argumentsSchema?: Schema;
};

/** An invoker for an ensemble. */
export interface CreatedInvoker {
  readonly name: string;
  readonly offer: (ensemble: Ensemble) => OfferedTool;
}

/**
 * Makes an invoker from a function `(context, arguments)` and the schema of its arguments. Throws TOOL_INVALID if the definition is wrong.
 *
 * @example
 * createInvoker({ name: "double", description: "Doubles a number.", argumentsSchema: schema, invocable: (context, { x }) => x * 2 });
 */
export function createInvoker<const Schema extends ParametersSchema = { readonly type: "object" }>(
  definition: InvokerDefinition<Schema>,
): CreatedInvoker {
  const { invocable, argumentsSchema: parameters, ...rest } = definition;
  const { name } = definition;
  const toRegistration = (ensemble?: Ensemble): Registration => {
    const handler = toHandler(name, invocable as unknown as Invocable, (own) => ensemble?.invokers.get(own));
    return fromFunction({ ...rest, parameters } as FunctionDefinition<{ readonly type: "object" }>, handler);
  };
  const { tool } = toRegistration();
  return {
    name,
    offer(ensemble) {
      const { handler } = toRegistration(ensemble);
      return { draft: { ...rest, parameters: tool.parameters }, handler: handler as OfferedTool["handler"] };
    },
  };
}

/** An ensemble as you write it. */
export interface EnsembleDefinition<Connection = unknown> {
  readonly name: string;
  /** A list, or a record by name. */
  readonly invokers: readonly CreatedInvoker[] | Readonly<Record<string, CreatedInvoker>>;
  readonly configuration?: EnsembleConfiguration;
  /** Opens the resources of the tools, such as a database. Its return value is the ensemble's `connection`. */
  connect?(options: { readonly signal: AbortSignal }): Promise<Connection>;
  /** Closes the connection. Not called unless `connect` succeeded. */
  disconnect?(connection: Connection): Promise<void>;
}

/** Options to create ensembles. */
export interface EnsembleOptions {
  /** Defaults to a shared arsenal with default settings, which is closed with the last ensemble. */
  readonly arsenal?: ToolArsenal;
}

/**
 * Makes an ensemble from invokers. It is connected by `connect`. Throws CONFIG_INVALID if two invokers have the same name, or a default is invalid.
 *
 * @example
 * const io = createEnsemble({ name: "io", invokers: [readFile, writeFile], configuration: { timeout: 30 } });
 * await io.connect();
 * const result = await io.accessInvoker("read_file").invoke({ path: "notes.txt" });
 */
export function createEnsemble<Connection>(
  definition: EnsembleDefinition<Connection>,
  options: EnsembleOptions = {},
): Ensemble {
  return ensembleIn(definition, shareArsenal(options.arsenal));
}

export function ensembleIn<Connection>(definition: EnsembleDefinition<Connection>, shared: SharedArsenal): Ensemble {
  const { name, configuration = {} } = definition;
  checkConfiguration(name, configuration);
  const invokers = invokersOf(definition);
  let connection: Connection | undefined;

  const toSource = (ensemble: Ensemble): Source => {
    let isOpen = false;
    return {
      name,
      kind: "function",
      trustsAnnotations: true,
      ...toSettings(configuration),
      async connect({ signal }) {
        signal.throwIfAborted();
        connection = await definition.connect?.({ signal });
        isOpen = true;
      },
      list: async () => invokers.map(({ offer }) => offer(ensemble)),
      async disconnect() {
        if (!isOpen) return;
        isOpen = false;
        const closing = connection as Connection;
        connection = undefined;
        await definition.disconnect?.(closing);
      },
    };
  };

  return toEnsemble(
    {
      name,
      configuration: () => configuration,
      add: (arsenal, ensemble, options) => arsenal.add(toSource(ensemble), options),
      connection: () => connection,
    },
    shared,
  );
}

function invokersOf({ name, invokers }: Pick<EnsembleDefinition, "name" | "invokers">): readonly CreatedInvoker[] {
  const list: readonly CreatedInvoker[] = Array.isArray(invokers) ? invokers : Object.values(invokers);
  const keys = Array.isArray(invokers) ? list.map((invoker) => invoker.name) : Object.keys(invokers);
  const refuse = (value: string, problem: string, fix: string): never => {
    throw fixable("CONFIG_INVALID", `The ensemble ${showValue(name)} ${problem}.`, fix, { field: "invokers", value });
  };
  for (const [index, key] of keys.entries()) {
    const own = list[index]?.name ?? key;
    if (own !== key)
      refuse(key, `has the invoker ${showValue(own)} under ${showValue(key)}`, "Use its name as the key.");
    if (keys.indexOf(key) < index) refuse(key, `has two invokers named ${showValue(key)}`, "Rename one of them.");
  }
  return list;
}

/** The valid range of each default, as in TOML descriptors. Other keys are the user's own. */
const DEFAULTS = [
  { key: "timeout", from: LIMITS.timeoutMinMs / 1000, to: LIMITS.timeoutMaxMs / 1000, what: "a number of seconds" },
  { key: "maxRetries", from: 0, to: 5, what: "a whole number" },
  { key: "maxConcurrent", from: 1, to: 100_000, what: "a whole number" },
] as const;

function checkConfiguration(name: string, configuration: EnsembleConfiguration): void {
  for (const { key, from, to, what } of DEFAULTS) {
    const value: unknown = configuration[key];
    const isNumber = typeof value === "number" && (key === "timeout" || Number.isInteger(value));
    if (value === undefined || (isNumber && value >= from && value <= to)) continue;
    const field = `configuration.${key}`;
    const problem = `${field} must be ${what} from ${from} to ${to}, not ${showValue(value)}.`;
    const message = `The ensemble ${showValue(name)}: ${problem}`;
    throw fixable("CONFIG_INVALID", message, `Change ${key}.`, { field, value });
  }
}

function toSettings({ timeout, maxRetries, maxConcurrent }: EnsembleConfiguration): Partial<Source> {
  return present({ timeoutMs: timeout && timeout * 1000, maxRetries, maxConcurrent });
}
