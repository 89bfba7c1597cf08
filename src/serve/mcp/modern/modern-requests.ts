import type { ArsenalError } from "../../../errors/arsenal-error.ts";
import {
  type JsonObject,
  META,
  MODERN_VERSIONS,
  RPC,
  RpcError,
  type RpcErrorBody,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from "../../../mcp/protocol.ts";
import type { Principal } from "../../../guard/principal.ts";
import type { TraceContext } from "../../../observe/trace-context.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { type Envelope, readEnvelope } from "../../../mcp/envelope.ts";
import { answer, failure } from "../../../mcp/message.ts";
import { errorBody, type Exchange, type Plane } from "../plane.ts";
import { createMcpRoom } from "../room.ts";
import { openSubscription } from "../subscription.ts";
import { createSuspendedCalls, type Leg, type ModernRequestsOptions } from "./suspended-calls.ts";

/** The origin of a modern request, and the receiver of notifications before its answer. */
export interface ModernContext {
  readonly principal: Principal;
  readonly headers: Readonly<Record<string, string>>;
  /** The span of the HTTP request that carried it. */
  readonly trace?: TraceContext | undefined;
  readonly onRevoked?: Exchange["onRevoked"];
  notify(notification: RpcNotification): void;
}

export interface OngoingRequest {
  /** Undefined if the request was cancelled; no message may be sent then. Never rejects. */
  readonly response: Promise<RpcResponse | undefined>;
  /** True if the request does not identify its client properly. */
  readonly malformed: boolean;
  cancel(reason?: ArsenalError): void;
}

/** Answers requests of 2026-07-28, which has no sessions. */
export type ModernRequests = ReturnType<typeof createModernRequests>;

/** Methods of earlier revisions that this revision does not support. */
const REMOVED = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/** Methods whose results have a time to live. */
const CACHEABLE =
  /^(?:server\/discover|resources\/(?:directory\/)?read|skills\/(?:list|get)|(?:tools|prompts|resources(?:\/templates)?)\/list)$/;

/** Serves the protocol of 2026-07-28, and passes its requests to the plane. */
export function createModernRequests(plane: Plane, options: ModernRequestsOptions) {
  const { room = createMcpRoom() } = options;
  const calls = createSuspendedCalls(plane.name, { ...options, room });
  const subscriptions = new Set<Leg>();
  /** The plane's identity. Read once, and again with each `server/discover`. */
  let serverInfo: JsonObject | undefined;

  async function discover(): Promise<JsonObject> {
    const { info, capabilities, instructions } = await plane.shared.describe();
    serverInfo = info;
    return { supportedVersions: MODERN_VERSIONS, capabilities, ...(instructions !== undefined && { instructions }) };
  }

  function begin(request: RpcRequest, envelope: Envelope, context: ModernContext): Leg {
    const { id, method, params = {} } = request;
    const { peer, progressToken } = envelope;
    const { principal, headers, trace, onRevoked } = context;
    const notify = (notification: RpcNotification): void => {
      if (notification.method === "notifications/message" && !envelope.wantsLog(notification.params?.["level"])) return;
      context.notify(notification);
    };
    if (REMOVED.includes(method))
      throw new RpcError({ code: RPC.methodNotFound, message: `Method not found: ${method}` });
    if (method === "server/discover") return { answer: discover(), cancel: () => undefined };
    if (method === "subscriptions/listen") {
      const giveWay = (): void => subscription.cancel();
      const bytes = JSON.stringify(params).length;
      const share = room.subscriptions.take(principal, { bytes, isInUse: () => true, giveWay });
      if (share === undefined)
        throw new RpcError({ code: RPC.internalError, message: "Too many subscriptions are open. Retry later." });
      const subscription = openSubscription(plane, { id, params, peer, notify });
      const forget = (): void => {
        share.release();
        subscriptions.delete(subscription);
      };
      subscriptions.add(subscription);
      subscription.answer.then(forget, forget);
      return subscription;
    }
    const binding = { principal, plane: plane.name, method, params };
    const carrier = { capabilities: peer.capabilities, progressToken, notify };
    return calls.handle(binding, carrier, (channel) =>
      plane.shared.handle({ id, method, peer, headers, onRevoked, ...(trace && { trace }), ...channel }),
    );
  }

  async function complete({ id, method }: RpcRequest, leg: Leg): Promise<RpcResponse> {
    try {
      const result = await leg.answer;
      // A plane that fails to describe itself must not fail the request.
      if (serverInfo === undefined) await discover().catch(() => undefined);
      return answer(id, completed(method, result, serverInfo));
    } catch (error) {
      return failure(id, modernError(error));
    }
  }

  return {
    handle(request: RpcRequest, context: ModernContext): OngoingRequest {
      let envelope: Envelope | undefined;
      let leg: Leg;
      try {
        envelope = readEnvelope(request.params ?? {}, context.principal);
        leg = begin(request, envelope, context);
      } catch (error) {
        const response = Promise.resolve(failure(request.id, modernError(error)));
        return { response, malformed: envelope === undefined, cancel: () => undefined };
      }
      let cancelled = false;
      return {
        response: complete(request, leg).then((message) => (cancelled ? undefined : message)),
        malformed: false,
        cancel(reason) {
          cancelled = true;
          leg.cancel(reason);
        },
      };
    },
    /** Ends subscriptions with an answer, and aborts all other requests. */
    close(): void {
      for (const subscription of subscriptions) subscription.cancel();
      calls.close();
    },
  };
}

/** Adds the members that every result needs in this revision, if the plane did not set them. Existing members keep their position. */
function completed(method: string, result: JsonObject, serverInfo: JsonObject | undefined): JsonObject {
  const { resultType = "complete", ttlMs = 0, cacheScope = "private" } = result;
  const meta = isPlainObject(result["_meta"]) ? result["_meta"] : {};
  const isNamed = serverInfo === undefined || META.serverInfo in meta;
  return {
    ...result,
    resultType,
    ...(CACHEABLE.test(method) && resultType === "complete" && { ttlMs, cacheScope }),
    ...(!isNamed && { _meta: { ...meta, [META.serverInfo]: serverInfo } }),
  };
}

/** Converts an error to this revision, which has no error code for a missing resource. */
function modernError(error: unknown): RpcErrorBody {
  const body = errorBody(error);
  return body.code === RPC.resourceNotFound ? { ...body, code: RPC.invalidParams } : body;
}
