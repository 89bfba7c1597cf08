import { describe, expect, it } from "vitest";
import type { Source } from "../../src/adapters/sources/index.ts";
import type { Arsenal } from "../../src/client/index.ts";
import { ArsenalError, ToolArsenal, type ToolDraft } from "../../src/index.ts";
import { sampleTools } from "../../src/testing/index.ts";
import { answerJson, httpAnswers } from "../doubles/http-answers.ts";
import { ARSENALS, add, look } from "./opened.ts";

/** How tools get into an arsenal and out of it. */
describe.each(ARSENALS)("an arsenal, %s:", (_where, open) => {
  describe("registering", () => {
    it("adds a tool from its definition alone, which can be found but not run [000-14-add-tool] [000-6.3-handler-missing]", async () => {
      await using opened = await open();
      const { arsenal } = opened;
      const { id } = await arsenal.addTool(add);
      const { tools } = await arsenal.retrieve({ context: { query: "add two numbers" } });
      expect(tools.map(({ tool }) => tool.id)).toEqual([id]);
      const result = await arsenal.execute({ toolName: id, arguments: { a: 1, b: 2 } });
      expect(result.error?.code).toBe("HANDLER_MISSING");
    });

    it("refuses a tool that breaks a rule, and says which, what and how to fix it", async () => {
      await using opened = await open();
      await expect(opened.arsenal.addTool({ ...add, version: "latest" })).rejects.toMatchObject({
        name: "ArsenalError",
        code: "TOOL_INVALID",
        message: expect.stringContaining("latest") as string,
        details: { field: "version", value: "latest", fix: expect.any(String) as string },
      });
    });

    it("registers the good tools of a batch and reports the bad ones [000-14-batch]", async () => {
      await using opened = await open();
      const { arsenal } = opened;
      const outcome = await arsenal.add([
        { tool: { ...look, name: "one" } },
        { tool: { ...look, name: "?!" } },
        { tool: { ...look, name: "bad", version: "latest" } },
        { tool: { ...look, name: "four" } },
      ]);
      expect(outcome.registered.map(({ id }) => id)).toEqual(["default.one", "default.four"]);
      expect(outcome.rejected).toMatchObject([
        { index: 1, name: "?!", error: { name: "ArsenalError", code: "TOOL_INVALID" } },
        { index: 2, name: "bad", error: { message: expect.stringContaining("latest") as string } },
      ]);
      expect(await arsenal.toolCount).toBe(2);
    });

    it("indexes what is pending, says how much was new, and does nothing again [000-14-sync] [000-14-tool-count]", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      const register = (): void => {
        for (const tool of sampleTools()) host.register(draftOf(tool), () => "done");
      };
      register();
      expect(await arsenal.toolCount).toBe(5);
      expect(await arsenal.sync()).toBe(5);
      register();
      expect(await arsenal.sync()).toBe(0);
      expect(await arsenal.toolCount).toBe(5);
    });

    it("replaces a tool that is registered again [000-14-replace]", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      await host.addTool(add, () => "old");
      await host.addTool({ ...add, version: "2.0.0" }, () => "new");
      const [tool, ...others] = await arsenal.listTools();
      expect(others).toEqual([]);
      expect(tool?.version).toBe("2.0.0");
      expect((await arsenal.execute({ toolName: "add_numbers", arguments: { a: 1, b: 1 } })).result).toBe("new");
    });

    it("gets, lists and deletes tools by name, namespace and source [000-14-get-tool] [000-14-list-tools] [000-14-delete-tool]", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      await host.addTool(add);
      await host.addTool({ ...add, namespace: "other", source: "descriptor" }, () => 1);
      expect((await arsenal.getTool("add_numbers", "maths"))?.id).toBe("maths.add_numbers");
      expect(await arsenal.getTool("add_numbers")).toBeUndefined();
      const ids = async (filter: Parameters<Arsenal["listTools"]>[0]): Promise<string[]> =>
        (await arsenal.listTools(filter)).map(({ id }) => id);
      expect(await ids({})).toEqual(["maths.add_numbers", "other.add_numbers"]);
      expect(await ids({ namespace: "other" })).toEqual(["other.add_numbers"]);
      expect(await ids({ source: "function" })).toEqual(["maths.add_numbers"]);
      expect(await arsenal.deleteTool("add_numbers", "maths")).toBe(true);
      expect(await arsenal.deleteTool("add_numbers", "maths")).toBe(false);
      expect(await ids({})).toEqual(["other.add_numbers"]);
      expect((await arsenal.retrieve({ context: { query: "add numbers" } })).tools).toHaveLength(1);
      const gone = await arsenal.execute({ toolName: "maths.add_numbers", arguments: { a: 1, b: 1 } });
      expect(gone.error?.code).toBe("TOOL_NOT_FOUND");
    });

    it("lists every tool, however many there are, ordered by id", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      const names = Array.from({ length: 250 }, (_, n) => `add_${String(n).padStart(3, "0")}`);
      await host.add(names.toReversed().map((name) => ({ tool: { ...add, name } })));
      expect((await arsenal.listTools()).map(({ name }) => name)).toEqual(names);
    });

    it("finds by exactly that name and namespace", async () => {
      await using opened = await open();
      const { arsenal } = opened;
      const tool = await arsenal.addTool({ ...look, namespace: "red.dark" });
      expect(await arsenal.getTool("look_around", "red.dark")).toEqual(tool);
      expect(await arsenal.getTool("lookAround", "red.dark")).toEqual(tool);
      expect(await arsenal.getTool("look_around")).toBeUndefined();
      expect(await arsenal.getTool("red.dark.look_around")).toBeUndefined();
    });

    it("reads tools in a provider's format and writes them in another's", async () => {
      await using opened = await open();
      const { arsenal } = opened;
      const { name, description, parameters } = add;
      const given = [{ name, description, input_schema: parameters }, { name: 5 }];
      const { registered, rejected } = await arsenal.add(given, { format: "anthropic", namespace: "claude" });
      expect(registered.map(({ id }) => id)).toEqual(["claude.add_numbers"]);
      expect(rejected).toMatchObject([{ index: 1, error: { name: "ArsenalError", code: "INPUT_INVALID" } }]);
      const exported = await arsenal.exportTools("openai", ["claude.add_numbers", "claude.nothing"]);
      expect(exported).toMatchObject({
        tools: [{ type: "function", function: { description, parameters } }],
        missing: ["claude.nothing"],
      });
      await expect(arsenal.exportTools("opnai", [])).rejects.toMatchObject({ code: "QUERY_INVALID" });
    });

    it("connects MCP servers and OpenAPI documents, whose tools run, and removes them", async () => {
      await using upstream = new ToolArsenal({ telemetry: { enabled: false } });
      upstream.register({ ...look }, () => "from the server");
      const served = await upstream.serve({ port: 0, mode: "static" });
      await using api = await httpAnswers((_request, response) => answerJson(response, 200, { pets: 3 }));
      await using opened = await open();
      const { arsenal } = opened;
      const url = `${served.url}/mcp`;
      expect(await arsenal.addMcpServer({ name: "far", transport: { kind: "http", url } })).toBe(1);
      expect(await arsenal.execute({ toolName: "far.look_around" })).toMatchObject({ status: "success" });
      const document = {
        openapi: "3.1.0",
        info: { title: "Pets", version: "1" },
        paths: { "/pets": { get: { operationId: "countPets", summary: "Counts the pets.", responses: {} } } },
      };
      expect(await arsenal.add({ type: "openapi", name: "pets", document, server: api.url })).toBe(1);
      expect((await arsenal.listTools()).map(({ id, source }) => [id, source])).toEqual([
        ["far.look_around", "mcp"],
        ["pets.count_pets", "openapi"],
      ]);
      expect((await arsenal.execute({ toolName: "pets.count_pets" })).status).toBe("success");
      for (const name of ["far", "pets"]) expect(await arsenal.remove(name)).toBe(true);
      expect(await arsenal.toolCount).toBe(0);
      await expect(arsenal.add({ type: "openapi", name: "pets", document: {} })).rejects.toBeInstanceOf(ArsenalError);
      await served.close();
    });

    it("connects other agents, whose skills are tools", async () => {
      await using agent = new ToolArsenal({ telemetry: { enabled: false } });
      agent.register({ ...look }, () => "seen");
      const served = await agent.serve({ port: 0 });
      await using opened = await open();
      const { arsenal } = opened;
      const count = await arsenal.addA2aAgent({ name: "helper", url: served.url ?? "" });
      const tools = await arsenal.listTools({ source: "a2a" });
      expect(tools.map(({ namespace }) => namespace)).toEqual(Array.from({ length: count }, () => "helper"));
      expect(count).toBeGreaterThan(0);
      const toolName = tools.find(({ name }) => name.includes("discover"))?.id ?? "";
      const found = await arsenal.execute({ toolName, arguments: { message: "look around" } });
      expect([found.status, JSON.stringify(found.result)]).toEqual([
        "success",
        expect.stringContaining("look_around") as string,
      ]);
      expect(await arsenal.remove("helper")).toBe(true);
      await expect(arsenal.addA2aAgent({ name: "helper", url: "nowhere" })).rejects.toBeInstanceOf(ArsenalError);
      await served.close();
    });

    it("keeps tools of the same name in two ensembles apart, and removes an ensemble with its tools [001-ensemble-names] [003-canonical-namespaced] [003-canonical-id]", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      for (const name of ["red", "blue"]) await host.add(sourceOf(name, ["paint"]));
      expect((await arsenal.execute({ toolName: "red.paint" })).result).toBe("red:paint");
      expect((await arsenal.execute({ toolName: "blue.paint" })).result).toBe("blue:paint");
      const which = await arsenal.execute({ toolName: "paint" });
      expect(which.error?.code).toBe("TOOL_NOT_FOUND");
      expect(which.error?.message).toContain("red.paint");
      expect(which.error?.message).toContain("blue.paint");
      expect(await arsenal.remove("red")).toBe(true);
      expect(await arsenal.remove("red")).toBe(false);
      expect((await arsenal.listTools()).map(({ id }) => id)).toEqual(["blue.paint"]);
    });
  });
});

function sourceOf(name: string, tools: readonly string[]): Source {
  return {
    name,
    kind: "mcp",
    connect: () => Promise.resolve(),
    list: async () =>
      tools.map((tool) => ({
        draft: { name: tool, description: `Does ${tool} for the ${name} team.` },
        handler: () => `${name}:${tool}`,
      })),
    disconnect: () => Promise.resolve(),
  };
}

function draftOf({ name, description, parameters, tags, examples }: ToolDraft): ToolDraft {
  return { name, description, parameters, tags: tags ?? [], examples: examples ?? [] };
}
