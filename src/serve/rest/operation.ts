import type { ArsenalError } from "../../errors/arsenal-error.ts";
import type { ErrorCode } from "../../errors/codes.ts";
import type { Principal } from "../../guard/principal.ts";
import type { TraceContext } from "../../observe/trace-context.ts";
import type { JsonSchema } from "../../tool/json-schema.ts";
import { entry, type InputOf, type Shape, type Shapes } from "../../tool/shape/shape.ts";
import type { SurfaceContext } from "../surface.ts";
import type { Access } from "./access.ts";

/** One operation of the REST API, as data. Requests are checked against its schemas, and the OpenAPI document is generated from them. */
export interface Operation<
  Params extends Shape = Shape,
  Query extends Shape = Shape,
  Body extends Shape = Shape,
> extends Access {
  /** A name such as `listTools`. Clients generated from the document use it as the name of the method. */
  readonly id: string;
  readonly method: "get" | "post" | "put" | "delete";
  /** Relative to `/api/v1`, in OpenAPI notation: `/tools/{id}`. */
  readonly path: `/${string}`;
  readonly tag: string;
  /** The optional feature that the operation belongs to. Callers cannot use operations of a disabled feature. */
  readonly feature?: "teams";
  /** One sentence without a full stop. */
  readonly summary: string;
  readonly description?: string;
  /** The path's `{names}`. Each is a string. */
  readonly params?: Params;
  /** Parameters after `?`. Numbers, booleans and comma-separated lists are parsed by their schema. */
  readonly query?: Query;
  readonly body?: Body;
  /** Examples of the body by name. The page at /docs fills in the first one. */
  readonly examples?: Readonly<Record<string, unknown>>;
  /** Maximum size of the body in bytes. Defaults to 1 MiB. */
  readonly maxBytes?: number;
  /** Headers that the operation reads, each with a description. */
  readonly headers?: Readonly<Record<string, string>>;
  /** True if the operation needs tools of servers that may still be connecting. It then waits for them for a limited time. */
  readonly needsTools?: boolean;
  /** True for an endless stream. It does not delay shutting down: its signal fires when shutting down begins. */
  readonly endless?: boolean;
  /** The formats of successful answers, by status. */
  readonly answers: Readonly<Record<number, AnswerShape>>;
  /** The operation's own error codes, in addition to those of every operation. */
  readonly problems?: readonly ErrorCode[];
  /** Statuses for codes with another meaning here. For example, if a caller names a server that cannot be reached, the error is the caller's. */
  readonly statusOf?: Readonly<Partial<Record<ErrorCode, number>>>;
  /** Statuses of errors that differ from the usual status of their code. */
  readonly statuses?: readonly number[];
  /**
   * Returns the ids or names that an operation of operators changes, for the audit log. `body` is the body of a successful answer; undefined if the
   * operation failed.
   */
  targets?(asked: Pick<RestRequest<Params, Query, Body>, "params" | "body">, body: unknown): readonly string[];
  run(asked: RestRequest<Params, Query, Body>, context: RestContext): Promise<RestResponse>;
}

/** A successful answer in the OpenAPI document. */
export interface AnswerShape {
  readonly description: string;
  /** Omitted if the answer has no body. */
  readonly schema?: JsonSchema;
  /** The content type of an answer that is text and not JSON: `text/csv`. */
  readonly text?: string;
  /** Schema of the data of each event, by event name, if the caller may request `text/event-stream`. */
  readonly events?: Readonly<Record<string, JsonSchema>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Describes a successful answer whose body is an object with these members. */
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
  /** Returns a header that the operation may read, by its name in lower case. */
  header(name: string): string | undefined;
  readonly wantsEvents: boolean;
  readonly trace: TraceContext | undefined;
  /** Fires when the caller disconnects, or when the gateway shuts down and the time for running work has passed. */
  readonly signal: AbortSignal;
}

/** The response of an operation. To refuse, throw an `ArsenalError`: the surface writes it as `application/problem+json`. */
export type RestResponse =
  | {
      readonly status?: number;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Text of a type other than JSON, as the answer declares it. */
  | { readonly text: string; readonly type: string; readonly headers?: Readonly<Record<string, string>> }
  /** A refusal with a status other than the usual one of the error's code, or with the result of a call that did not run. */
  | { readonly refused: ArsenalError; readonly status?: number; readonly result?: unknown }
  | { readonly events: AsyncIterable<ServerSentEvent> };

/** One event of a stream, or several events in the stream's format, serialized once for all readers and without secrets. */
export type ServerSentEvent =
  | {
      readonly event: string;
      /** The id after which a client that lost the stream can resume. */
      readonly id?: string;
      readonly data: unknown;
    }
  | { readonly written: string };

export type RestContext = SurfaceContext;

/** Returns true if the gateway offers the operation. A gateway that serves a single toolset offers no operator operations. */
export function isOffered({ role }: Operation, { toolset }: Pick<RestContext, "toolset">): boolean {
  return toolset === undefined || role !== "operator";
}

/** Declares operations of one tag. They have the same callers, unless an operation defines its own. Each `run` gets the types from its schemas. */
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
