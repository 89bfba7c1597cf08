import { afterAll, beforeAll, expect, it } from "vitest";
import { ToolArsenal } from "../../../src/index.ts";
import { startLegacyServer, type UpstreamServer } from "../../mcp/upstream-server.ts";
import { httpClient } from "./clients.ts";

let upstream: UpstreamServer;
beforeAll(async () => {
  upstream = await startLegacyServer();
});
afterAll(() => upstream.close());

const isSent = (method: string): boolean => upstream.requests.some(({ body }) => body["method"] === method);

it.each(["/mcp", "/mcp/upstreams/old"])(
  "passes no request without an id, and no notification of an unknown kind, from %s to the server",
  async (path) => {
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false }, security: { deny: ["old.*"] } });
    await arsenal.addMcpServer({ name: "old", transport: { kind: "http", url: upstream.url } });
    const served = await arsenal.serve({ port: 0 });
    const client = await httpClient("legacy", served.url + path);
    for (const method of ["tools/call", "resources/read", "tasks/cancel", "notifications/forget_all"])
      await client.notification({ method, params: { name: "echo", arguments: { text: "hello" } } } as never);
    if (path !== "/mcp") {
      // Notifications go in order, so that those before it would have come.
      await client.notification({ method: "notifications/progress", params: { progressToken: 1, progress: 1 } });
      await expect.poll(() => isSent("notifications/progress")).toBe(true);
    }
    await client.listTools();
    expect(["tools/call", "resources/read", "tasks/cancel", "notifications/forget_all"].filter(isSent)).toEqual([]);
    await client.close();
    await served.close();
  },
);
