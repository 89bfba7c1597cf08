import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRedactor } from "../../guard/redaction/redactor.ts";
import { createManualClock } from "../../testing/index.ts";
import { eventsOf, openGateway } from "../../../test/serve/rest-gateway.ts";
import type { HttpExchange } from "../surface.ts";
import type { ServerSentEvent } from "./operation.ts";
import { createWriter } from "./write-answer.ts";

/** A server that answers with a handler, and one open request to it whose answer is not read by itself. */
async function answering(
  handle: (exchange: Pick<HttpExchange, "request" | "response">) => void,
): Promise<IncomingMessage> {
  const server = createServer((received, response) => handle({ request: received, response }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void (server.closeAllConnections(), server.close()));
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve) => void request({ port, host: "127.0.0.1", agent: false }, resolve).end());
}

describe("a stream of events", () => {
  it("says that it is alive while nothing happens, and stops saying so when it ends", async () => {
    const clock = createManualClock();
    const next = Promise.withResolvers<ServerSentEvent>();
    const ended = Promise.withResolvers<void>();
    async function* quiet() {
      yield { event: "first", data: 1 };
      yield await next.promise;
    }
    const answer = await answering((exchange) => {
      const writer = createWriter(exchange, createRedactor(), clock);
      void writer.events(quiet(), new AbortController().signal).then(ended.resolve);
    });
    let text = "";
    let arrived = Promise.withResolvers<void>();
    answer.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      arrived.resolve();
      arrived = Promise.withResolvers();
    });
    const until = async (part: string): Promise<void> => {
      while (!text.includes(part)) await arrived.promise;
    };
    await until("event: first");
    await clock.advance(14_999);
    await clock.advance(1);
    await until(": keep-alive");
    expect(text).toBe("event: first\ndata: 1\n\n: keep-alive\n\n");
    next.resolve({ event: "second", data: 2 });
    await until("event: second");
    await ended.promise;
    await clock.advance(60_000);
    expect(eventsOf(text).map(({ event }) => event)).toEqual(["first", "second"]);
  });

  it("comes no faster than the caller reads, and ends its source when the caller hangs up", async () => {
    let made = 0;
    const stopped = Promise.withResolvers<void>();
    const stalled = Promise.withResolvers<void>();
    const data = "x".repeat(100_000);
    async function* endless() {
      try {
        for (;;) yield { event: "more", data: `${++made}${data}` };
      } finally {
        stopped.resolve();
      }
    }
    const answer = await answering(({ request: received, response }) => {
      const writer = createWriter({ request: received, response }, createRedactor());
      const gone = new AbortController();
      response.once("close", () => gone.abort());
      void writer.events(endless(), gone.signal);
      // Once the kernel takes no more, what waits in this process stays small, however long nobody reads.
      const watch = (): void => void (response.writableNeedDrain ? stalled.resolve() : setImmediate(watch));
      setImmediate(watch);
    });
    await stalled.promise;
    const before = made;
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
    expect(made - before).toBeLessThanOrEqual(1);
    answer.destroy();
    await stopped.promise;
  });

  it("carries an event of any size to a caller that reads", async () => {
    const data = "x".repeat(20 * 1024 * 1024);
    async function* one() {
      yield { event: "result", data };
    }
    const answer = await answering((exchange) => {
      void createWriter(exchange, createRedactor()).events(one(), new AbortController().signal);
    });
    expect((await buffer(answer)).length).toBeGreaterThan(data.length);
  });

  it("ends with its signal, also if its source does not", async () => {
    const ended = Promise.withResolvers<void>();
    const over = new AbortController();
    async function* stuck() {
      yield { event: "first", data: 1 };
      await new Promise(() => {});
    }
    const answer = await answering((exchange) => {
      void createWriter(exchange, createRedactor()).events(stuck(), over.signal).then(ended.resolve);
    });
    const [first] = (await once(answer, "data")) as [Buffer];
    over.abort();
    await ended.promise;
    expect(`${first.toString()}${(await buffer(answer)).toString()}`).toBe("event: first\ndata: 1\n\n");
  });

  it("without an end is over as soon as the gateway begins to shut down, while calls under way go on", async () => {
    const { url, gateway, arsenal, ask } = await openGateway({ drainMs: 600_000 });
    const started = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<string>();
    arsenal.register(
      { name: "slow", description: "Takes its time to end." },
      () => (started.resolve(), finish.promise),
    );
    const response = await fetch(`${url}/api/v1/events`, { headers: { accept: "text/event-stream" } });
    const call = ask("POST", "/execute", { body: { toolName: "slow" } });
    await started.promise;
    const closing = gateway.close();
    expect(eventsOf(await response.text()).filter(({ event }) => event === "error")).toEqual([]);
    finish.resolve("done");
    expect((await call).body.result).toBe("done");
    await closing;
  });
});
