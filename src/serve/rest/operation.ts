import type { ArsenalError } from "../../errors/arsenal-error.ts";
import type { ErrorCode } from "../../errors/codes.ts";
import type { Principal } from "../../guard/principal.ts";
import type { TraceContext } from "../../observe/trace-context.ts";
import type { JsonSchema } from "../../tool/json-schema.ts";
import { entry, type InputOf, type Shape, type Shapes } from "../../tool/shape/shape.ts";
import type { SurfaceContext } from "../surface.ts";
import type { Access } from "./access.ts";

/** One operation of the REST API, as data: requests are checked against its schemas, and the OpenAPI document is written from them. */
export interface Operation<
  Params extends Shape = Shape,
  Query extends Shape = Shape,
  Body extends Shape = Shape,
> extends Access {
  /** `listTools`. Clients generated from the document use it as the name of the method. */
  readonly id: string;
  readonly method: "get" | "post" | "put" | "delete";
  /** Below `/api/v1`, as OpenAPI writes it: `/tools/{id}`. */
  readonly path: `/${string}`;
  readonly tag: string;
  /** The feature that it belongs to, if that can be switched off. Callers cannot use operations of a disabled feature. */
  readonly feature?: "teams";
  /** One sentence without a full stop. */
  readonly summary: string;
  readonly description?: string;
  /** The path's `{names}`; each is a string. */
  readonly params?: Params;
  /** Parameters after `?`. Numbers, booleans and comma-separated lists are parsed by their schema. */
  readonly query?: Query;
  readonly body?: Body;
  /** Examples of the body by name; the first is the one that the page at /docs fills in. */
  readonly examples?: Readonly<Record<string, unknown>>;
  /** Bytes of the body. Default 1 MiB. */
  readonly maxBytes?: number;
  /** Headers that it reads, each with a description. */
  readonly headers?: Readonly<Record<string, string>>;
  /** True if it needs the tools of servers that may still be connecting. It then waits for them for a limited time. */
  readonly needsTools?: boolean;
  /** True for an endless stream. It does not delay shutting down: its signal fires as soon as that begins. */
  readonly endless?: boolean;
  /** The formats of successful answers, by status. */
  readonly answers: Readonly<Record<number, AnswerShape>>;
  /** The operation's own error codes, besides those that every operation has. */
  readonly problems?: readonly ErrorCode[];
  /** Statuses for codes with another meaning here: if a server that a caller names cannot be reached, that is the caller's problem. */
  readonly statusOf?: Readonly<Partial<Record<ErrorCode, number>>>;
  /** Statuses of its problems that differ from those of their codes. */
  readonly statuses?: readonly number[];
  /**
   * The ids or names that an operation of operators changes, for the audit log. `body` is that of a successful answer; undefined if the operation
   * failed.
   */
  targets?(asked: Pick<RestRequest<Params, Query, Body>, "params" | "body">, body: unknown): readonly string[];
  run(asked: RestRequest<Params, Query, Body>, context: RestContext): Promise<RestResponse>;
}

/** A successful answer, as the document describes it. */
export interface AnswerShape {
  readonly description: string;
  /** Omitted: the answer has no body. */
  readonly schema?: JsonSchema;
  /** The type of an answer that is text and not JSON: `text/csv`. */
  readonly text?: string;
  /** Schema of the data of each event, by the event's name, if the caller may request `text/event-stream`. */
  readonly events?: Readonly<Record<string, JsonSchema>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A successful answer whose body is an object with these members. */
export function answer<const Of extends Shapes>(
  description: string,
  properties: Of,
  required: readonly (keyof Of & string)[],
): AnswerShape {
  return { description, schema: entry("", properties, required) };
}

/** A request that was authenticated and checked against its operation. */
export interface RestRequest<Params extends Shape, Query extends Shape, Body extends Shape> {
  readonly params: InputOf<Params>;
  readonly query: InputOf<Query>;
  readonly body: InputOf<Body>;
  readonly principal: Principal;
  /** The headers that the operation may read, by their name in lower case. */
  header(name: string): string | undefined;
  /** True if the caller accepts `text/event-stream`. */
  readonly wantsEvents: boolean;
  /** The trace that the caller began; undefined if there is none. */
  readonly trace: TraceContext | undefined;
  /** Fires when the caller hangs up, or the gateway shuts down and the time for running work is over. */
  readonly signal: AbortSignal;
}

/** The response of an operation. Refuse by throwing an `ArsenalError`: the surface writes it as `application/problem+json`. */
export type RestResponse =
  | {
      readonly status?: number;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Text of another type than JSON, as the answer declares it. */
  | { readonly text: string; readonly type: string; readonly headers?: Readonly<Record<string, string>> }
  /** A refusal with a status other than that of the error's code, or with the result of a call that did not run. */
  | { readonly refused: ArsenalError; readonly status?: number; readonly result?: unknown }
  | { readonly events: AsyncIterable<ServerSentEvent> };

/** One event of a stream, or several in the stream's format, written once for all readers and without secrets. */
export type ServerSentEvent =
  | {
      readonly event: string;
      /** The position at which a client that lost the stream resumes. */
      readonly id?: string;
      readonly data: unknown;
    }
  | { readonly written: string };

/** The dependencies of operations. */
export type RestContext = SurfaceContext;

/** True if the gateway has the operation. A gateway that serves a single toolset has none of the operations for operators. */
export function isOffered({ role }: Operation, { toolset }: Pick<RestContext, "toolset">): boolean {
  return toolset === undefined || role !== "operator";
}

/** Declares operations of one tag, for the same callers unless an operation names its own. Each `run` gets the types that its schemas describe. */
export function operationsOf(common: Pick<Operation, "tag" | "feature" | keyof Access>) {
  return <const Params extends Shape = Shape, const Query extends Shape = Shape, const Body extends Shape = Shape>(
    id: string,
    route: `${Uppercase<Operation["method"]>} /${string}`,
    declared: Omit<Operation<Params, Query, Body>, "id" | "method" | "path" | "tag">,
  ): Operation => {
    const [method, path] = route.split(" ") as [string, Operation["path"]];
    return { id, method: method.toLowerCase(), path, ...common, ...declared } as unknown as Operation;
  };
}
