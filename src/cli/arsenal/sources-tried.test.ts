import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ToolArsenal } from "../../arsenal.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { sourcesTried } from "./sources-tried.ts";

/** Accepts connections and answers only once it is let go. */
let release = (): void => {};
const server = createServer((_request, response) => {
  void held.then(() => response.writeHead(503).end());
});
let held = Promise.resolve();
beforeEach(async () => {
  held = new Promise((resolve) => (release = resolve));
  await once(server.listen(0, "127.0.0.1"), "listening");
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
});

it("names the sources that do not answer, after two seconds and then every ten", async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using arsenal = new ToolArsenal({
    sources: [{ type: "mcp", name: "files", url: `${url}/mcp` }],
    openapi: [{ name: "pets", document: `${url}/openapi.json` }],
    telemetry: { enabled: false },
  });
  const written: string[] = [];
  const clock = createManualClock();
  const tried = sourcesTried(arsenal, await arsenal.start(), {
    err: { write: (text: string) => written.push(text) },
    signal: new AbortController().signal,
    clock,
  });
  await clock.advance(1_999);
  expect(written).toEqual([]);
  await clock.advance(1);
  expect(written).toEqual([
    "Waiting for files, pets. Each has 30 s to connect; connect_timeout_ms changes that for an MCP server.\n",
  ]);
  await clock.advance(10_000);
  expect(written[1]).toBe("Still waiting for files, pets after 12 s.\n");
  release();
  expect((await tried).map(({ name }) => name)).toEqual(["files", "pets"]);
  expect([written.length, clock.pending]).toEqual([2, 0]);
});
