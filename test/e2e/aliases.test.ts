import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ToolArsenal, type ToolDraft } from "../../src/index.ts";
import { toAlias } from "../../src/adapters/dialects/index.ts";

const quiet = { telemetry: { enabled: false } } as const;

const look: ToolDraft = {
  name: "look_around",
  description: "Looks around and says what it sees.",
  parameters: { type: "object" },
};

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "arsenal-"))));
afterAll(() => rm(folder, { recursive: true }));

describe("names for models", () => {
  it("find their tools, also ones that were cut, and before bare names", async () => {
    await using arsenal = new ToolArsenal(quiet);
    const long = {
      ...look,
      namespace: "a-rather-long-namespace.of-a-server-with-a-long-name",
      name: "look_in_the_attic",
    };
    const drafts = [look, { ...look, namespace: "garden-shed" }, { ...look, namespace: "garden.shed" }, long];
    await arsenal.add(drafts.map((tool) => ({ tool, handler: () => tool.namespace ?? "default" })));
    const shown = await arsenal.retrieveTools("look around, look in the attic", {
      dialect: "anthropic",
      scoreThreshold: 0,
    });
    const names = shown.map(({ name }) => String(name));
    expect(new Set(names).size).toBe(4);
    const results = await Promise.all(names.map((toolName) => arsenal.execute({ toolName })));
    expect(results.map(({ toolId }) => toAlias(toolId ?? ""))).toEqual(names);
    expect(results.every(({ status }) => status === "success")).toBe(true);
    expect((await arsenal.execute({ toolName: "look_around" })).result).toBe("default");
  });

  it("may be spelled otherwise, as long as only one tool is meant", async () => {
    await using arsenal = new ToolArsenal(quiet);
    const space = "sequential-thinking";
    await arsenal.addTool({ ...look, namespace: space, name: "sequentialthinking" }, () => "thought");
    await arsenal.addTool({ ...look, namespace: "maths.basic", name: "add" }, () => "added");
    const thinking = [
      "sequential-thinking-sequentialthinking",
      "sequential--thinking-sequentialthinking",
      "sequential_thinking.sequentialthinking",
      "Sequential-Thinking.SequentialThinking",
      "sequential_thinking_sequentialthinking",
      "sequentialThinking",
    ];
    for (const toolName of thinking) expect((await arsenal.execute({ toolName })).result, toolName).toBe("thought");
    for (const toolName of ["maths--basic-add", "maths-basic-add"])
      expect((await arsenal.execute({ toolName })).result, toolName).toBe("added");

    await arsenal.addTool({ ...look, namespace: "sequential.thinking", name: "sequentialthinking" }, () => "other");
    const other = await arsenal.execute({ toolName: "sequential--thinking-sequentialthinking" });
    expect([toAlias(`${space}.sequentialthinking`), other.result]).toEqual([thinking[0], "other"]);
    expect((await arsenal.execute({ toolName: thinking[0] ?? "" })).result).toBe("thought");
    expect((await arsenal.execute({ toolName: thinking[4] ?? "" })).error?.code).toBe("TOOL_NOT_FOUND");
  });

  it("of earlier versions still work for clients of the gateway", async () => {
    await using arsenal = new ToolArsenal(quiet);
    await arsenal.addTool({ ...look, namespace: "my-files", name: "read" }, () => "read");
    const served = await arsenal.serve({ port: 0, mode: "dynamic" });
    const client = new Client({ name: "agent", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`)));
    for (const name of ["my-files-read", "my--files-read"])
      expect((await client.callTool({ name, arguments: {} })).content).toMatchObject([{ text: "read" }]);
    const loosely = { tool_name: "My_Files.read", arguments: {} };
    const { content } = await client.callTool({ name: "execute_tool", arguments: loosely });
    expect(content).toMatchObject([{ text: "read" }]);
    await client.close();
    await served.close();
  });

  it("are suggested when one is misspelled", async () => {
    await using arsenal = new ToolArsenal(quiet);
    const long = {
      ...look,
      namespace: "a-rather-long-namespace.of-a-server-with-a-long-name",
      name: "look_in_the_attic",
    };
    await arsenal.add(
      [
        { ...look, namespace: "files", name: "read_text_file" },
        { ...look, namespace: "my-files", name: "read_image" },
        look,
        long,
      ].map((tool) => ({ tool })),
    );
    const cut = toAlias(`${long.namespace}.${long.name}`);
    for (const [toolName, meant] of [
      ["files-read_text_fil", "files.read_text_file"],
      ["my-files-read_imag", "my-files.read_image"],
      ["files.read_text_fil", "files.read_text_file"],
      ["read_text_fil", "files.read_text_file"],
      ["look_aroun", "default.look_around"],
      [cut.replace("attic", "atic"), `${long.namespace}.${long.name}`],
    ] as const)
      expect((await arsenal.execute({ toolName })).error?.message).toContain(`Did you mean "${meant}"?`);
  });

  it("are suggested to clients of the gateway too", async () => {
    await using arsenal = new ToolArsenal(quiet);
    await arsenal.addTool({ ...look, namespace: "files", name: "read_text_file" });
    const served = await arsenal.serve({ port: 0, mode: "dynamic" });
    const client = new Client({ name: "agent", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`)));
    const answer = await client.callTool({
      name: "execute_tool",
      arguments: { tool_name: "files-read_text_fil", arguments: {} },
    });
    expect(answer).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Did you mean "files.read_text_file"?') as string }],
    });
    await client.close();
    await served.close();
  });

  it("are found in a snapshot too", async () => {
    const vectorStore = { snapshot: join(folder, "aliases.json") };
    const long = { ...look, namespace: "x".repeat(100) };
    {
      await using arsenal = new ToolArsenal({ ...quiet, vectorStore });
      await arsenal.addTool(long);
      await arsenal.sync();
    }
    await using arsenal = new ToolArsenal({ ...quiet, vectorStore });
    const { error, toolId } = await arsenal.execute({ toolName: toAlias(`${long.namespace}.look_around`) });
    expect([toolId, error?.code]).toEqual([`${long.namespace}.look_around`, "HANDLER_MISSING"]);
  });
});
