import { expect, it } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import { SURFACES } from "../../src/serve/surfaces.ts";
import { files, read } from "./project.ts";

it("documents every address that a surface shows, and lists each surface in the manifest by one line", async () => {
  await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  const gateway = await arsenal.serve({ port: 0 });
  const page = await (await fetch(gateway.url ?? "")).text();
  await gateway.close();
  const shown = [...page.matchAll(/<code>http:\/\/[^/]+(?<path>[^<]*)<\/code>/g)].map(([, path = ""]) => path);
  expect(shown).toContain("/mcp");
  const docs = files("docs/**/*.md")
    .filter((path) => path !== "docs/guides/surfaces.md")
    .map(read)
    .join("\n");
  expect(shown.filter((path) => !docs.includes(path))).toEqual([]);
  const lines = read("src/serve/surfaces.ts").match(/^ {2}"?[\w-]+"?: async \(\) => \(await import\(.*\)\)\.\w+,$/gm);
  expect(lines).toHaveLength(Object.keys(SURFACES).length);
});
