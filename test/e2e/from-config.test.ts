import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ToolArsenal, type ToolDraft } from "../../src/index.ts";

const look: ToolDraft = {
  name: "look_around",
  description: "Looks around and says what it sees.",
  parameters: { type: "object" },
};

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "arsenal-"))));
afterAll(() => rm(folder, { recursive: true }));

async function file(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

describe("fromConfig", () => {
  const greet = `export default async (arsenal) => { await arsenal.addTool(
    { name: "greet", description: "Greets somebody by name.", parameters: { type: "object" } }, () => "hello"); };`;

  it("lets modules register, from the folder of the file", async () => {
    await file("greet.mjs", greet);
    const path = await file("greet.yaml", "modules: [./greet.mjs]\ntelemetry: { enabled: false }\n");
    await using arsenal = await ToolArsenal.fromConfig(path);
    expect((await arsenal.execute({ toolName: "greet" })).result).toBe("hello");
  });

  it("takes modules in TypeScript", async () => {
    await file("typed.ts", greet.replace("(arsenal)", "(arsenal: { addTool: Function })"));
    const path = await file("typed.yaml", "modules: [typed.ts]\ntelemetry: { enabled: false }\n");
    await using arsenal = await ToolArsenal.fromConfig(path);
    expect(arsenal.toolCount).toBe(1);
  });

  it.each([
    ["missing.mjs", undefined, "cannot be loaded"],
    ["syntax.mjs", "export default (", "cannot be loaded"],
    ["throws.mjs", "export default () => { throw new Error('boom'); };", "failed: boom"],
    ["rejects.mjs", "export default async () => { throw new Error('later'); };", "failed: later"],
    ["bad-tool.mjs", "export default (a) => a.addTool({ name: '?!' });", 'failed: Tool "?!" is refused'],
    ["nothing.mjs", "export const tools = [];", "has no default export that is a function"],
    ["object.mjs", "export default {};", "has no default export that is a function"],
  ])("names a module that is no good: %s", async (name, text, problem) => {
    if (text !== undefined) await file(name, text);
    const path = await file("bad-module.yaml", `modules: [${name}]\ntelemetry: { enabled: false }\n`);
    await expect(ToolArsenal.fromConfig(path)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`modules: ${name} ${problem}`) as string,
      details: { field: "modules", value: name, fix: expect.any(String) as string },
    });
  });

  it("closes what it opened where a module fails", async () => {
    await file("fails.mjs", "export default () => { throw new Error('boom'); };");
    const path = await file("closes.yaml", "modules: [fails.mjs]\ntelemetry: { enabled: false }\n");
    let closed = false;
    const sink = { name: "list", write: () => {}, close: async () => void (closed = true) };
    await expect(ToolArsenal.fromConfig(path, { sinks: [sink] })).rejects.toThrow("boom");
    expect(closed).toBe(true);
  });

  it("takes variables from the environment it is given", async () => {
    const path = await file(
      "variables.yaml",
      "execution:\n  on_failure: ${ON_FAILURE}\ntelemetry: { enabled: false }\n",
    );
    await using arsenal = await ToolArsenal.fromConfig(path, { environment: { ON_FAILURE: "throw" } });
    await expect(arsenal.execute({ toolName: "nowhere" })).rejects.toMatchObject({ code: "TOOL_NOT_FOUND" });
  });

  it("keeps tools in the snapshot between runs; they run once they are registered again", async () => {
    const path = await file("snapshot.yaml", "vector_store:\n  snapshot: kept.json\ntelemetry: { enabled: false }\n");
    {
      await using arsenal = await ToolArsenal.fromConfig(path);
      await arsenal.addTool(look, () => "before");
      expect(await arsenal.sync()).toBe(1);
    }
    await using arsenal = await ToolArsenal.fromConfig(path);
    const { tools } = await arsenal.retrieve({ context: { query: "look around" } });
    expect(tools.map(({ tool }) => tool.id)).toEqual(["default.look_around"]);
    expect((await arsenal.execute({ toolName: "look_around" })).error?.code).toBe("HANDLER_MISSING");
    await arsenal.addTool(look, () => "after");
    expect(await arsenal.sync()).toBe(0);
    expect((await arsenal.execute({ toolName: "look_around" })).result).toBe("after");
  });
});
