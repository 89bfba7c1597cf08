import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKeys } from "../../src/adapters/identity/index.ts";
import { createClient } from "../../src/client/index.ts";
import { createPrincipal } from "../../src/guard/principal.ts";
import { createKeyText, hashOfKey } from "../../src/adapters/identity/api-keys/key-file.ts";
import { ToolArsenal } from "../../src/index.ts";
import { runInMemory } from "./terminal.ts";

const TINY = fileURLToPath(new URL("./tiny-server.ts", import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolarsenal-programs-"));
});
afterAll(() => rm(folder, { recursive: true }));

const CODE = `const input: { text: string } = { text: "hi" };\nawait own.echo(input)`;

const KEYS = { writer: createKeyText("writer"), boss: createKeyText("boss"), rival: createKeyText("rival") };

describe("saved programs over REST", () => {
  const arsenal = new ToolArsenal({
    embedder: { tier: "lexical" },
    telemetry: { enabled: false },
  });
  const parameters = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;
  arsenal.register({ name: "echo", namespace: "own", description: "Repeats a text.", parameters }, ({ text }) => text);
  let url: string;
  beforeAll(async () => {
    const identity = apiKeys({
      keys: Object.entries(KEYS).map(([id, key]) => {
        const roles = id === "writer" ? [] : ["operator"];
        const tenant = id === "rival" ? { tenant: "rival" } : {};
        return { id, hash: hashOfKey(key), principal: createPrincipal({ id, roles, scopes: ["*"], ...tenant }) };
      }),
    });
    ({ url = "" } = await arsenal.serve({ port: 0, identity }));
  });
  afterAll(() => arsenal.close());
  const as = (apiKey: string) => createClient({ url, apiKey });

  it("are proposed by a caller, accepted by an operator, called like any tool, and removed", async () => {
    const [writer, boss, rival] = [as(KEYS.writer), as(KEYS.boss), as(KEYS.rival)];
    const { runId, value } = await writer.runCode({ code: CODE, input: { text: "given" } });
    expect(value).toBe("given");
    const description = "Repeats a text through a program.";
    const proposed = await writer.programs.save({ runId, name: "repeat", description });
    expect(proposed).toMatchObject({ status: "proposed", savedBy: "writer", tools: ["own.echo"] });
    expect(await rival.programs.list()).toEqual({ programs: [] });
    await expect(rival.programs.save({ runId, name: "stolen", description })).rejects.toThrow("you may not see it");
    await expect(writer.programs.accept("repeat")).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await boss.programs.accept("repeat", { digest: proposed.digest })).toMatchObject({ acceptedBy: "boss" });
    const ran = await writer.execute({ toolName: "programs.repeat", arguments: { text: "through REST" } });
    expect(ran).toMatchObject({ status: "success", result: "through REST" });
    const { runs } = await writer.runs.list({ limit: 1 });
    expect(runs).toMatchObject([{ kind: "program", title: "programs.repeat", tool: "programs.repeat", depth: 1 }]);
    await expect(writer.programs.remove("repeat")).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    await boss.programs.remove("repeat");
    await expect(boss.programs.get("repeat")).rejects.toMatchObject({ code: "TOOL_NOT_FOUND" });
    expect(await writer.getTool("repeat", "programs")).toBeUndefined();
  });
});

describe("toolarsenal programs", () => {
  beforeAll(async () => {
    const tools = `export default (arsenal) => {
      const parameters = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
      arsenal.register({ name: "echo", namespace: "own", description: "Repeats a text.", parameters }, ({ text }) => text);
    };`;
    await writeFile(join(folder, "tools.mjs"), tools);
    const config = { modules: ["./tools.mjs"], telemetry: { enabled: false }, state: { file: "./state.sqlite" } };
    await writeFile(join(folder, "arsenal.yaml"), JSON.stringify(config));
    await writeFile(
      join(folder, "memory.yaml"),
      JSON.stringify({ modules: ["./tools.mjs"], telemetry: { enabled: false } }),
    );
    await writeFile(join(folder, "repeat.ts"), CODE);
    await writeFile(join(folder, "broken.ts"), "null.x");
  });
  const run = (...argv: string[]) => runInMemory(argv, { folder });

  it("save runs a file and makes it a tool, which other commands list, call, show and remove", async () => {
    const saved = await run("programs", "save", "repeat", "repeat.ts", "--description", "Repeats a text.");
    expect(saved).toMatchObject({ code: 0, err: expect.stringContaining("programs.repeat is a tool now.") });
    expect((await run("programs", "list")).out).toMatch(/^programs\.repeat +accepted +local +Repeats a text\./);
    const called = await run("call", "programs.repeat", "--args", '{"text":"again"}');
    expect(called).toMatchObject({ code: 0, out: expect.stringContaining("again") });
    const shown = await run("programs", "show", "repeat");
    expect(shown.out).toContain("Calls: own.echo");
    expect(shown.out).toContain("   2  await own.echo(input)");
    const wrong = await run("programs", "show", "repaet");
    expect(wrong).toMatchObject({ code: expect.any(Number), err: expect.stringContaining("Did you mean repeat?") });
    expect(await run("programs", "remove", "repeat")).toMatchObject({ code: 0 });
    expect((await run("programs", "list", "--json")).out).toContain('"programs": []');
  });

  it("are tools of a command that starts the server whose tools they call", async () => {
    const config = {
      mcpServers: { tiny: { command: process.execPath, args: [TINY] } },
      telemetry: { enabled: false },
      security: { pins: "off" },
      state: { file: "./of-server.sqlite" },
    };
    await writeFile(join(folder, "server.yaml"), JSON.stringify(config));
    await writeFile(join(folder, "hello.ts"), "await tiny.greet({})");
    const of = (...argv: string[]) => run(...argv, "--config", "server.yaml");
    await of("programs", "save", "hello", "hello.ts", "--description", "Says hello.");
    expect(await of("call", "programs.hello")).toMatchObject({ code: 0, out: expect.stringContaining("Hello") });
  });

  it("save refuses a program that fails, and a state in memory", async () => {
    const broken = await run("programs", "save", "broken", "broken.ts", "--description", "Fails.");
    expect(broken).toMatchObject({ code: 1, err: expect.stringContaining("Nothing was saved") });
    const kept = await run("programs", "list", "--config", "memory.yaml");
    expect(kept.err).toContain("Saved programs are kept in memory");
  });

  it("why shows a saved program by its tool, and the depth of the one that it calls", async () => {
    await run("programs", "save", "repeat", "repeat.ts", "--description", "Repeats a text.");
    await writeFile(join(folder, "outer.ts"), 'await programs.repeat({ text: "deep" })');
    const outer = JSON.parse((await run("run", "outer.ts", "--json")).out) as {
      readonly traceId: string;
      readonly value: unknown;
    };
    expect(outer.value).toBe("deep");
    const { out } = await run("why", outer.traceId);
    expect(out).toMatch(/Program \S+\n[^\n]*done\n/);
    expect(out).toMatch(/Saved program \S+\n[^\n]*done, programs\.repeat, depth 2\n/);
  });
});
