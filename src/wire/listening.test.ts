import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { bearerToken } from "../adapters/identity/bearer-token.ts";
import { ToolArsenal } from "../arsenal.ts";
import { createPrincipal } from "../guard/principal.ts";

const TOKEN = "a-token-of-alice-alone";
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function serve(options: Parameters<ToolArsenal["serve"]>[0] = {}): Promise<string> {
  const server = { port: 0, tokens: { alice: TOKEN }, allowedOrigins: ["http://localhost:6274"] };
  const arsenal = new ToolArsenal({ server });
  const served = await arsenal.serve(options);
  closing.push(
    () => arsenal.close(),
    () => served.close(),
  );
  return `${served.url}/api/v1/approvals`;
}

describe("an arsenal that is served in code", () => {
  it("listens as the section server of its configuration says", async () => {
    const url = await serve();
    expect(new URL(url).port).not.toBe("8080");
    const headers = { authorization: `Bearer ${TOKEN}`, origin: "http://localhost:6274" };
    expect((await fetch(url)).status).toBe(401);
    expect((await fetch(url, { headers: { ...headers, origin: "http://localhost:1" } })).status).toBe(403);
    const answer = await fetch(url, { headers });
    expect(await answer.text()).toContain("alice");
  });

  it("creates an identity from the shared state, with tenants switched on", async () => {
    const folder = mkdtempSync(join(tmpdir(), "arsenal-keys-"));
    closing.push(async () => rmSync(folder, { recursive: true }));
    const server = { port: 0, auth: { apiKeys: { state: true } } };
    const arsenal = new ToolArsenal({ server, state: { file: join(folder, "state.sqlite") } });
    const served = await arsenal.serve({
      identity: (state) =>
        bearerToken({ tokens: [{ token: TOKEN, principal: createPrincipal({ id: typeof state.documents }) }] }),
    });
    closing.push(
      () => arsenal.close(),
      () => served.close(),
    );
    const url = `${served.url}/api/v1/tools`;
    expect((await fetch(url)).status).toBe(401);
    expect((await fetch(url, { headers: { authorization: `Bearer ${TOKEN}` } })).status).toBe(200);
    expect(await (await fetch(`${served.url}/.well-known/agent-card.json`)).text()).toContain("bearer");
  });

  it("lets nobody in without a key, if the configuration keeps keys in the state", async () => {
    const folder = mkdtempSync(join(tmpdir(), "arsenal-keys-"));
    closing.push(async () => rmSync(folder, { recursive: true }));
    const state = { file: join(folder, "state.sqlite") };
    const arsenal = new ToolArsenal({ state, server: { port: 0, auth: { apiKeys: { state: true } } } });
    const served = await arsenal.serve();
    closing.push(
      () => arsenal.close(),
      () => served.close(),
    );
    expect((await fetch(`${served.url}/api/v1/approvals`)).status).toBe(401);
  });

  it("listens as its options say, where they differ", async () => {
    const ada = { id: "ada", roles: [], capabilities: [], scopes: [], local: false };
    const identity = { name: "everybody", challenge: "None", authenticate: () => Promise.resolve(ada) };
    expect(await (await fetch(await serve({ identity }))).text()).toContain("ada");
  });
});
