import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MAIN } from "../../../../test/kit/program.ts";
import { runInMemory } from "../../../../test/e2e/terminal.ts";

const TINY = fileURLToPath(new URL("../../../../test/e2e/tiny-server.ts", import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolarsenal-workflows-"));
  const tools = `export default (arsenal) => {
    const parameters = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
    arsenal.register({ name: "echo", namespace: "own", description: "Repeats a text.", parameters }, ({ text }) => ({ text }));
  };`;
  await writeFile(join(folder, "tools.mjs"), tools);
  await writeFile(
    join(folder, "arsenal.yaml"),
    JSON.stringify({
      modules: ["./tools.mjs"],
      telemetry: { enabled: false },
      state: { file: "./state.sqlite" },
      security: { self_approval: "local" },
      sources: [{ type: "workflows", name: "flows", paths: ["./*.flow.yaml"] }],
    }),
  );
  await writeFile(
    join(folder, "say.flow.yaml"),
    `name: say
description: Says a text once a person agreed.
inputs: { type: object, properties: { text: { type: string } }, required: [text] }
steps:
  - { id: ask, approval: "Say \${{ inputs.text }}?", if: inputs.text != "hi" }
  - { id: echo, tool: own.echo, needs: [ask], arguments: { text: "\${{ inputs.text }}" } }
`,
  );
});
afterAll(() => rm(folder, { recursive: true }));

const run = (...argv: string[]) => runInMemory(["workflows", ...argv], { folder });
const inputs = (text: string): string => JSON.stringify({ text });

describe("toolarsenal workflows", () => {
  it("list has each workflow, and exits 1 if a file is wrong", async () => {
    const listed = await run("list");
    expect(listed).toMatchObject({ code: 0, out: expect.stringMatching(/^flows\.say +2 steps +Says a text/) });
    await writeFile(join(folder, "wrong.flow.yaml"), "name: wrong\ndescription: Calls nothing.\nsteps: []\n");
    const wrong = await run("list", "--json");
    await rm(join(folder, "wrong.flow.yaml"));
    expect(wrong.code).toBe(1);
    expect(JSON.parse(wrong.out)).toMatchObject({
      workflows: [{ id: "flows.say" }],
      problems: [{ workflow: "wrong", message: expect.stringContaining("wrong.flow.yaml:3:1 steps: is empty.") }],
    });
  });

  it("run prints the result, and show the steps and the run", async () => {
    const ran = await run("run", "say", "--args", inputs("hi"));
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining('Output: {"text": "hi"}') });
    const shown = await run("show", "flows.say");
    expect(shown.out).toContain('  ask: asks "Say ${{ inputs.text }}?"\n      if inputs.text != "hi"\n');
    expect(shown.out).toContain("  echo: own.echo  after ask\n");
    expect(shown.out).toMatch(/Latest runs:\n {2}\S+ {2}done {2}\(local\)/);
  });

  it("run waits for an approval, which another command gives, and goes on when it is repeated", async () => {
    const waiting = await run("run", "say", "--args", inputs("bye"));
    expect(waiting).toMatchObject({ code: 1, err: expect.stringContaining("flows.say waits for approval.\n") });
    const [, id = ""] = /approvals approve (\S+)/.exec(waiting.err) ?? [];
    expect((await run("show", "say")).out).toContain(`waiting at ask, approval ${id}`);
    expect((await runInMemory(["approvals", "approve", id], { folder })).code).toBe(0);
    const ran = await run("run", "say", "--args", inputs("bye"));
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining('Output: {"text": "bye"}') });
  });

  it("run --approve answers its approvals", async () => {
    const ran = await run("run", "say", "--args", inputs("later"), "--approve");
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining('Output: {"text": "later"}') });
  });

  it("names the nearest workflow if there is none of that name", async () => {
    expect(await run("show", "flows.sya")).toMatchObject({
      code: 2,
      err: expect.stringContaining("There is no workflow flows.sya. Did you mean flows.say?"),
    });
  });

  it("doctor checks a file once the server is connected whose tools it calls", async () => {
    const config = {
      mcpServers: { tiny: { command: process.execPath, args: [TINY] } },
      telemetry: { enabled: false },
      server: { port: 0 },
      sources: [{ type: "workflows", name: "flows", paths: ["./greet.yaml"] }],
    };
    const file = (tool: string): string => `name: greet\ndescription: Says hello.\nsteps: [{ id: a, tool: ${tool} }]\n`;
    await writeFile(join(folder, "server.yaml"), JSON.stringify(config));
    await writeFile(join(folder, "greet.yaml"), file("tiny.greet"));
    const right = await runInMemory(["doctor", "--config", "server.yaml"], { folder });
    expect(right.out).toContain(`ok       flows: 1 tool from ${join(folder, "greet.yaml")}\n`);
    expect(right.out).not.toContain("is not a tool");
    expect(right.code).toBe(0);
    await writeFile(join(folder, "greet.yaml"), file("tiny.great"));
    const wrong = await runInMemory(["doctor", "--config", "server.yaml"], { folder });
    expect(wrong.out.split("is not a tool")).toHaveLength(2);
    expect(wrong).toMatchObject({
      code: 1,
      out: expect.stringContaining('"tiny.great" is not a tool. Did you mean tiny.greet?'),
    });
  });

  it("doctor says how to make a TypeScript file a module, in a package of CommonJS modules", async () => {
    const own = await mkdtemp(join(folder, "commonjs-"));
    await writeFile(join(own, "package.json"), '{ "type": "commonjs" }');
    await writeFile(join(own, "flow.ts"), "export default { name: 'flow' };\n");
    await writeFile(join(own, "arsenal.yaml"), "sources: [{ type: workflows, name: flows, paths: [./flow.ts] }]\n");
    const { stdout } = spawnSync(process.execPath, [MAIN, "doctor"], { cwd: own, encoding: "utf8" });
    expect(stdout).toContain("flows.flow: module: cannot be loaded: ");
    expect(stdout).toContain('Name the file .mts or .mjs, or set "type": "module" in the nearest package.json.');
  });

  it("doctor checks the files", async () => {
    await writeFile(join(folder, "wrong.flow.yaml"), "name: wrong\ndescription: Calls nothing.\nsteps: []\n");
    const { out, code } = await runInMemory(["doctor"], { folder });
    await rm(join(folder, "wrong.flow.yaml"));
    expect(code).toBe(1);
    expect(out).toContain("steps: is empty");
  });
});
