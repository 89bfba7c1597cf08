import { ServerCallContext } from "@a2a-js/sdk/server";
import { Extensions, type Message } from "@a2a-js/sdk";
import type { Principal } from "../../guard/principal.ts";
import type { TraceContext } from "../../observe/trace-context.ts";
import type { Share } from "../../base/shares.ts";
import type { HttpExchange, OnRevoked } from "../surface.ts";

export type A2aVersion = "1.0" | "0.3";

/** The caller of a request, for code that gets only the SDK's context. */
export interface Caller {
  readonly principal: Principal;
  readonly trace: TraceContext | undefined;
}

/** The gateway's additions to the SDK's context of a request. */
interface CallState {
  /** Undefined for background work. */
  readonly caller?: Caller;
  /** The base URL that the caller used. The host has checked the name in it. */
  readonly base?: string;
  /** Fires when the client has disconnected or has received the whole answer. */
  readonly gone?: AbortSignal | undefined;
  /** Watches the caller's credentials. Undefined if they cannot be revoked. */
  readonly onRevoked?: OnRevoked | undefined;
  /** The caller's share of the running tasks. The run releases it. */
  run?: Share | undefined;
  /** The whole message, if only a part of it is stored. */
  message?: Message | undefined;
  /** Fires when the gateway shuts down and the time for running work has passed. */
  signal?: AbortSignal;
}

const STATE = "toolarsenal";

/** Creates the SDK's context of one request. Its user owns the tasks: the principal, by tenant and id. */
export function toCallContext(exchange: HttpExchange, version: A2aVersion): ServerCallContext {
  const { principal, trace, request, response, onRevoked } = exchange;
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const extensions = request.headers["a2a-extensions"] ?? request.headers["x-a2a-extensions"];
  return new ServerCallContext({
    user: { isAuthenticated: true, userName: ownerOf(principal) },
    requestedVersion: version,
    requestedExtensions: Extensions.parseServiceParameter(typeof extensions === "string" ? extensions : undefined),
    state: new Map([[STATE, { caller: { principal, trace }, base: baseOf(request), gone: gone.signal, onRevoked }]]),
  });
}

/** Creates a context for background work on behalf of an owner. */
export function ownerContext(owner: string, gone?: AbortSignal): ServerCallContext {
  return new ServerCallContext({
    user: { isAuthenticated: true, userName: owner },
    requestedVersion: "1.0",
    state: new Map([[STATE, { gone }]]),
  });
}

/** Returns the gateway's state of the request that a context belongs to. */
export function stateOf(context: ServerCallContext): CallState {
  return (context.state.get(STATE) as CallState | undefined) ?? {};
}

/** Returns the caller. Throws for a context without a request. */
export function callerOf(context: ServerCallContext): Caller {
  const { caller } = stateOf(context);
  if (caller === undefined) throw new Error("This context has no caller.");
  return caller;
}

/** Returns the base URL of a request as the caller sees it. */
export function baseOf({ headers, socket }: HttpExchange["request"]): string {
  return `${"encrypted" in socket ? "https" : "http"}://${headers.host ?? ""}`;
}

/** Returns the owner of a task as JSON, so that an id cannot be confused with a tenant and an id. */
export function ownerOf({ id, tenant }: Pick<Principal, "id" | "tenant">): string {
  return JSON.stringify(tenant === undefined ? [id] : [tenant, id]);
}

/** Returns the owner of the tasks that a request may access. */
export function ownerIn({ user }: ServerCallContext): string {
  return user?.userName ?? "";
}

/** Returns a key for a task in this process. It includes the owner, because two owners may have chosen the same id. */
export function taskKey(taskId: string, context: ServerCallContext): string {
  return JSON.stringify([ownerIn(context), taskId]);
}
