import { RPC, type RequestId, type RpcMessage, type RpcRequest } from "../../mcp/protocol.ts";
import { createLineReader } from "../../mcp/read-lines.ts";
import { localOperator } from "../../guard/principal.ts";
import { systemClock, within } from "../../observe/clock.ts";
import { countKeys } from "../../base/json/json-text.ts";
import type { InputStream, OutputStream } from "../../base/streams.ts";
import { claimedVersion } from "../../mcp/envelope.ts";
import { createLegacySession } from "./legacy/legacy-session.ts";
import { failure, readMessage } from "../../mcp/message.ts";
import { createModernRequests, type OngoingRequest } from "./modern/modern-requests.ts";
import type { ModernRequestsOptions } from "./modern/suspended-calls.ts";
import type { Plane } from "./plane.ts";

export interface StdioServerOptions extends ModernRequestsOptions {
  readonly input: InputStream;
  readonly output: OutputStream;
  /** Maximum length of a line in bytes. Defaults to 64 MiB. */
  readonly maxLineBytes?: number;
  /** How long requests may continue after the input has ended. Defaults to 1 s. */
  readonly drainMs?: number;
  /** Called when the input has ended. Open requests may still be answered. */
  readonly onEnd?: () => void;
}

/** Limit for one message. The client belongs to the operator, so it may send more than a remote one. */
const MAX_VALUES = 1_000_000;
const MAX_DEPTH = 200;

/** Serves a plane to the local operator over two streams: one message per line, in either era. */
export function serveStdio(plane: Plane, options: StdioServerOptions) {
  const { input, output, clock = systemClock, maxLineBytes = 64 * 1024 * 1024, drainMs = 1000 } = options;
  const principal = localOperator();
  const modern = createModernRequests(plane, options);
  const legacy = createLegacySession({ plane, principal, send });
  const ongoing = new Map<RequestId, OngoingRequest & { readonly method: string }>();
  const lines = createLineReader({
    maxBytes: maxLineBytes,
    onLine: takeLine,
    onTooLong: () => reject(`A line is longer than ${maxLineBytes} bytes.`),
  });
  const { promise: closed, resolve: resolveClosed } = Promise.withResolvers<void>();
  let closing: Promise<void> | undefined;

  function send(message: RpcMessage): void {
    if (!output.writable) return;
    // While a client does not read, its input is not read either, so that answers do not pile up.
    if (!output.write(`${JSON.stringify(message)}\n`)) input.pause();
  }

  function takeLine(line: string): void {
    if (line.trim() === "") return;
    if (countKeys(line, MAX_DEPTH, MAX_VALUES) < 0)
      return reject(
        `A message has more than ${MAX_VALUES} members and elements, or is nested deeper than ${MAX_DEPTH}.`,
      );
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return reject("A line is not JSON.");
    }
    take(value);
  }

  function reject(message: string): void {
    send(failure(null, { code: RPC.parseError, message }));
  }

  function take(value: unknown): void {
    const received = readMessage(value);
    if (received.kind === "request" && claimedVersion(received.message.params) !== undefined)
      return void answerModern(received.message);
    if (received.kind === "notification" && received.message.method === "notifications/cancelled") {
      const request = ongoing.get(received.message.params?.["requestId"] as RequestId);
      if (request !== undefined) return request.cancel();
    }
    legacy.receive(value);
  }

  async function answerModern(request: RpcRequest): Promise<void> {
    const { id, method } = request;
    if (ongoing.has(id)) {
      const message = `A request with the id ${JSON.stringify(id)} is still running.`;
      return send(failure(id, { code: RPC.invalidRequest, message }));
    }
    const current = modern.handle(request, { principal, headers: {}, notify: send });
    ongoing.set(id, { ...current, method });
    const response = await current.response;
    ongoing.delete(id);
    if (response !== undefined) send(response);
  }

  function close(): Promise<void> {
    closing ??= (async () => {
      input.off("data", read).pause();
      modern.close();
      await Promise.all([legacy.close(), ...[...ongoing.values()].map(({ response }) => response)]);
      output.off("drain", goOn);
      resolveClosed();
    })();
    return closing;
  }

  /** Handles the end of the client's input: requests that end quickly are still answered. */
  async function drain(): Promise<void> {
    lines.end();
    options.onEnd?.();
    const answers = [...ongoing.values()].map((one) =>
      one.method === "subscriptions/listen" ? undefined : one.response,
    );
    await within(drainMs, Promise.all([legacy.idle(), ...answers]), clock);
    await close();
  }

  const read = (chunk: Buffer | string): void => lines.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  const goOn = (): void => void input.resume();
  const lost = (): void => void close();
  input
    .on("data", read)
    .once("end", () => void drain())
    .once("error", lost);
  input.once("close", () => {
    if (!input.readableEnded) lost();
  });
  output.on("drain", goOn).on("error", lost).once("close", lost);
  /** `closed` resolves when the client has disconnected, or after `close`. */
  return { closed, close };
}
