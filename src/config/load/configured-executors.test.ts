import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { ToolArsenal } from "../../arsenal.ts";
import type { ToolArsenalConfig } from "../config.ts";
import { loadConfig } from "./load-config.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "arsenal-"))));
afterAll(() => rm(folder, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

const DOUBLE = {
  name: "double",
  description: "Doubles a number, wherever it runs.",
  parameters: { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
} as const;
const quiet = { telemetry: { enabled: false } } as const;

/** Whether a function can see the process it was registered in: true where nothing confines it. */
const seesProcess = (): boolean => typeof process === "object";

async function seen(config: ToolArsenalConfig): Promise<unknown> {
  await using arsenal = new ToolArsenal({ ...quiet, ...config });
  arsenal.register({ ...DOUBLE, name: "look", parameters: { type: "object" } }, seesProcess);
  return (await arsenal.execute({ toolName: "look", arguments: {} })).result;
}

async function written(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

describe("functions under execution.enable_sandbox", () => {
  it("run in the sandbox that is named, and in this process without [000-9.1-sandbox] [000-5.4-subprocess]", async () => {
    expect(await seen({ execution: { enableSandbox: true, sandboxType: "isolate" } })).toBe(false);
    expect(await seen({ execution: { sandboxType: "isolate" } })).toBe(true);
  });

  it("that cannot be moved there fail, and do not run unconfined", async () => {
    await using arsenal = new ToolArsenal({ ...quiet, execution: { enableSandbox: true, sandboxType: "isolate" } });
    let runs = 0;
    arsenal.register(DOUBLE, ({ x }) => {
      runs += 1;
      return x * 2;
    });
    expect(await arsenal.execute({ toolName: "double", arguments: { x: 21 } })).toMatchObject({
      status: "failure",
      error: { message: expect.stringContaining("runs") },
    });
    expect(runs).toBe(0);
  });

  it("of a module that a configuration names run there too", async () => {
    await written(
      "tools.mjs",
      `export default (arsenal) => arsenal.register(${JSON.stringify(DOUBLE)}, ({ x }) => [x * 2, typeof process]);`,
    );
    const path = await written(
      "arsenal.yaml",
      "modules: [./tools.mjs]\ntelemetry: { enabled: false }\nexecution: { enable_sandbox: true, sandbox_type: isolate }\n",
    );
    await using arsenal = await ToolArsenal.fromConfig(path);
    expect((await arsenal.execute({ toolName: "double", arguments: { x: 21 } })).result).toEqual([42, "undefined"]);
  });

  it("are ended by the deadline of the call, as outside of a sandbox", async () => {
    await using arsenal = new ToolArsenal({ ...quiet, execution: { enableSandbox: true, sandboxType: "isolate" } });
    arsenal.register({ ...DOUBLE, timeoutMs: 300 }, () => {
      const end = Date.now() + 3_000;
      while (Date.now() < end);
    });
    expect(await arsenal.execute({ toolName: "double", arguments: { x: 1 } })).toMatchObject({ status: "timeout" });
  });
});

describe("a sandbox that is not on this machine", () => {
  const message = (field: string): string =>
    `${field} is docker, which does not work on this machine. docker cannot be started. Install Docker, or use isolate.`;

  it.each([
    ["execution.sandbox_type", "execution: { enable_sandbox: true, sandbox_type: docker }"],
    ["builtins.code.sandbox", "builtins: { tools: [code-execute], code: { sandbox: docker } }"],
  ])("is told with the rest of the configuration, with the fix: %s", async (field, text) => {
    vi.stubEnv("PATH", folder);
    const path = await written("absent.yaml", text);
    await expect(loadConfig(path, {})).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: message(field),
      details: { field, value: "docker", fix: "docker cannot be started. Install Docker, or use isolate." },
    });
  });

  it("is told by the first thing that is asked of an arsenal made in code", async () => {
    vi.stubEnv("PATH", folder);
    await using arsenal = new ToolArsenal({ ...quiet, execution: { enableSandbox: true, sandboxType: "docker" } });
    await expect(arsenal.listTools()).rejects.toMatchObject({ message: message("execution.sandbox_type") });
  });

  it("is not asked for where it is not in use", async () => {
    vi.stubEnv("PATH", folder);
    await using arsenal = new ToolArsenal({ ...quiet, execution: { sandboxType: "docker" } });
    expect(await arsenal.listTools()).toEqual([]);
  });
});
