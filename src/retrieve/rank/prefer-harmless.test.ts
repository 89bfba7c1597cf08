import { expect, it } from "vitest";
import { ToolArsenal } from "../../arsenal.ts";
import type { ScoredTool } from "../result.ts";

const parameters = { type: "object" } as const;

/** Two tools that fit alike, of which the first by id destroys something. */
async function found(query: string, limit = 5): Promise<readonly ScoredTool[]> {
  await using arsenal = new ToolArsenal({ telemetry: { enabled: false }, embedder: { tier: "lexical" } });
  const description = "Observations of entities in the knowledge graph.";
  const destructive = { annotations: { destructive: true } };
  await arsenal.addTool({ name: "a_delete_observations", description, parameters, ...destructive }, () => "gone");
  await arsenal.addTool({ name: "b_record_observations", description, parameters }, () => "noted");
  return (await arsenal.retrieve({ context: { query }, limit, scoreThreshold: 0 })).tools;
}

const names = (tools: readonly ScoredTool[]): readonly string[] => tools.map(({ tool }) => tool.name);

it("puts the harmless tool first on a near-tie, and explains the score", async () => {
  const tools = await found("observations of entities");
  expect(names(tools)).toEqual(["b_record_observations", "a_delete_observations"]);
  expect(tools[0]?.score).toBe(tools[1]?.score);
  expect(tools[1]?.signals).toMatchObject({ destructivePenalty: expect.any(Number) as number });
});

it("keeps the harmless tool if only one is wanted", async () => {
  expect(names(await found("observations of entities", 1))).toEqual(["b_record_observations"]);
});

it("leaves the order to the scores if the request asks to destroy something", async () => {
  expect(names(await found("delete the observations"))[0]).toBe("a_delete_observations");
});
