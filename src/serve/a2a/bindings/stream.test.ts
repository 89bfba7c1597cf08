import { expect, it, onTestFinished } from "vitest";
import { createManualClock } from "../../../testing/manual-clock.ts";
import { createHttpServer } from "../../http/http-server.ts";
import { createEventQueue } from "../../events/event-queue.ts";
import { createStreams } from "./stream.ts";

async function open() {
  const clock = createManualClock();
  const streams = createStreams({ clock });
  const values = createEventQueue<object>();
  const iterator = values.events();
  const ended = Promise.withResolvers<void>();
  const server = await createHttpServer({
    port: 0,
    routes: [
      {
        path: "/stream",
        async handle(exchange) {
          await streams.answer(exchange, iterator, (error) => ({ failed: String(error) }));
          ended.resolve();
        },
      },
    ],
  });
  onTestFinished(() => server.close());
  values.push({ first: 1 });
  const leave = new AbortController();
  const response = await fetch(`${server.url}/stream`, { signal: leave.signal });
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  const read = async (): Promise<string | undefined> => (await reader.read()).value;
  expect(await read()).toBe('event: message\ndata: {"first":1}\n\n');
  return { clock, streams, values, read, leave, ended: ended.promise };
}

it("says that a stream is alive while nothing happens", async () => {
  const { clock, read } = await open();
  await clock.advance(15_000);
  expect(await read()).toBe(": keep-alive\n\n");
});

it("ends a stream when its values do, and writes what failed as its last event", async () => {
  const { values, read, ended } = await open();
  values.fail(new Error("no"));
  expect(await read()).toBe('event: error\ndata: {"failed":"Error: no"}\n\n');
  expect(await read()).toBeUndefined();
  await ended;
});

it("ends open streams when the surface closes", async () => {
  const { streams, read, ended } = await open();
  streams.close();
  expect(await read()).toBeUndefined();
  await ended;
});

it("stops reading values when the caller hangs up", async () => {
  const { leave, values, ended } = await open();
  leave.abort();
  await expect(ended).resolves.toBeUndefined();
  values.push({ second: 2 });
});
