import { PassThrough, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { aloneOnMemory, legacy, modern } from "../../../test/mcp/sample-endpoint.ts";
import { createSamplePlane, type SamplePlane, text } from "../../../test/mcp/sample-plane.ts";
import type { JsonObject } from "../../mcp/protocol.ts";
import { createManualClock, type ManualClock } from "../../testing/manual-clock.ts";
import { serveStdio, type StdioServerOptions } from "./stdio-server.ts";

const alone = await aloneOnMemory();

interface Client extends ReturnType<typeof serveStdio> {
  readonly plane: SamplePlane;
  readonly clock: ManualClock;
  readonly input: PassThrough;
  write(...messages: readonly (JsonObject | string)[]): void;
  /** The next line of output. */
  next(): Promise<JsonObject>;
  /** Everything that came out and was not taken by `next`. */
  rest(): readonly string[];
}

function client(options: Partial<StdioServerOptions> = {}): Client {
  const plane = createSamplePlane();
  const clock = createManualClock();
  const input = new PassThrough();
  const output = new PassThrough();
  const lines: string[] = [];
  const takers: ((line: string) => void)[] = [];
  let unfinished = "";
  output.on("data", (chunk: Buffer) => {
    const [...complete] = (unfinished + chunk.toString()).split("\n");
    unfinished = complete.pop() ?? "";
    for (const line of complete) {
      const taker = takers.shift();
      if (taker === undefined) lines.push(line);
      else taker(line);
    }
  });
  const server = serveStdio(plane, {
    ...alone,
    input,
    output,
    clock,
    ...options,
  });
  return {
    ...server,
    plane,
    clock,
    input,
    write(...messages) {
      input.write(
        messages.map((message) => `${typeof message === "string" ? message : JSON.stringify(message)}\n`).join(""),
      );
    },
    async next() {
      const line = lines.shift() ?? (await new Promise<string>((resolve) => takers.push(resolve)));
      return JSON.parse(line) as JsonObject;
    },
    rest: () => lines,
  };
}

const INITIALIZE = legacy("i", "initialize", { protocolVersion: "2025-11-25", capabilities: { elicitation: {} } });
const call = (id: number, name: string): JsonObject =>
  legacy(id, "tools/call", { name, arguments: { text: "hi" }, _meta: { progressToken: 1 } });
const callModern = (id: number, name: string, more: JsonObject = {}): JsonObject =>
  modern(
    id,
    "tools/call",
    { name, arguments: { text: "hi" }, ...more },
    {
      "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
    },
  );

describe("stdio server", () => {
  it("speaks with a legacy client, and lets it say everything at once", async () => {
    const { write, next, closed, input } = client();
    write(INITIALIZE, { jsonrpc: "2.0", method: "notifications/initialized" }, call(1, "echo"));
    input.end();
    expect(await next()).toMatchObject({ id: "i", result: { protocolVersion: "2025-11-25" } });
    expect(await next()).toEqual({ jsonrpc: "2.0", id: 1, result: text("hi") });
    await closed;
  });

  it("speaks with a modern client without any handshake, and with both eras on one stream", async () => {
    const { write, next } = client();
    write(modern("d", "server/discover"));
    expect(await next()).toMatchObject({ id: "d", result: { supportedVersions: ["2026-07-28"] } });
    write(INITIALIZE);
    expect(await next()).toMatchObject({ id: "i" });
    write(callModern(1, "echo"));
    expect(await next()).toMatchObject({ id: 1, result: { ...text("hi"), resultType: "complete" } });
    write(call(2, "echo"));
    expect(await next()).toEqual({ jsonrpc: "2.0", id: 2, result: text("hi") });
  });

  it("keeps the order of what it writes", async () => {
    const { write, next } = client();
    write(INITIALIZE, call(1, "progress"));
    await next();
    expect([await next(), await next(), await next()]).toMatchObject([
      { params: { progress: 1 } },
      { params: { progress: 2 } },
      { id: 1 },
    ]);
  });

  it("goes on with a suspended call", async () => {
    const { write, next } = client();
    write(callModern(1, "greet"));
    const { result } = (await next()) as { readonly result: JsonObject };
    const inputResponses = { "input-1": { action: "accept", content: { name: "Ada" } } };
    write(callModern(2, "greet", { requestState: result["requestState"], inputResponses }));
    expect(await next()).toMatchObject({ id: 2, result: text("Hello Ada") });
  });

  it.each([
    ["legacy", call(1, "wait")],
    ["modern", callModern(1, "wait")],
  ])("cancels a %s request, which is then not answered", async (_era, request) => {
    const { write, next, plane, rest } = client();
    write(INITIALIZE, request);
    await next();
    while (plane.exchanges.length === 0) await new Promise((resolve) => void setImmediate(resolve));
    write({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }, legacy(2, "ping"));
    expect(await next()).toMatchObject({ id: 2 });
    expect(plane.exchanges[0]?.signal.aborted).toBe(true);
    expect(rest()).toEqual([]);
  });

  it("ends a subscription when it is cancelled", async () => {
    const { write, next, plane } = client();
    write(modern("s", "subscriptions/listen", { notifications: { toolsListChanged: true } }));
    expect(await next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
    write({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "s" } }, legacy(2, "ping"));
    await next();
    expect(plane.filters).toEqual([]);
  });

  it("refuses a modern request while one with the same id runs", async () => {
    const { write, next } = client();
    write(callModern(1, "wait"), callModern(1, "echo"));
    expect(await next()).toMatchObject({ id: 1, error: { code: -32600 } });
  });

  it.each([
    ["junk", "hello?"],
    ["half a message", '{"jsonrpc":"2.0"'],
    ["a line that is too long", JSON.stringify(modern(1, "tools/list", { fill: "x".repeat(1000) }))],
  ])("answers %s with a parse error, tells the log, and survives it", async (_what, line) => {
    const { write, next } = client({ maxLineBytes: 500 });
    write(line, "", "  ", legacy(2, "ping"));
    expect(await next()).toMatchObject({ id: null, error: { code: -32700 } });
    expect(await next()).toEqual({ jsonrpc: "2.0", id: 2, result: {} });
  });

  it("answers a batch with an error", async () => {
    const { write, next } = client();
    write(JSON.stringify([legacy(1, "ping")]));
    expect(await next()).toMatchObject({ id: null, error: { code: -32600 } });
  });

  it("ends when the input ends, aborting after a second what still runs", async () => {
    const { write, next, input, clock, closed, plane } = client();
    write(INITIALIZE, call(1, "wait"));
    await next();
    input.end();
    await clock.advance(999);
    expect(plane.exchanges[0]?.signal.aborted).toBe(false);
    await clock.advance(1);
    await closed;
    expect(plane.exchanges[0]?.signal.aborted).toBe(true);
    expect(plane.sessions).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("ends at once where nothing runs but a subscription", async () => {
    const { write, next, input, closed, plane, clock } = client();
    write(modern("s", "subscriptions/listen", { notifications: { toolsListChanged: true } }));
    await next();
    input.end();
    await closed;
    expect(plane.filters).toEqual([]);
    expect(clock.pending).toBe(0);
    expect(await next()).toMatchObject({ id: "s", result: { resultType: "complete" } });
  });

  it("ends when the client no longer reads", async () => {
    const output = new PassThrough();
    const { closed, plane, write } = client({ output });
    write(INITIALIZE);
    output.destroy(new Error("EPIPE"));
    await closed;
    expect(plane.sessions).toEqual([]);
  });

  it("does not read from a client that does not read, until it does", async () => {
    const written: string[] = [];
    let go = (): void => undefined;
    const output = new Writable({
      highWaterMark: 1,
      write(chunk: Buffer, _encoding, done) {
        written.push(chunk.toString());
        go = done;
      },
    });
    const { write, input } = client({ output });
    write(legacy(1, "ping"));
    await new Promise((resolve) => void setImmediate(resolve));
    expect(input.isPaused()).toBe(true);
    write(legacy(2, "ping"));
    await new Promise((resolve) => void setImmediate(resolve));
    expect(written).toHaveLength(1);
    go();
    while (written.length < 2) await new Promise((resolve) => void setImmediate(resolve));
    expect(JSON.parse(written[1] ?? "")).toMatchObject({ id: 2 });
  });
});
