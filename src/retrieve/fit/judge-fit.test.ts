import { beforeAll, describe, expect, it } from "vitest";
import { memoryEngine } from "../../adapters/engines/memory.ts";
import { createCatalog } from "../../catalog/catalog.ts";
import { createHealth } from "../../observe/health.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { createRetriever, type Retriever } from "../retriever.ts";
import { DEFAULT_SETTINGS, type RetrieverSettings } from "../settings.ts";

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
let configured: (settings: Partial<RetrieverSettings>) => Retriever;
beforeAll(async () => {
  const catalog = createCatalog({ engine: memoryEngine(), emit, clock });
  await catalog.upsert(
    TOOLS.map(([namespace, name, description]) =>
      defineTool({ namespace, name, description, parameters: { type: "object" } }),
    ),
  );
  const health = createHealth({ clock, emit });
  configured = (settings) =>
    createRetriever({ catalog, health, sees: () => true, settings: { ...DEFAULT_SETTINGS, ...settings }, emit, clock });
  retriever = configured({});
});

describe("a request that no tool serves", () => {
  it("is answered with no tools by an eager query, and with the nearest ones by name", async () => {
    const result = await retriever.retrieve({ context: { query: NEAR_MISS }, refuse: "eager" });
    expect(result.tools).toEqual([]);
    expect(result.nothingFits).toBe(true);
    expect(result.confidence).toBeLessThan(0.25);
    expect(result.nearest?.map(({ tool }) => tool.name)).toEqual(["list_channels", "search_messages"]);
    expect(result.nearest?.[0]?.score).toBeGreaterThan(0);
  });

  it("keeps the nearest tools by default when words alone cannot be sure", async () => {
    const result = await retriever.retrieve({ context: { query: NEAR_MISS } });
    expect(result.tools.length).toBeGreaterThan(0);
    expect(result.nothingFits).toBe(false);
  });

  it("keeps its tools with a score threshold of 0, and is still marked as one that nothing fits", async () => {
    const result = await retriever.retrieve({ context: { query: NEAR_MISS }, refuse: "eager", scoreThreshold: 0 });
    expect(result.tools.length).toBeGreaterThan(0);
    expect(result.nothingFits).toBe(true);
  });

  it("keeps its tools if the configuration never refuses, unless the query does", async () => {
    const never = configured({ refuse: "never" });
    expect((await never.retrieve({ context: { query: NEAR_MISS } })).tools.length).toBeGreaterThan(0);
    expect((await never.retrieve({ context: { query: NEAR_MISS }, refuse: "eager" })).tools).toEqual([]);
  });

  it("explains that every candidate was left out for the confidence", async () => {
    const { explanation } = await retriever.retrieve({
      context: { query: NEAR_MISS },
      refuse: "eager",
      explain: true,
    });
    expect(explanation?.chosen).toEqual([]);
    expect(explanation?.leftOut[0]?.reason).toBe("confidence");
  });

  it("is not refused if it is read with the turns before it", async () => {
    const recentMessages = [{ role: "user", content: NEAR_MISS }];
    const result = await retriever.retrieve({ context: { query: "yes, do it", recentMessages }, refuse: "eager" });
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

it("the default score threshold leaves the best three, and one of your own does not", async () => {
  const query =
    "Petra, Tom and Ines from Porto prepare slides, handouts, badges, coffee, projectors and train tickets for upcoming events in our repository";
  const context = { query };
  const scores = (await retriever.retrieve({ context, limit: 10 })).tools.map(({ semanticScore }) => semanticScore);
  const { scoreThreshold } = DEFAULT_SETTINGS;
  expect(scores.filter((score) => score >= scoreThreshold).length).toBeLessThan(3);
  expect(scores).toHaveLength(3);
  const strict = await retriever.retrieve({ context, limit: 10, scoreThreshold });
  expect(strict.tools.every(({ semanticScore }) => semanticScore >= scoreThreshold)).toBe(true);
  expect(strict.tools.length).toBeGreaterThan(0);
});

describe("a score threshold that no tool reaches", () => {
  const query =
    "Which events do Petra, Tom and Ines from the design team in Porto still have to prepare slides, handouts, badges, coffee, projectors and train tickets for between Monday morning and Friday lunch?";
  const context = { query };

  it("does not empty the list while it is the default", async () => {
    const { tools } = await retriever.retrieve({ context });
    expect(tools[0]?.tool.name).toBe("list_events");
    expect(tools[0]?.semanticScore).toBeLessThan(DEFAULT_SETTINGS.scoreThreshold);
  });

  it("empties it if the query names the threshold, or the configuration does and may refuse", async () => {
    const picky = configured({ scoreThreshold: 0.99 });
    expect((await retriever.retrieve({ context, scoreThreshold: 0.99 })).tools).toEqual([]);
    expect((await picky.retrieve({ context })).tools).toEqual([]);
    expect((await picky.retrieve({ context, refuse: "never" })).tools[0]?.tool.name).toBe("list_events");
  });
});
