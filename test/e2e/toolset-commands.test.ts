import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ran, runInMemory } from "./terminal.ts";

const CONFIG = `
modules: [./tools.mjs]
embedder: { tier: lexical }
audit: { file: ./audit.jsonl }
toolsets:
  - name: customer-acme
    description: What Acme may use.
    include: { tools: [support.create_ticket, support.close_ticket, docs.search] }
    policy: { allowed_tenants: [acme-corp] }
  - name: reading
    include: { categories: [read-only] }
`;

const MODULE = `export default (arsenal) => {
  const tool = (id, rest) => {
    const [namespace, name] = id.split(".");
    arsenal.register({ namespace, name, description: "Will " + name + " for a customer ticket.", ...rest }, () => name);
  };
  tool("support.create_ticket", { capabilities: ["write_data"] });
  tool("support.delete_ticket", { capabilities: ["delete_data"] });
  tool("docs.search", { category: "read-only" });
  tool("docs.browse", { category: "read-only" });
};`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolsets-"));
  await writeFile(join(folder, "arsenal.yaml"), CONFIG);
  await writeFile(join(folder, "tools.mjs"), MODULE);
});
afterAll(() => rm(folder, { recursive: true }));

const run = (...argv: readonly string[]): Promise<Ran> => runInMemory(argv, { folder });
const json = async (...argv: readonly string[]): Promise<unknown> => JSON.parse((await run(...argv, "--json")).out);
const idsOf = (out: string): readonly string[] =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" ")[0] ?? "");

describe("toolsets", () => {
  it("list has one line a toolset, with how many tools it has", async () => {
    expect(await run("toolsets", "list")).toMatchObject({
      code: 0,
      out: "customer-acme  2 tools  What Acme may use.\nreading        2 tools\n",
    });
    expect(await json("toolsets", "list")).toMatchObject([
      { name: "customer-acme", toolCount: 2, policy: { allowedTenants: ["acme-corp"] } },
      { name: "reading", toolCount: 2, filter: { categories: ["read-only"] } },
    ]);
  });

  it("show has one line a tool, and names the ids that no tool has", async () => {
    const { code, out, err } = await run("toolsets", "show", "customer-acme");
    expect([code, idsOf(out)]).toEqual([0, ["docs.search", "support.create_ticket"]]);
    expect(err).toContain("2 tools. Named, but not in the catalog: support.close_ticket\n");
    expect(await json("toolsets", "show", "customer-acme")).toMatchObject({
      name: "customer-acme",
      tools: ["docs.search", "support.create_ticket"],
      missing: ["support.close_ticket"],
    });
  });

  it("says which name is unknown, and the nearest", async () => {
    const message = 'TOOLSET_NOT_FOUND There is no toolset "custmer-acme". Did you mean "customer-acme"?\n';
    for (const line of [
      ["toolsets", "show", "custmer-acme"],
      ["list", "--toolset", "custmer-acme"],
      ["search", "ticket", "--toolset", "custmer-acme"],
      ["call", "docs.search", "--toolset", "custmer-acme"],
      ["export", "--dialect", "openai", "--toolset", "custmer-acme"],
    ])
      expect(await run(...line)).toMatchObject({ code: 1, out: "", err: expect.stringContaining(message) as string });
  });

  it("says how to define one, if there is none", async () => {
    const other = await mkdtemp(join(tmpdir(), "no-toolsets-"));
    const { code, out, err } = await runInMemory(["toolsets", "list"], { folder: other });
    await rm(other, { recursive: true });
    expect([code, out, err]).toEqual([0, "", expect.stringContaining("No toolsets: define them under toolsets in")]);
  });
});

describe("doctor", () => {
  it("counts the tools of each toolset, and warns of ids that no tool has and of toolsets without tools", async () => {
    const path = join(folder, "more.yaml");
    await writeFile(path, `${CONFIG}  - { name: nothing, include: { namespaces: [jira] } }\n`);
    const { code, out } = await run("doctor", "--running", "--config", path);
    expect(code).toBe(0);
    expect(out).toContain("ok       toolset reading: 2 tools\n");
    expect(out).toContain(
      "warning  toolset customer-acme: names support.close_ticket, which no tool has\n         Check the ids with: toolarsenal list\n",
    );
    expect(out).toContain(
      "warning  toolset nothing: has no tools\n         Check include and exclude, and that its sources are connected.\n",
    );
  });
});

describe("--toolset", () => {
  it("narrows list, search and export to the tools of the toolset", async () => {
    const through = ["--toolset", "customer-acme"];
    expect(idsOf((await run("list", ...through)).out)).toEqual(["docs.search", "support.create_ticket"]);
    const { out, err } = await run("search", "delete the customer ticket", ...through);
    expect(out).toContain("support.create_ticket");
    expect(out).not.toContain("delete_ticket");
    expect(err).toMatch(/ of 2 tools, /);
    expect(await json("export", "--dialect", "openai", ...through)).toMatchObject({
      tools: [{ function: { name: "docs-search" } }, { function: { name: "support-create_ticket" } }],
    });
    const queried = await json("export", "--dialect", "openai", "--query", "delete the customer ticket", ...through);
    expect(JSON.stringify(queried)).not.toContain("delete_ticket");
  });

  it("runs a tool of the toolset, and finds no other", async () => {
    expect(await json("call", "docs.search", "--toolset", "reading")).toMatchObject({ result: "search" });
    const { code, err } = await run("call", "support.create_ticket", "--toolset", "reading");
    expect([code, err]).toEqual([1, expect.stringContaining('No tool "support.create_ticket" is registered.')]);
    const audited = await run("audit", "tail");
    expect(audited.out).toMatch(/docs\.search .* reading\n/);
  });
});

describe("list", () => {
  it("narrows to a category and to a risk level [002-registry-filter]", async () => {
    expect(idsOf((await run("list", "--category", "read-only")).out)).toEqual(["docs.browse", "docs.search"]);
    expect(idsOf((await run("list", "--risk", "high")).out)).toEqual(["support.delete_ticket"]);
    expect((await run("list", "--risk", "high", "--category", "read-only")).out).toBe("");
    expect(await run("list", "--risk", "mild")).toMatchObject({
      code: 2,
      err: expect.stringContaining('--risk cannot be "mild". Use one of low, medium, high, critical.') as string,
    });
  });
});
