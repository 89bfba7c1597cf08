import { beforeAll, describe, expect, it } from "vitest";
import { memory } from "../adapters/stores/memory.ts";
import { createCatalog } from "../catalog/catalog.ts";
import { createHealth } from "../observe/health.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import { createRetriever, type Retriever } from "./retriever.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";

const clock = createManualClock();
const emit = (): void => {};

const TOOLS = [
  ["slack", "list_channels", "List the channels of a workspace."],
  ["slack", "get_messages", "Get the messages of a channel."],
  ["slack", "search_messages", "Search messages in a workspace."],
  ["calendar", "list_events", "List upcoming events."],
  ["calendar", "create_event", "Create an event with a title and a time."],
  ["weather", "get_forecast", "Get the forecast for a city."],
  ["weather", "get_alerts", "Get weather alerts for a state."],
  ["github", "create_issue", "Create an issue in a repository."],
  ["github", "list_issues", "List issues of a repository."],
] as const;

const NEAR_MISS = "Please throw petra and tom out of the design workspace today";
const POSSIBLE = "Create an issue in our GitHub repository: login fails";

let retriever: Retriever;
beforeAll(async () => {
  const catalog = createCatalog({ store: memory(), emit, clock });
  await catalog.upsert(
    TOOLS.map(([namespace, name, description]) =>
      defineTool({ namespace, name, description, parameters: { type: "object" } }),
    ),
  );
  const health = createHealth({ clock, emit });
  retriever = createRetriever({ catalog, health, sees: () => true, settings: DEFAULT_SETTINGS, emit, clock });
});

describe("a request that no tool serves", () => {
  it("is answered with no tools, and with the nearest ones by name", async () => {
    const result = await retriever.retrieve({ context: { query: NEAR_MISS } });
    expect(result.tools).toEqual([]);
    expect(result.nothingFits).toBe(true);
    expect(result.confidence).toBeLessThan(0.2);
    expect(result.nearest?.map(({ tool }) => tool.name)).toEqual(["list_channels", "search_messages"]);
    expect(result.nearest?.[0]?.score).toBeGreaterThan(0);
  });

  it.each([{ refuse: false }, { scoreThreshold: 0 }])(
    "keeps its tools where the query says %j, and says the same",
    async (options) => {
      const result = await retriever.retrieve({ context: { query: NEAR_MISS }, ...options });
      expect(result.tools.length).toBeGreaterThan(0);
      expect(result.nothingFits).toBe(true);
    },
  );

  it("explains that every candidate was left out for the confidence", async () => {
    const { explanation } = await retriever.retrieve({ context: { query: NEAR_MISS }, explain: true });
    expect(explanation?.chosen).toEqual([]);
    expect(explanation?.leftOut[0]?.reason).toBe("confidence");
  });

  it("is not refused where it is read with the turns before it", async () => {
    const recentMessages = [{ role: "user", content: NEAR_MISS }];
    const result = await retriever.retrieve({ context: { query: "yes, do it", recentMessages } });
    expect(result.tools.length).toBeGreaterThan(0);
  });
});

it("a request that a tool serves keeps its tools and has no nearest ones", async () => {
  const result = await retriever.retrieve({ context: { query: POSSIBLE } });
  expect(result.tools[0]?.tool.name).toBe("create_issue");
  expect(result.nothingFits).toBe(false);
  expect(result).not.toHaveProperty("nearest");
  expect(result.confidence).toBeGreaterThan(0.5);
});

it("a request that shares no word with any tool fits nothing, with nothing near", async () => {
  const result = await retriever.retrieve({ context: { query: "Xyzzy plugh" } });
  expect(result).toMatchObject({ tools: [], nothingFits: true, nearest: [], confidence: 0 });
});
