import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { createClient } from "../../../src/client/index.ts";
import { startLegacyServer } from "../../mcp/upstream-server.ts";
import { operate, type OperatedGateway } from "./operated-gateway.ts";

const CHATTY = fileURLToPath(new URL("../chatty-server.ts", import.meta.url));
const TOKEN = "sk-chatty-7f3a9b2c4d5e6f708192";

const chatty = (...args: readonly string[]) => ({
  name: "chatty",
  transport: {
    kind: "stdio" as const,
    command: process.execPath,
    args: [CHATTY, ...args],
    env: { CHATTY_TOKEN: TOKEN },
  },
});

const withChatty = (): Promise<OperatedGateway> =>
  operate({}, { local: true, fill: (arsenal) => arsenal.addMcpServer(chatty()) });

async function textsOf(gateway: OperatedGateway, name = "chatty", query = ""): Promise<readonly string[]> {
  const { body } = await gateway.ask("olga", "GET", `/ensembles/${name}/log${query}`);
  return body.lines.map(({ from, text }: { from: string; text: string }) => `${from}: ${text}`);
}

describe("the log of a server", () => {
  it("has what a program writes to stderr, without terminal escapes and secrets", async () => {
    const gateway = await withChatty();
    const { status, body } = await gateway.ask("olga", "GET", "/ensembles/chatty/log");
    expect(status).toBe(200);
    expect(body.lines).toContainEqual({
      id: expect.any(Number),
      at: expect.any(Number),
      from: "stderr",
      text: "chatty is starting",
    });
    expect(JSON.stringify(body)).toContain("it uses the token");
    expect(JSON.stringify(body)).not.toContain(TOKEN);
    expect(JSON.stringify(body)).not.toContain("u001b");
  });

  it("has the messages that servers send by MCP, over stdio and HTTP, also those about a call that relays them", async () => {
    const server = await startLegacyServer();
    onTestFinished(() => server.close());
    const gateway = await withChatty();
    await gateway.arsenal.addMcpServer({ name: "notes", transport: { kind: "http", url: server.url } });
    await gateway.arsenal.execute({ toolName: "chatty.greet" });
    const { body } = await gateway.ask("olga", "GET", "/ensembles/chatty/log");
    const sent = body.lines.find(({ from }: { from: string }) => from === "mcp");
    expect(sent).toMatchObject({ level: "warning", text: expect.stringMatching(/^greeter: \{"greeted":"/) });
    expect(sent.text).not.toContain(TOKEN);
    await gateway.arsenal.execute({
      toolName: "notes.report",
      arguments: { text: "half of it is done" },
      onProgress: () => {},
    });
    expect(await textsOf(gateway, "notes")).toContain("mcp: half of it is done");
  });

  it("has the lines that a program wrote before it failed to connect, also if it was not added for that", async () => {
    const gateway = await operate({}, { local: true });
    expect((await gateway.ask("olga", "POST", "/ensembles", { type: "mcp", ...chatty("fail") })).status).toBe(422);
    const lines = await textsOf(gateway);
    expect(lines).toContain("stderr:     import pandas");
    expect(lines).toContain("stderr: ModuleNotFoundError: No module named 'pandas'");
    expect(lines.at(-1)).toMatch(/^gateway: .*exited with code 1/);
    const again = lines.findIndex((line) => line.includes("connecting again without the probe"));
    expect([lines[again - 1], lines[again + 1]]).toEqual([
      "stderr: ModuleNotFoundError: No module named 'pandas'",
      "stderr: chatty is starting",
    ]);
    expect((await gateway.ask("olga", "GET", "/ensembles")).body.ensembles).toEqual([]);
    expect((await gateway.ask("olga", "GET", "/ensembles/chaty/log")).body).toMatchObject({
      status: 404,
      code: "ENSEMBLE_NOT_FOUND",
    });
  });

  it("is forgotten with a server that was added in the end, and then removed", async () => {
    const gateway = await operate({}, { local: true });
    await gateway.ask("olga", "POST", "/ensembles", { type: "mcp", ...chatty("fail") });
    expect((await gateway.ask("olga", "POST", "/ensembles", { type: "mcp", ...chatty() })).status).toBe(201);
    expect(await textsOf(gateway)).not.toContain("stderr: ModuleNotFoundError: No module named 'pandas'");
    await gateway.ask("olga", "DELETE", "/ensembles/chatty");
    expect((await gateway.ask("olga", "GET", "/ensembles/chatty/log")).status).toBe(404);
  });

  it("goes on over a disconnect and a connect, and is read on from a line", async () => {
    const gateway = await withChatty();
    const client = createClient({ url: gateway.url.replace("/api/v1", "") });
    const before = await client.ensembles.log("chatty");
    await client.ensembles.disconnect("chatty");
    await client.ensembles.connect("chatty");
    const after = before.at(-1)?.id ?? 0;
    const texts = (await client.ensembles.log("chatty", { after })).map(({ from, text }) => `${from}: ${text}`);
    expect(texts[0]).toBe("gateway: disconnected");
    expect(texts).toContain("stderr: chatty is starting");
    expect(texts.at(-1)).toMatch(/^gateway: connected/);
    expect((await client.ensembles.log("chatty")).length).toBe(before.length + texts.length);
  });

  it("has last words that operators of a tenant do not see in the state of a server that failed", async () => {
    const last = "chatty gives up on the call of acme";
    const program = `process.stderr.write(${JSON.stringify(`${last}\n`)}, () => process.exit(3))`;
    const transport = { kind: "stdio" as const, command: process.execPath, args: ["--eval", program] };
    const gateway = await operate(
      {},
      { fill: async (arsenal) => void (await arsenal.addMcpServer({ name: "brief", transport }).catch(() => {})) },
    );
    for (const path of ["/ensembles", "/ensembles/brief", "/stats"]) {
      expect(JSON.stringify((await gateway.ask("olga", "GET", path)).body)).toContain(last);
      const { status, body } = await gateway.ask("nora", "GET", path);
      expect([status, JSON.stringify(body).includes("acme")]).toEqual([200, false]);
    }
  });

  it("is for operators of the whole gateway: it may hold what the calls of any tenant led to", async () => {
    const gateway = await operate({}, { fill: (arsenal) => arsenal.addMcpServer(chatty()) });
    expect((await gateway.ask("olga", "GET", "/ensembles/chatty/log")).status).toBe(200);
    for (const who of ["nora", "guest", "ada"] as const)
      expect((await gateway.ask(who, "GET", "/ensembles/chatty/log")).body).toMatchObject({
        status: 403,
        code: "PERMISSION_DENIED",
      });
  });
});
