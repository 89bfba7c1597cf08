import type { MessageExtraInfo, Transport, TransportSendOptions } from "@modelcontextprotocol/client";
import type {
  JsonObject,
  RequestId,
  RpcMessage,
  RpcNotification,
  RpcRequest,
  RpcResponse,
} from "../../../../mcp/protocol.ts";
import type { OnMessage } from "../../../../mcp/connection.ts";

/** Receives the messages of a tapped transport, except the responses that the SDK's client waits for. */
export interface TapListener {
  readonly answered: (response: RpcResponse) => void;
  readonly asked: (request: RpcRequest) => void;
  /** `about` is the id of the request on whose stream the message arrived. Undefined if requests have no streams of their own. */
  readonly told: (notification: RpcNotification, about: string | undefined) => void;
  /** Receives an error outside any request. The transport may still be usable. */
  readonly failed: (error: Error) => void;
  readonly closed: () => void;
}

/** A transport for two users: the SDK's client performs the handshake on it, and `listen` takes over afterwards. */
export type Tap = ReturnType<typeof createTap>;

/** Where a message arrived, for transports with one stream per request. */
export interface StreamMessageInfo extends MessageExtraInfo {
  readonly about?: RequestId;
}

/** Creates an id of a request. The SDK's client never uses these ids. */
export const toRequestId = (count: number): string => `t${count}`;

const isOurs = (id: RequestId | null): boolean => typeof id === "string" && /^t\d+$/.test(id);

/** Taps a transport. `sharedChannel`: messages share one pipe or socket, where silence means a legacy server. `onMessage` receives every message. */
export function createTap(
  inner: Transport,
  { sharedChannel, onMessage }: { readonly sharedChannel: boolean; readonly onMessage?: OnMessage | undefined },
) {
  const perRequestStream = inner.hasPerRequestStream === true;
  let listener: TapListener | undefined;
  let handshake: JsonObject | undefined;
  let failure: Error | undefined;
  let closed = false;

  const send: Transport["send"] = (message, options) => {
    onMessage?.("sent", message);
    return inner.send(message, options);
  };
  const transport: Transport = {
    start: () => inner.start(),
    send,
    close: () => inner.close(),
    get sessionId() {
      return inner.sessionId;
    },
    hasPerRequestStream: perRequestStream,
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
    // The SDK recognises a child process by these two members.
    ...(sharedChannel ? { stderr: null, pid: null } : {}),
  };

  const incoming: Pick<Transport, "onmessage" | "onerror" | "onclose"> = {
    onmessage(message, extra?: StreamMessageInfo) {
      onMessage?.("received", message);
      const given = message as RpcMessage;
      if (!("method" in given)) {
        if (isOurs(given.id)) return listener?.answered(given);
        if ("result" in given) handshake = given.result;
        transport.onmessage?.(message, extra);
      } else if ("id" in given) listener?.asked(given);
      else listener?.told(given, extra?.about === undefined ? undefined : String(extra.about));
    },
    onerror(error) {
      failure = error;
      transport.onerror?.(error);
      listener?.failed(error);
    },
    onclose() {
      transport.onclose?.();
      if (closed) return;
      closed = true;
      listener?.closed();
    },
  };
  Object.assign(inner, incoming);

  return {
    transport,
    /** True if each request has its own stream, and closing that stream cancels the request. */
    perRequestStream,
    sharedChannel,
    /** The last result that the SDK's client received: the server's response to the handshake. */
    get handshake(): JsonObject | undefined {
      return handshake;
    },
    /** The last error that the transport reported. */
    get failure(): Error | undefined {
      return failure;
    },
    /** Delivers messages to the listener from now on. Earlier requests stay unanswered, and earlier notifications are dropped. */
    listen(given: TapListener): void {
      listener = given;
      if (closed) given.closed();
    },
    send: (message: RpcMessage, options?: TransportSendOptions): Promise<void> => send(message as never, options),
    close: (): Promise<void> => inner.close(),
  };
}
