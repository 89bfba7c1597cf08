import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { ToolArsenal } from "../../src/index.ts";
import { skippingClock } from "../doubles/skipping-clock.ts";
import { look } from "../facade/opened.ts";

const call = { toolName: "look_around" };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function served(arsenal = new ToolArsenal({ telemetry: { enabled: false } })) {
  const gateway = await arsenal.serve({ port: 0, mode: "static" });
  closers.push(() => arsenal.close(), gateway.close);
  return { arsenal, gateway, url: gateway.url ?? "" };
}

/** A load balancer: `route` says where each request goes, and whether its answer gets lost on the way. */
async function balancer(route: (count: number) => { readonly to: string; readonly loses?: boolean }) {
  let count = 0;
  const server = createServer((incoming, outgoing) => {
    const { to, loses = false } = route(++count);
    const { method, headers, url } = incoming;
    const { host: _host, ...kept } = headers;
    const passed = forward(to + url, { method: method ?? "GET", headers: kept }, (answer) => {
      if (loses) return void answer.resume().once("end", () => outgoing.socket?.destroy());
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      return void answer.pipe(outgoing);
    });
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, count: () => count };
}

describe("a call through toolarsenal/client", () => {
  it.each([
    ["plain", {}],
    ["with progress", { onProgress: () => {} }],
  ])("that is cancelled is cancelled at the MCP server behind the gateway: %s", async (_how, more) => {
    const started = Promise.withResolvers<void>();
    const fired = Promise.withResolvers<boolean>();
    const upstream = await served();
    await upstream.arsenal.addTool(look, (_args, { signal }) => {
      signal.addEventListener("abort", () => fired.resolve(true));
      started.resolve();
      return new Promise(() => {});
    });
    const { arsenal, url } = await served();
    await arsenal.addMcpServer({ name: "far", transport: { kind: "http", url: `${upstream.url}/mcp` } });
    const stop = new AbortController();
    const client = createClient({ url });
    const running = client.execute({ toolName: "far.look_around", signal: stop.signal, ...more });
    await started.promise;
    stop.abort();
    expect(await running).toMatchObject({ status: "cancelled", error: { code: "CANCELLED" } });
    expect(await fired.promise).toBe(true);
  });

  it("of a batch is cancelled with the batch", async () => {
    const started = Promise.withResolvers<void>();
    const fired = Promise.withResolvers<boolean>();
    const { arsenal, url } = await served();
    await arsenal.addTool(look, (_args, { signal }) => {
      signal.addEventListener("abort", () => fired.resolve(true));
      started.resolve();
      return new Promise(() => {});
    });
    const stop = new AbortController();
    const running = createClient({ url }).executeBatch({ calls: [call, call], signal: stop.signal });
    await started.promise;
    stop.abort();
    expect((await running).results.map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
    expect(await fired.promise).toBe(true);
  });

  it("whose answer was lost runs once if it has an idempotency key, and its result is the first one", async () => {
    const { arsenal, url } = await served();
    let ran = 0;
    await arsenal.addTool(look, () => ++ran);
    const between = await balancer((count) => ({ to: url, loses: count < 3 }));
    const client = createClient({ url: between.url, clock: skippingClock(30_000) });
    const result = await client.execute({ ...call, idempotencyKey: "once" });
    expect(result).toMatchObject({ status: "success", result: 1, replayed: true });
    expect([ran, between.count()]).toEqual([1, 3]);
  });

  it("whose answer was lost is not repeated without one", async () => {
    const { arsenal, url } = await served();
    let ran = 0;
    await arsenal.addTool(look, () => ++ran);
    const between = await balancer(() => ({ to: url, loses: true }));
    const result = await createClient({ url: between.url }).execute(call);
    expect(result.error?.code).toBe("OUTCOME_UNKNOWN");
    expect([ran, between.count()]).toEqual([1, 1]);
  });

  it("that a gateway refuses because it shuts down goes to the next one", async () => {
    const held = Promise.withResolvers<string>();
    const started = Promise.withResolvers<void>();
    const [first, second] = [await served(), await served()];
    await first.arsenal.addTool(look, () => {
      started.resolve();
      return held.promise;
    });
    await second.arsenal.addTool(look, () => "from the second");
    const running = createClient({ url: first.url }).execute(call);
    await started.promise;
    const closing = first.gateway.close();
    const between = await balancer((count) => ({ to: count === 1 ? first.url : second.url }));
    const client = createClient({ url: between.url, clock: skippingClock(30_000) });
    expect(await client.execute(call)).toMatchObject({ status: "success", result: "from the second" });
    expect(between.count()).toBe(2);
    held.resolve("from the first");
    expect((await running).result).toBe("from the first");
    await closing;
  });
});
