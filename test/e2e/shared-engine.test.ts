import { describe, expect, it } from "vitest";
import { localOperator, type Principal, ToolArsenal } from "../../src/index.ts";
import { memoryEngine } from "../../src/adapters/engines/memory.ts";
import { rulesPolicy } from "../../src/adapters/policies/rules/rules.ts";
import type { CatalogEngine } from "../../src/catalog/catalog-engine.port.ts";

const quiet = { telemetry: { enabled: false }, embedder: { tier: "lexical" } } as const;

function draft(id: string, description = `Does ${id} for somebody.`, tags: readonly string[] = []) {
  const [namespace = "", name = ""] = id.split(".");
  return { name, namespace, description, tags, parameters: { type: "object", properties: {} } } as const;
}

/** An engine that two arsenals use, as two processes would use a database; neither closes it for the other. */
function shared(): CatalogEngine {
  return { ...memoryEngine(), close: async () => {} };
}

describe("tools that another process registered", () => {
  it("are found, listed, got and counted, and a call says that nothing here runs them", async () => {
    const engine = shared();
    await using there = new ToolArsenal({ ...quiet, engine });
    await there.addTool(draft("mail.send", "Sends a letter."), () => "sent");
    await there.sync();
    await using here = new ToolArsenal({ ...quiet, engine });
    await here.addTool(draft("crm.find", "Finds a customer."), () => "found");

    expect((await here.listTools()).map(({ id }) => id)).toEqual(["crm.find", "mail.send"]);
    expect((await here.getTool("send", "mail"))?.id).toBe("mail.send");
    expect(here.toolCount).toBe(2);
    const { tools } = await here.retrieve({ context: { query: "send a letter" } });
    expect(tools[0]?.tool.id).toBe("mail.send");
    for (const toolName of ["mail.send", "send", "mail-send"]) {
      expect((await here.execute({ toolName })).error?.message).toContain(
        "mail.send is in the catalog, but has no handler",
      );
    }
    expect((await here.execute({ toolName: "crm.find" })).result).toBe("found");
    expect((await here.execute({ toolName: "mail.sent" })).error?.message).toContain('Did you mean "mail.send"?');
  });

  it("are deleted for everybody, and make a bare name ambiguous", async () => {
    const engine = shared();
    await using there = new ToolArsenal({ ...quiet, engine });
    await there.addTool(draft("mail.send"), () => "sent");
    await there.sync();
    await using here = new ToolArsenal({ ...quiet, engine });
    await here.addTool(draft("post.send"), () => "posted");
    expect((await here.execute({ toolName: "send" })).error?.message).toContain("is the name of 2 tools");
    expect(await here.deleteTool("send", "mail")).toBe(true);
    expect(await here.deleteTool("send", "mail")).toBe(false);
    expect((await here.execute({ toolName: "send" })).result).toBe("posted");
    expect((await there.listTools()).map(({ id }) => id)).toEqual(["post.send"]);
  });

  it("keep their ids: a source whose tool would have the same one gets another", async () => {
    const engine = shared();
    await using there = new ToolArsenal({ ...quiet, engine });
    await there.addTool(draft("files.read"), () => "there");
    await there.sync();
    await using here = new ToolArsenal({ ...quiet, engine });
    await here.add({
      name: "files",
      kind: "mcp",
      connect: async () => {},
      list: async () => [{ draft: { name: "read", description: "Reads a file." }, handler: () => "here" }],
      disconnect: async () => {},
    });
    const ids = (await here.listTools()).map(({ id }) => id);
    expect(ids).toEqual(["files.read", expect.stringMatching(/^files\.read_[0-9a-f]{8}$/)]);
    await here.remove("files");
    expect((await here.listTools()).map(({ id }) => id)).toEqual(["files.read"]);
  });

  it("leave what is registered here callable while the engine fails", async () => {
    const engine = shared();
    let broken = false;
    const failing: CatalogEngine = {
      ...engine,
      list: (query) => (broken ? Promise.reject(new Error("away")) : engine.list(query)),
    };
    await using arsenal = new ToolArsenal({ ...quiet, engine: failing });
    await arsenal.addTool(draft("crm.find"), () => "found");
    broken = true;
    expect((await arsenal.execute({ toolName: "find" })).result).toBe("found");
  });
});

describe("filters as data", () => {
  it("narrow what is listed", async () => {
    await using arsenal = new ToolArsenal(quiet);
    await arsenal.add([
      { tool: draft("a.one", "Does one thing.", ["x"]) },
      { tool: draft("a.two", "Does two things.", ["y"]) },
      { tool: draft("b.three", "Does three things.", ["x", "y"]) },
    ]);
    const listed = async (filter: NonNullable<Parameters<ToolArsenal["listTools"]>[0]>["filter"]): Promise<string[]> =>
      (await arsenal.listTools(filter ? { filter } : {})).map(({ id }) => id);
    expect(await listed({ tags: ["x"] })).toEqual(["a.one", "b.three"]);
    expect(await listed({ all: [{ tags: ["x"] }, { not: { namespaces: ["a"] } }] })).toEqual(["b.three"]);
    expect((await arsenal.listTools({ namespace: "a", filter: { tags: ["y"] } })).map(({ id }) => id)).toEqual([
      "a.two",
    ]);
  });

  it("let a policy hide tools from counts, lists and search alike", async () => {
    const policy = rulesPolicy(
      "version: 1\nrules:\n  - { id: no-payroll, effect: deny, namespaces: [payroll], principals: [guest] }",
    );
    const guest: Principal = localOperator({ id: "guest", roles: [], local: false });
    await using arsenal = new ToolArsenal({ ...quiet, policy });
    await arsenal.add(
      ["mail.send_letter", "payroll.send_salary", "payroll.send_bonus"].map((id) => ({ tool: draft(id) })),
    );
    const query = { context: { query: "send a letter" }, scoreThreshold: 0 };
    const seen = await arsenal.retrieve({ ...query, principal: guest });
    expect(seen.tools.map(({ tool }) => tool.id)).toEqual(["mail.send_letter"]);
    expect([seen.candidateCount, seen.filteredCount]).toEqual([1, 0]);
    expect((await arsenal.listTools({ principal: guest })).map(({ id }) => id)).toEqual(["mail.send_letter"]);
    const all = await arsenal.retrieve(query);
    expect([all.candidateCount, all.filteredCount]).toEqual([3, 0]);
  });
});
