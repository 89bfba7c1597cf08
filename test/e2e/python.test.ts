import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ToolArsenal } from "../../src/arsenal.ts";
import { createDemoArsenal } from "../../src/cli/demo/create-demo-arsenal.ts";
import { read } from "../repo/project.ts";

let arsenal: ToolArsenal;
let url: string;
beforeAll(async () => {
  arsenal = await createDemoArsenal();
  ({ url = "" } = await arsenal.serve({ port: 0 }));
});
afterAll(() => arsenal.close());

/** Why the programs cannot run, which is printed; undefined if they can. Continuous integration must have Python. */
function pythonMissing(): string | undefined {
  if (spawnSync("python3", ["--version"]).status === 0) return undefined;
  const why = "python3 is not installed";
  if (process.env["CI"] === "true") throw new Error(why);
  process.stderr.write(`docs/guides/python.md is not tested: ${why}\n`);
  return why;
}

const programs = [...read("docs/guides/python.md").matchAll(/```python\n([^]*?)```/g)].map(
  ([, program = ""]) => program,
);

async function run(program: string, environment: NodeJS.ProcessEnv = {}): Promise<object> {
  const python = spawn("python3", ["-c", program], {
    env: { PATH: process.env["PATH"], TOOLARSENAL_URL: url, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [status]] = await Promise.all([
    text(python.stdout),
    text(python.stderr),
    once(python, "exit") as Promise<[number]>,
  ]);
  return { status, stdout, stderr };
}

// because not every machine has Python; with CI=true its absence fails.
describe.skipIf(pythonMissing() !== undefined)("the programs of docs/guides/python.md", () => {
  it("are one for REST and one for MCP", () => expect(programs).toHaveLength(2));

  it("find and call a tool over REST", async () => {
    expect(await run(programs[0] ?? "")).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^\['crm\.find_customer'.*\]\nsuccess Dana Whitfield\n$/) as unknown,
      stderr: "",
    });
  });

  it("show the code and the message of an error", async () => {
    const program = `${programs[0] ?? ""}\npost("/execute", {"toolName": "crm.nobody"})\n`;
    expect(await run(program)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("RuntimeError: TOOL_NOT_FOUND: ") as unknown,
    });
  });

  it("find and call a tool over MCP", async () => {
    expect(await run(programs[1] ?? "")).toEqual({
      status: 0,
      stdout: expect.stringMatching(/find_relevant_tools[^]*crm-find_customer[^]*Dana Whitfield/) as unknown,
      stderr: "",
    });
  });
});
