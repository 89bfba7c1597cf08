import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import type { AddressInfo } from "node:net";
import { chromium as driver, type Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { localOperator, ToolArsenal } from "../../src/index.ts";
import { chromium } from "../peers/peers.ts";
import { guest, look } from "../facade/opened.ts";

const program = chromium();
if (program === undefined) process.stderr.write("not run: the client in a web page. There is no chromium\n");

/** What the page offers to the tests. It has the client as every bundler would take it: modules, without their types. */
const PAGE = `
import { createClient, isArsenalError } from "/src/client/index.ts";
let client;
window.connect = (options) => { client?.close(); client = createClient(options); };
window.search = async (query) => (await client.retrieve({ context: { query } })).tools.map(({ tool }) => tool.id);
window.call = async (call) => {
  const progress = [];
  const result = await client.execute({ ...call, onProgress: (update) => progress.push(update.progress) });
  return { progress, result };
};
window.start = (call) => {
  const stop = new AbortController();
  window.stop = () => stop.abort();
  window.running = client.execute({ ...call, signal: stop.signal });
};
window.listen = async () => {
  const heard = [];
  const all = Promise.withResolvers();
  const end = client.subscribe(({ name, data }) => heard.push([name, data.status]) === 3 && all.resolve(), { names: ["call-finished"] });
  await end.connected;
  await client.execute({ toolName: "look_around" });
  await client.execute({ toolName: "nowhere" });
  await client.execute({ toolName: "count" });
  await all.promise;
  end();
  return heard;
};
window.failure = (query) => client.retrieve({ context: { query } }).then(String, (error) => [isArsenalError(error), error.code]);
window.ready = true;
`;

/** Serves the page and the sources of the client, as a web server on this machine. */
async function servePage(): Promise<{ readonly origin: string; close(): Promise<unknown> }> {
  const server = createServer(({ url = "/" }, response) => {
    if (url === "/") {
      response.setHeader("content-type", "text/html");
      return response.end('<!doctype html><script type="module" src="/page.js"></script>');
    }
    response.setHeader("content-type", "text/javascript");
    if (url === "/page.js") return response.end(PAGE);
    if (!/^\/src\/[\w/-]+\.ts$/.test(url)) return response.writeHead(404).end();
    return response.end(stripTypeScriptTypes(readFileSync(new URL(`../..${url}`, import.meta.url), "utf8")));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))) };
}

// because a machine without a browser cannot run a web page
describe.skipIf(program === undefined)("a web page with toolarsenal/client", () => {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  const started = Promise.withResolvers<void>();
  const fired = Promise.withResolvers<void>();
  let calls = 0;
  let browser: Browser;
  let url = "";
  const closers: (() => unknown)[] = [];

  beforeAll(async () => {
    await arsenal.addTool(look, () => ++calls);
    await arsenal.addTool({ ...look, name: "spend_money", capabilities: ["financial"] }, () => ++calls);
    await arsenal.addTool({ ...look, name: "count", description: "Counts to three." }, (_args, { progress }) => {
      for (const each of [1, 2, 3]) progress({ progress: each, total: 3 });
      return "three";
    });
    await arsenal.addTool({ ...look, name: "wait", description: "Waits for ever." }, (_args, { signal }) => {
      signal.addEventListener("abort", () => fired.resolve());
      started.resolve();
      return new Promise(() => {});
    });
    browser = await driver.launch({ executablePath: program ?? "", args: ["--no-sandbox"] });
  });

  afterAll(async () => {
    await browser?.close();
    for (const close of closers.splice(0).toReversed()) await close();
    await arsenal.close();
  });

  async function open(allowed: boolean) {
    const site = await servePage();
    const callers = { "Bearer operator": localOperator({ id: "operator" }), "Bearer guest": guest };
    const served = await arsenal.serve({
      port: 0,
      allowedOrigins: allowed ? [site.origin] : ["http://127.0.0.1:9"],
      identity: {
        name: "by-name",
        challenge: "Bearer",
        authenticate: async ({ headers }) => callers[headers["authorization"] as keyof typeof callers],
      },
    });
    closers.push(site.close, served.close);
    url = served.url ?? "";
    const page = await browser.newPage();
    await page.goto(site.origin);
    await page.waitForFunction("window.ready");
    const run = (code: string, given: object | string = {}): Promise<unknown> =>
      page.evaluate(`(${code})(${JSON.stringify(given)})`);
    await run("connect", { url, token: "operator", retries: 0 });
    return { page, run };
  }

  it("searches, calls with progress, is denied, cancels, and reads events", async () => {
    const { run } = await open(true);
    expect(await run("search", "look around")).toContain("default.look_around");
    expect(await run("call", { toolName: "look_around" })).toMatchObject({ result: { status: "success", result: 1 } });
    expect(await run("call", { toolName: "count" })).toMatchObject({
      progress: [1, 2, 3],
      result: { status: "success", result: "three" },
    });

    await run("start", { toolName: "wait" });
    await started.promise;
    expect(await run("async () => { stop(); return running; }")).toMatchObject({ status: "cancelled" });
    await fired.promise;

    expect(await run("listen")).toEqual([
      ["call-finished", "success"],
      ["call-finished", "failure"],
      ["call-finished", "success"],
    ]);

    await run("connect", { url, token: "guest" });
    expect(await run("call", { toolName: "spend_money" })).toMatchObject({
      result: { status: "permission_denied", attempts: 0, error: { code: "PERMISSION_DENIED" } },
    });
    await run("connect", { url, token: "nobody" });
    expect(await run("failure", "look")).toEqual([true, "UNAUTHENTICATED"]);
  });

  it("of another origin is refused, and nothing runs", async () => {
    const { run } = await open(false);
    const before = calls;
    expect(await run("failure", "look around")).toEqual([true, "TRANSPORT_FAILED"]);
    const { result } = (await run("call", { toolName: "look_around" })) as { readonly result: object };
    expect(result).toMatchObject({ status: "failure", error: { code: "OUTCOME_UNKNOWN" } });
    expect(calls).toBe(before);
  });
});
