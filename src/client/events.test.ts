import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { answerJson, httpAnswers } from "../../test/doubles/http-answers.ts";
import { skippingClock } from "../../test/doubles/skipping-clock.ts";
import { createClient } from "./index.ts";

const STREAM = { "content-type": "text/event-stream" };
const event = (name: string): string => JSON.stringify({ name, level: "info", at: 1, data: {} });

/** Resolves when `listener` was called so often. */
function counted(count: number) {
  const names: string[] = [];
  const done = Promise.withResolvers<void>();
  const listener = ({ name }: { readonly name: string }): void => {
    if (names.push(name) === count) done.resolve();
  };
  return { names, listener, done: done.promise };
}

describe("subscribe", () => {
  it("reads events however they are cut, and tells the gateway which ones it wants", async () => {
    const text = `: hello\r\n\r\nid: 1\r\nevent: tool-registered\r\ndata: {"name":"ü",\r\ndata: "level":"info"}\r\n\r\nevent:call-finished\ndata:${event("b")}\n\ndata: ${event("c")}\r\r`;
    await using server = await httpAnswers((_request, response) => {
      response.writeHead(200, STREAM);
      void sendSlowly(response, Buffer.from(text));
    });
    await using client = createClient({ url: server.url });
    const heard = counted(3);
    client.subscribe(heard.listener, { names: ["tool-registered", "call-finished"], level: "info" });
    await heard.done;
    expect(heard.names).toEqual(["ü", "b", "c"]);
    expect(server.seen).toEqual(["GET /api/v1/events?names=tool-registered%2Ccall-finished&level=info"]);
  });

  it("connects again after a lost connection, and goes on after the last event", async () => {
    const lastIds: unknown[] = [];
    await using server = await httpAnswers(({ headers }, response, count) => {
      lastIds.push(headers["last-event-id"]);
      if (count === 2) return answerJson(response, 503, {}, { "retry-after": "1" });
      response.writeHead(200, STREAM).write(`id: ${count}\ndata: ${event(`from-${count}`)}\n\n`);
      if (count === 1) response.end();
      return undefined;
    });
    await using client = createClient({ url: server.url, clock: skippingClock(30_000) });
    const heard = counted(2);
    await client.subscribe(heard.listener).connected;
    await heard.done;
    expect(heard.names).toEqual(["from-1", "from-3"]);
    expect(lastIds).toEqual([undefined, "1", "1"]);
  });

  it("connects again when the connection falls silent, or the gateway breaks the stream off", async () => {
    await using server = await httpAnswers((_request, response, count) => {
      response.writeHead(200, STREAM).write(": keep-alive\n\n");
      if (count === 1) response.write(`event: error\ndata: {"code":"CLOSED","detail":"Shutting down."}\n\n`);
      if (count === 3) response.write(`data: ${event("c")}\n\n`);
      if (count === 2) setImmediate(() => clock.timeouts.forEach((fire) => fire()));
    });
    const clock = skippingClock(30_000);
    await using client = createClient({ url: server.url, clock });
    const heard = counted(1);
    client.subscribe(heard.listener);
    await heard.done;
    expect([heard.names, server.seen.length]).toEqual([["c"], 3]);
  });

  it("ends for good where the caller may not read events, and says so", async () => {
    await using server = await httpAnswers((_request, response) =>
      answerJson(response, 403, { code: "PERMISSION_DENIED", detail: "You lack the role operator." }),
    );
    const client = createClient({ url: server.url });
    const told = Promise.withResolvers<Error>();
    const end = client.subscribe(() => {}, { onError: told.resolve });
    await expect(end.connected).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await told.promise).toMatchObject({ message: "You lack the role operator." });
    expect(server.seen).toHaveLength(1);
  });

  it("hears nothing more once it was ended, or the client was closed, and hangs up", async () => {
    const hungUp: Promise<unknown>[] = [];
    await using server = await httpAnswers((request, response) => {
      hungUp.push(new Promise((resolve) => request.once("close", resolve)));
      response.writeHead(200, STREAM).write(": connected\n\n");
    });
    const client = createClient({ url: server.url });
    const [first, second] = [client.subscribe(() => {}), client.subscribe(() => {})];
    await Promise.all([first.connected, second.connected]);
    first();
    await client.close();
    await Promise.all(hungUp);
    expect(server.seen).toHaveLength(2);
    const late = client.subscribe(() => {});
    await expect(late.connected).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("says apart from the events that some are missing", async () => {
    const gap = { name: "gap", level: "warn", at: 1, data: { missed: 3, reason: "They are no longer kept." } };
    await using server = await httpAnswers((_request, response) => {
      response.writeHead(200, STREAM).write(`event: gap\ndata: ${JSON.stringify(gap)}\n\ndata: ${event("b")}\n\n`);
    });
    await using client = createClient({ url: server.url });
    const heard = counted(1);
    const gaps: unknown[] = [];
    client.subscribe(heard.listener, { onGap: (each) => gaps.push(each) });
    await heard.done;
    expect([heard.names, gaps]).toEqual([["b"], [gap.data]]);
  });

  it("survives a listener that throws", async () => {
    await using server = await httpAnswers((_request, response) => {
      response.writeHead(200, STREAM).write(`data: ${event("a")}\n\ndata: ${event("b")}\n\n`);
    });
    await using client = createClient({ url: server.url });
    const heard = counted(2);
    client.subscribe((each) => {
      heard.listener(each);
      throw new Error("not now");
    });
    await heard.done;
    expect(heard.names).toEqual(["a", "b"]);
  });
});

/** Writes a byte at a time, each in a packet of its own. */
async function sendSlowly(response: ServerResponse, bytes: Buffer): Promise<void> {
  for (const byte of bytes) await new Promise<void>((resolve) => response.write(Buffer.of(byte), () => resolve()));
}
