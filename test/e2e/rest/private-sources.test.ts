import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { startTestAgent } from "../../a2a/test-agent.ts";
import { startPayServer } from "../pay-server.ts";
import { documentOf, startEcho } from "../openapi-echo.ts";
import { operate } from "./operated-gateway.ts";

/** A server of each kind on this machine, and how many requests reached it. */
async function insiders() {
  let asked = 0;
  const decoy = createServer((_request, response) => (asked++, response.end("{}")));
  await new Promise<void>((resolve) => void decoy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void decoy.close());
  return { url: `http://127.0.0.1:${(decoy.address() as AddressInfo).port}`, asked: () => asked };
}

const get = { operationId: "getPet", responses: { 200: { description: "ok" } } };

describe("an operator on another machine", () => {
  it("cannot have the gateway reach its own machine or a private network", async () => {
    const inside = await insiders();
    const { ask } = await operate();
    const sources = [
      ["mcp", { name: "a", transport: { kind: "http", url: `${inside.url}/mcp` } }],
      ["mcp", { name: "b", transport: { kind: "sse", url: "http://localhost:8080/sse" } }],
      ["mcp", { name: "c", transport: { kind: "websocket", url: "ws://[::1]:8080/" } }],
      ["mcp", { name: "d", transport: { kind: "http", url: "https://x.example", oauth: { issuer: inside.url } } }],
      ["openapi", { name: "e", document: `${inside.url}/openapi.json` }],
      ["openapi", { name: "f", document: documentOf({ "/pets": { get } }), server: inside.url }],
      ["a2a", { name: "g", url: inside.url }],
      ["a2a", { name: "h", url: "http://169.254.169.254/" }],
    ] as const;
    for (const [type, settings] of sources)
      expect([settings.name, await ask("olga", "POST", "/ensembles", { type, ...settings })]).toMatchObject([
        settings.name,
        {
          status: 403,
          body: { code: "PERMISSION_DENIED", fix: expect.stringContaining("security.allowed_domains") as string },
        },
      ]);
    expect(inside.asked()).toBe(0);
  });

  it("cannot reach it by a tool of a document that names it, or a card that leads there", async () => {
    const inside = await insiders();
    const { ask, arsenal } = await operate({ security: { allowedDomains: ["localhost"], pins: "off" } });
    const document = documentOf({ "/pets": { get } }, { servers: [{ url: inside.url }] });
    const echo = await startEcho((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
    });
    onTestFinished(echo.close);
    const settings = { name: "pets", document: `${echo.url.replace("127.0.0.1", "localhost")}/openapi.json` };
    expect((await ask("olga", "POST", "/ensembles", { type: "openapi", ...settings })).status).toBe(201);
    expect(await arsenal.execute({ toolName: "pets.get_pet" })).toMatchObject({
      status: "permission_denied",
      error: { code: "PERMISSION_DENIED" },
    });
    expect(inside.asked()).toBe(0);
  });

  it("can where the configuration lists the host, or lets remote operators run commands", async () => {
    const [pay, agent, api] = [await startPayServer(), await startTestAgent(), await startEcho()];
    onTestFinished(async () => void (await Promise.all([pay.close(), agent[Symbol.asyncDispose](), api.close()])));
    for (const config of [{ security: { allowedDomains: ["127.0.0.1"] } }, { server: { allowCommands: true } }]) {
      const { ask, arsenal } = await operate(config);
      const added = [
        await ask("olga", "POST", "/ensembles", {
          type: "mcp",
          name: "pay",
          transport: { kind: "http", url: pay.url },
        }),
        await ask("olga", "POST", "/ensembles", { type: "a2a", name: "agent", url: agent.url }),
        await ask("olga", "POST", "/ensembles", {
          type: "openapi",
          name: "pets",
          document: documentOf({ "/pets": { get } }),
          server: api.url,
        }),
      ];
      expect(added.map(({ status }) => status)).toEqual([201, 201, 201]);
      expect(await arsenal.execute({ toolName: "pets.get_pet" })).toMatchObject({ status: "success" });
      // Connecting it again is held to the same.
      expect((await ask("olga", "POST", "/ensembles/agent/restart")).body).toMatchObject({ state: "connected" });
    }
  });
});

it("the operator of the machine itself can", async () => {
  const pay = await startPayServer();
  onTestFinished(pay.close);
  const { ask } = await operate({}, { local: true });
  const settings = { name: "pay", transport: { kind: "http", url: pay.url } };
  expect((await ask("olga", "POST", "/ensembles", { type: "mcp", ...settings })).status).toBe(201);
});
