import type { IncomingMessage, ServerResponse } from "node:http";
import type { ArsenalError } from "../errors/arsenal-error.ts";
import type { Identity } from "../guard/identity.port.ts";
import type { Principal } from "../guard/principal.ts";
import type { Redactor } from "../guard/redaction/redactor.ts";
import type { Limits } from "../state/limits.port.ts";
import type { Emit } from "../observe/events.ts";
import type { TraceContext } from "../observe/trace-context.ts";
import type { A2aOutside, A2aSettings } from "./a2a/settings.ts";
import type { Administration } from "./administration.ts";
import type { CheckedJson, ReadLimits } from "./http/read-json.ts";
import type { Connections } from "./connections.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Replica } from "./replica.ts";
import type { McpRoom } from "./mcp/room.ts";
import type { TaskSettings } from "./mcp/tasks/with-tasks.ts";
import type { ServedMetrics } from "./metrics.ts";
import type { ServeMode } from "./meta-tools/definitions.ts";
import type { ServableArsenal } from "./served-arsenal.ts";
import type { Startup } from "./startup.ts";
import type { Work } from "./work.ts";

/**
 * Calls the listener once, with an UNAUTHENTICATED error, if the caller's credentials are revoked or expire. Returns a function that stops watching.
 */
export type OnRevoked = (listener: (reason: ArsenalError) => void) => () => void;

/** A request that passed the checks for all routes: Host, Origin, identity. */
export interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The address of the request, without the path of `address`. */
  readonly url: URL;
  /** The gateway's address as the caller sees it: `https://tools.example.com`, or `https://example.com/tools` below a path. */
  readonly address: string;
  readonly principal: Principal;
  /**
   * The request's trace context, from the header `traceparent` or a new trace. `parentSpanId` is the request's own span. Undefined on open routes.
   */
  readonly trace: TraceContext | undefined;
  /** Watches the caller's credentials, for calls that must not outlive them. Undefined if they cannot be revoked. */
  readonly onRevoked?: OnRevoked | undefined;
  /** Reads the body as JSON, by default up to 4 MiB within 15 s. Never rejects: a refusal is part of the result. */
  json(limits?: ReadLimits): Promise<CheckedJson>;
}

/** Answers the requests to one path, or to everything below the path if it ends in `/`. */
export interface Route {
  readonly path: string;
  /** True for a route that reveals nothing and needs no identity, such as /healthz and /readyz. */
  readonly open?: boolean;
  /** True if only exactly this path matches, even though it ends in `/`. */
  readonly exact?: boolean;
  /** True if the route itself counts its work and refuses new work during shutdown. For other routes, the host does so. */
  readonly drainsItself?: boolean;
  /** The format of the host's own refusals (401, 403, 503, 500) on this route. `error` is `{ "error": "…" }`. Defaults to JSON-RPC errors. */
  readonly refusals?: "json-rpc" | "problem+json" | "error";
  /**
   * Returns the template of a request's path for telemetry: `/api/v1/tools/{id}`. Must not return text that a caller can choose. Defaults to `path`.
   */
  template?(method: string, path: string): string;
  /** Handles a request. If it throws, the caller gets a 500 without details. */
  handle(exchange: HttpExchange): Promise<void> | void;
}

/** One kind of HTTP access. It declares routes. The host listens, checks Host and Origin, authenticates, and shuts down. */
export interface Surface {
  readonly name: string;
  readonly routes: readonly Route[];
  /** Its entries on the page at `/`: an address, and one sentence about it. `page` marks an address that a browser can show. */
  readonly addresses?: readonly (readonly [path: string, purpose: string, kind?: "page"])[];
  /** Returns the reason why the surface cannot answer now; `/readyz` then answers 503. Undefined if it can. */
  problem?(): string | undefined;
  /** Ends its open resources, such as sessions and streams. Called once, after running work has ended or was aborted. */
  close?(): Promise<void>;
}

export interface Serving {
  readonly arsenal: ServableArsenal;
  /** The tools that MCP clients see. */
  readonly mode: ServeMode;
  /** Tools that `hybrid` always shows, by id or pattern. Defaults to the most used tools. */
  readonly common?: readonly string[];
  /** Whether lists are adapted to the limits of known MCP clients. Defaults to true. */
  readonly clientQuirks?: boolean;
  /** The toolset that `arsenal` is limited to. Undefined if everything is served. */
  readonly toolset?: string;
  /** Tracks the servers that are still connecting. */
  readonly startup: Startup;
  /** Every call runs as this work, so that shutting down waits for calls and refuses new ones. */
  readonly work: Work;
  readonly emit?: Emit;
  /** Removes known secrets from everything that callers get. */
  readonly redactor: Redactor;
  /** This process among the processes that share its state. */
  readonly replica: Replica;
  /** Memory limits for the sessions and streams of MCP clients, shared by all addresses. */
  readonly room?: McpRoom;
  /** Determines when calls of MCP clients become tasks. Defaults to the built-in limits. */
  readonly tasks?: TaskSettings;
  /** The shared rate limits. Undefined in tests without limits. */
  readonly limits?: Pick<Limits, "admit">;
  /** The settings of the A2A agent. If omitted, defaults apply and there are no push notifications. */
  readonly a2a?: A2aSettings & A2aOutside;
  /** Added dialects, by name. */
  readonly dialects?: ReadonlyMap<string, unknown>;
  /** The actions of operators. Undefined if only one toolset is served. */
  readonly administration?: Administration;
  /** Signs callers in to servers. Undefined if only one toolset is served. */
  readonly connections?: Connections;
  readonly metrics?: ServedMetrics;
  /** The dependencies that `/readyz` checks in addition to servers and surfaces. */
  readonly dependencies?: Dependencies;
}

export interface SurfaceContext extends Serving {
  /** True if every caller is the local operator. Otherwise open routes are public and must not reveal names. */
  readonly isLocal: boolean;
  /** Authenticates callers. Undefined if every caller is the local operator. */
  readonly identity?: Identity;
  /** Returns the base URL that callers use: `https://tools.example.com`. Empty if the host has no known name. */
  address(): string;
  /** Returns the base URL as seen by a caller that sent this Host header, which the host has checked. */
  addressFor?(called: string | undefined): string;
  /** Returns all surfaces of the host, including this one. */
  surfaces(): readonly Surface[];
}

/** Creates a surface, without opening resources. */
export type CreateSurface = (context: SurfaceContext) => Surface;
