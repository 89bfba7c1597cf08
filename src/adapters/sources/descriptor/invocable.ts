import type { Handler, HandlerContext } from "../../../tool/handler.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import type { Tool } from "../../../tool/tool.ts";

/** Runs a tool of an ensemble. Returns the result, or throws. */
export type Invocable<Arguments = Readonly<Record<string, unknown>>> = (
  context: InvocableContext,
  arguments_: Arguments,
) => unknown;

/** The first argument of an invocable. */
export interface InvocableContext extends HandlerContext {
  /** The tool being run. */
  readonly invoker: DescribedInvoker;
  /** State shared by all calls to tools of the ensemble. The same map as `state`. */
  readonly namespace: Map<string, unknown>;
}

/** A tool of an ensemble, as its invocable receives it. */
export interface DescribedInvoker {
  /** The name within the ensemble. */
  readonly name: string;
  readonly tool: Tool;
  readonly argumentsSchema: JsonSchema;
}

/** Invocables by name, for descriptors that name an invocable instead of a module. */
export type Invocables = Readonly<Record<string, Invocable>>;

export type InvokerOf = (name: string) => DescribedInvoker | undefined;

/** Converts an invocable to the handler of the tool `name` of its ensemble. */
export function toHandler(name: string, invocable: Invocable, invokerOf?: InvokerOf): Handler {
  return (args, context) => {
    const { tool, state: namespace } = context;
    const invoker = invokerOf?.(name) ?? { name, tool, argumentsSchema: tool.parameters };
    return invocable({ ...context, invoker, namespace }, args);
  };
}
