import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bubblewrapSandbox } from "../../adapters/sandboxes/bubblewrap/bubblewrap.ts";
import { ToolArsenal } from "../../arsenal.ts";

const hasBubblewrap = await bubblewrapSandbox().available();

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-"));
  await mkdir(join(folder, "docs"));
  await writeFile(join(folder, "docs", "a.txt"), "hello");
});
afterAll(() => rm(folder, { recursive: true }));

async function configured(text: string): Promise<ToolArsenal> {
  const path = join(folder, "arsenal.yaml");
  await writeFile(path, `telemetry: { enabled: false }\n${text}`);
  return ToolArsenal.fromConfig(path);
}

describe("builtins by configuration", () => {
  it("are none where none are named", async () => {
    await using arsenal = await configured("builtins: { files: { roots: [./docs] } }\n");
    expect(await arsenal.listTools()).toEqual([]);
  });

  it("are there once the arsenal is, below the folder of the file", async () => {
    await using arsenal = await configured("builtins: { tools: [file-read], files: { roots: [./docs] } }\n");
    expect((await arsenal.listTools({ source: "builtin" })).map(({ id }) => id)).toEqual(["builtin.file_read"]);
    const read = (path: string) => arsenal.execute({ toolName: "file_read", arguments: { path } });
    expect(await read("a.txt")).toMatchObject({ status: "success", result: { content: "hello" } });
    expect(await read(join(folder, "arsenal.yaml"))).toMatchObject({ status: "permission_denied" });
  });

  it("are there for the first call of an arsenal made in code", async () => {
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false }, builtins: { tools: ["code-execute"] } });
    const { result } = await arsenal.execute({ toolName: "code_execute", arguments: { code: "return 6 * 7" } });
    expect(result).toMatchObject({ result: 42 });
  });

  // because bubblewrap needs its program, which this machine may not have
  it.skipIf(hasBubblewrap !== true)("run code in the sandbox that is named", async () => {
    await using arsenal = await configured("builtins: { tools: [code-execute], code: { sandbox: bubblewrap } }\n");
    const { result } = await arsenal.execute({
      toolName: "code_execute",
      arguments: { code: "return typeof process.pid" },
    });
    expect(result).toMatchObject({ result: "number" });
  });

  it("go out by the arsenal's own way, which bounds them all", async () => {
    await using arsenal = await configured(
      "builtins: { tools: [http-get] }\nsecurity: { allowed_domains: [example.com] }\n",
    );
    const { error } = await arsenal.execute({ toolName: "http_get", arguments: { url: "https://example.org/" } });
    expect(error).toMatchObject({ code: "PERMISSION_DENIED", message: expect.stringContaining("example.org") });
  });
});
