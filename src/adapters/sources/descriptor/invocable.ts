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
  /** State shared by all calls to the tools of the ensemble: the same map as `state`. */
  readonly namespace: Map<string, unknown>;
}

/** One tool of an ensemble, as its invocable gets it. */
export interface DescribedInvoker {
  /** The name within the ensemble. */
  readonly name: string;
  readonly tool: Tool;
  readonly argumentsSchema: JsonSchema;
}

/** Invocables by name, for descriptors that name one instead of a module. */
export type Invocables = Readonly<Record<string, Invocable>>;

/** Finds the invoker of an ensemble by its name. */
export type InvokerOf = (name: string) => DescribedInvoker | undefined;

/** Makes an invocable the handler of the tool that its ensemble calls `name`. */
export function toHandler(name: string, invocable: Invocable, invokerOf?: InvokerOf): Handler {
  return (args, context) => {
    const { tool, state: namespace } = context;
    const invoker = invokerOf?.(name) ?? { name, tool, argumentsSchema: tool.parameters };
    return invocable({ ...context, invoker, namespace }, args);
  };
}
