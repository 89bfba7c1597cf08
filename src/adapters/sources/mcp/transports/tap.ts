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

/** Receives the messages of a tapped transport, except the answers that the SDK's client waits for. */
export interface TapListener {
  readonly answered: (response: RpcResponse) => void;
  readonly asked: (request: RpcRequest) => void;
  /** `about` is the id of our request on whose stream the message arrived, if the transport has a stream for each request. */
  readonly told: (notification: RpcNotification, about: string | undefined) => void;
  /** An error outside any request; the transport may stay usable. */
  readonly failed: (error: Error) => void;
  readonly closed: () => void;
}

/** A transport shared by the SDK's client, which shakes hands on it, and by us, who use it afterwards. */
export type Tap = ReturnType<typeof createTap>;

/** Additional information on a message, for transports with a stream for each request. */
export interface StreamMessageInfo extends MessageExtraInfo {
  readonly about?: RequestId;
}

/** An id for our requests. The SDK's client never uses such ids. */
export const toRequestId = (count: number): string => `t${count}`;

const isOurs = (id: RequestId | null): boolean => typeof id === "string" && /^t\d+$/.test(id);

/** Taps a transport. `sharedChannel`: messages share one pipe or socket, where silence means an old server. `onMessage` sees every message. */
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
    /** True if each request has a stream of its own, and closing that stream cancels it. */
    perRequestStream,
    sharedChannel,
    /** The last result that the SDK's client received: the server's own answer in the handshake. */
    get handshake(): JsonObject | undefined {
      return handshake;
    },
    /** The last error that the transport reported. */
    get failure(): Error | undefined {
      return failure;
    },
    /** The listener gets messages from now on. Earlier questions stay unanswered, and earlier notifications are dropped. */
    listen(given: TapListener): void {
      listener = given;
      if (closed) given.closed();
    },
    send: (message: RpcMessage, options?: TransportSendOptions): Promise<void> => send(message as never, options),
    close: (): Promise<void> => inner.close(),
  };
}
