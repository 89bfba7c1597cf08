import { internalsOf } from "../../src/arsenal.ts";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createConfiguredArsenal } from "../../src/cli/arsenal/open-arsenal.ts";
import { resolveConfig } from "../../src/config/load/resolve-config.ts";
import { ToolArsenal } from "../../src/index.ts";
import { keptVectors } from "./kept-vectors.ts";
import { type Ran, runInMemory } from "./terminal.ts";

const VECTORS = "toolarsenal-tuned-2.vectors";

const keptIn = (cache: string): readonly unknown[] => keptVectors(join(cache, VECTORS));

/** A folder with a configuration of `count` tools that ranks with the tuned model, and an empty cache beside it. */
async function project({ count = 3, config = "" } = {}): Promise<{ folder: string; cache: string }> {
  const folder = await mkdtemp(join(tmpdir(), "cache-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(
    join(folder, "tools.mjs"),
    `export default async (arsenal) => {
      for (let index = 0; index < ${count}; index++)
        await arsenal.addTool({ name: "tool_" + index, description: "Does thing number " + index + " for people.", parameters: { type: "object" } });
    };`,
  );
  await writeFile(join(folder, "arsenal.yaml"), `modules: [tools.mjs]\nembedder:\n  tier: tuned\n${config}`);
  return { folder, cache: join(folder, "cache") };
}

function search(folder: string, environment: Record<string, string>, ...options: readonly string[]): Promise<Ran> {
  return runInMemory(["search", "do thing number 7", ...options], { folder, environment });
}

describe("search and the vector cache", () => {
  it("embeds a small catalog once: the second run computes nothing", async () => {
    const { folder, cache } = await project();
    const environment = { TOOLARSENAL_CACHE: cache };
    expect((await search(folder, environment)).err).toMatch(/, tuned, /);
    const kept = keptIn(cache);
    expect(kept).toHaveLength(3);
    expect((await search(folder, environment)).err).toMatch(/, tuned, /);
    expect(keptIn(cache)).toEqual(kept);
  });

  it("answers from the static tier at once when many tools are new, and from the tuned tier once they are cached", async () => {
    const { folder, cache } = await project({ count: 70 });
    const environment = { TOOLARSENAL_CACHE: cache };
    const first = await search(folder, environment);
    expect([first.code, first.out]).toEqual([0, expect.stringContaining("tool_7 ")]);
    expect(first.err).toMatch(/, (tuned\+)?static, /);
    expect(first.err).toContain("70 tools not embedded yet");
    expect(first.err).toContain("--tier tuned");

    const waited = await search(folder, environment, "--tier", "tuned");
    expect(waited.err).toMatch(/, tuned, /);
    expect(waited.err).not.toContain("not embedded yet");

    // The default never waits for 70 tools, so a tuned answer can only come from the cache.
    const kept = keptIn(cache);
    const third = await search(folder, environment);
    expect(third.err).toMatch(/, tuned, /);
    expect(third.err).not.toContain("not embedded yet");
    expect(keptIn(cache)).toEqual(kept);
  });

  it.each(["lexical", "static"])("--tier %s ranks with that tier and touches no cache", async (tier) => {
    const { folder, cache } = await project();
    const { err } = await search(folder, { TOOLARSENAL_CACHE: cache }, "--tier", tier);
    expect(err).toContain(`, ${tier}, `);
    await expect(readdir(cache)).rejects.toThrow("ENOENT");
  });

  it("refuses a tier that does not exist", async () => {
    const { folder } = await project();
    expect(await search(folder, {}, "--tier", "best")).toMatchObject({
      code: 2,
      err: expect.stringContaining("lexical, static, tuned") as string,
    });
  });

  it("answers when the cache is damaged, and repairs it", async () => {
    const { folder, cache } = await project();
    const environment = { TOOLARSENAL_CACHE: cache };
    await mkdir(cache);
    await writeFile(join(cache, VECTORS), "not a cache at all".repeat(100));
    expect(await search(folder, environment)).toMatchObject({
      code: 0,
      err: expect.stringMatching(/, tuned, /) as string,
    });
    expect(keptIn(cache)).toHaveLength(3);
  });

  it("answers when the cache cannot be written", async () => {
    const { folder } = await project();
    const environment = { TOOLARSENAL_CACHE: join(folder, "arsenal.yaml", "below") };
    expect(await search(folder, environment)).toMatchObject({
      code: 0,
      err: expect.stringMatching(/, tuned, /) as string,
    });
  });

  it.each([
    ["TOOLARSENAL_CACHE=off", "", { TOOLARSENAL_CACHE: "off" }],
    ["embedder.cache: false", "  cache: false\n", {}],
  ])("keeps nothing with %s", async (_, config, environment) => {
    const { folder, cache } = await project({ config });
    const { err } = await search(folder, { XDG_CACHE_HOME: cache, ...environment });
    expect(err).toMatch(/, tuned, /);
    await expect(readdir(cache)).rejects.toThrow("ENOENT");
  });

  it("keeps vectors in the user's cache folder by default, and in embedder.cache if it names a folder", async () => {
    const usual = await project();
    await search(usual.folder, { XDG_CACHE_HOME: usual.cache });
    expect(await readdir(join(usual.cache, "toolarsenal"))).toEqual([VECTORS]);
    const named = await project({ config: "  cache: ./vectors\n" });
    await search(named.folder, { TOOLARSENAL_CACHE: named.cache });
    expect(await readdir(join(named.folder, "vectors"))).toEqual([VECTORS]);
    await expect(readdir(named.cache)).rejects.toThrow("ENOENT");
  });
});

describe("the gateway and the vector cache", () => {
  it("embeds nothing again after a restart", async () => {
    const { cache } = await project();
    const reader = { err: { write: () => true }, environment: { TOOLARSENAL_CACHE: cache }, json: false };
    const start = async (): Promise<readonly unknown[]> => {
      // What `serve` builds from its configuration.
      await using arsenal = createConfiguredArsenal(resolveConfig({ embedder: { tier: "tuned" } }), reader);
      await arsenal.addTool({
        name: "send_mail",
        description: "Sends mail to people.",
        parameters: { type: "object" },
      });
      await internalsOf(arsenal).settled();
      return keptIn(cache);
    };
    const first = await start();
    expect(first).toHaveLength(1);
    expect(await start()).toEqual(first);
  });
});

describe("the library and the vector cache", () => {
  it.each([
    ["writes nothing unless it is configured to", {}, "ENOENT"],
    ["uses the user's cache folder with cache: true", { cache: true }, VECTORS],
  ] as const)("%s", async (_, embedder, expected) => {
    const { folder } = await project();
    vi.stubEnv("XDG_CACHE_HOME", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false }, embedder: { tier: "tuned", ...embedder } });
    await arsenal.addTool({ name: "send_mail", description: "Sends mail.", parameters: { type: "object" } });
    await internalsOf(arsenal).settled();
    const found = await readdir(join(folder, "toolarsenal")).catch(({ code }: NodeJS.ErrnoException) => [code]);
    expect(found[0]).toBe(expected);
  });
});

