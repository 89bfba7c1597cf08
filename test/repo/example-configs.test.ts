import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { createConfiguredArsenal } from "../../src/cli/arsenal/open-arsenal.ts";
import { loadConfig } from "../../src/config/load/load-config.ts";
import { configuredSources } from "../../src/config/load/configured-sources.ts";
import { files, read, ROOT } from "./project.ts";

const configs = files("examples/*.yaml").filter((path) => read(path).includes("config.schema.json"));

describe("example configurations", () => {
  it("are there", () => expect(configs.length).toBeGreaterThan(3));

  it.each(configs)("%s loads and runs in this release", async (path) => {
    // Every variable the file names and gives no default for.
    const names = [...read(path).matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => name);
    const environment = Object.fromEntries(names.map((name) => [name, `${name.toLowerCase()}-${"x".repeat(32)}`]));
    const { config, problems } = await loadConfig(resolve(ROOT, path), environment);
    expect([...problems, ...(await configuredSources(config)).problems]).toEqual([]);
    // Everything but what would write beside the examples.
    const { snapshot: _snapshot, ...vectorStore } = config.vectorStore;
    const { file: _file, ...audit } = config.audit;
    await using arsenal = createConfiguredArsenal(
      { ...config, state: {}, vectorStore, audit },
      {
        err: { write: () => 0 },
        environment,
        json: false,
      },
    );
    expect(arsenal.toolCount).toBe(0);
  });
});