it("a first search right after the start uses the cached vectors, so that no destructive tool leads", async () => {
  const cache = await mkdtemp(join(tmpdir(), "cache-"));
  onTestFinished(() => rm(cache, { recursive: true, force: true }));
  const memory: readonly (readonly [name: string, description: string, destructive: boolean])[] = [
    ["create_entities", "Create multiple new entities in the knowledge graph", false],
    ["add_observations", "Add new observations to existing entities in the knowledge graph", false],
    ["delete_observations", "Delete specific observations from entities in the knowledge graph", true],
    ["search_nodes", "Search for nodes in the knowledge graph based on a query", false],
  ];
  const started = async (): Promise<ToolArsenal> => {
    const arsenal = new ToolArsenal({ telemetry: { enabled: false }, embedder: { tier: "tuned", cache } });
    for (const [name, description, destructive] of memory) {
      const tool = { namespace: "memory", name, description, annotations: { destructive } };
      await arsenal.addTool({ ...tool, parameters: { type: "object" } }, () => "done");
    }
    return arsenal;
  };
  const firstFound = async (arsenal: ToolArsenal): Promise<readonly [string, string | undefined]> => {
    const { tier, tools } = await arsenal.retrieve({ context: { query: "remember that Alice likes tea" } });
    return [tier, tools[0]?.tool.annotations.destructive === true ? "destructive" : "harmless"];
  };
  await using cold = await started();
  expect(await firstFound(cold)).toEqual(["static", "harmless"]);
  await internalsOf(cold).settled();
  await cold.close();
  await using warm = await started();
  expect(await firstFound(warm)).toEqual(["tuned", "harmless"]);
});
