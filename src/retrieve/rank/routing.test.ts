import { describe, expect, it } from "vitest";
import { memoryEngine } from "../../adapters/engines/memory.ts";
import { createCatalog } from "../../catalog/catalog.ts";
import { createHealth } from "../../observe/health.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { ToolDraft } from "../../tool/draft.ts";
import type { ConversationContext, ToolQuery } from "../query.ts";
import type { RoutingWeights } from "../result.ts";
import { createRetriever } from "../retriever.ts";
import { DEFAULT_SETTINGS, type RetrieverSettings } from "../settings.ts";

const clock = createManualClock();
const emit = (): void => {};
const { weights } = DEFAULT_SETTINGS;

interface Scene {
  readonly first?: Partial<ToolDraft>;
  readonly second?: Partial<ToolDraft>;
  readonly context?: Partial<ConversationContext>;
  readonly query?: Partial<ToolQuery>;
  readonly settings?: Partial<RetrieverSettings>;
  /** Failures of the first tool before the request. */
  readonly failures?: number;
}

/**
 * The order of two tools that fit the request equally well. The first leads, because ids decide between equals; whatever puts the second
 * in front is the effect under test.
 */
async function order(scene: Scene): Promise<readonly string[]> {
  const draft = { description: "Books a table in a restaurant.", parameters: { type: "object" } } as const;
  const catalog = createCatalog({ engine: memoryEngine(), emit, clock });
  await catalog.upsert([
    defineTool({ ...draft, namespace: "north", name: "booking_one", ...scene.first }),
    defineTool({ ...draft, namespace: "south", name: "booking_two", ...scene.second }),
  ]);
  const health = createHealth({ clock, emit });
  for (let count = 0; count < (scene.failures ?? 0); count++) health.recordFailure("north.booking_one", 10);
  const retriever = createRetriever({
    catalog,
    health,
    sees: () => true,
    settings: { ...DEFAULT_SETTINGS, ...scene.settings },
    emit,
    clock,
  });
  const { tools } = await retriever.retrieve({
    context: { query: "book a table in a restaurant", ...scene.context },
    scoreThreshold: 0,
    ...scene.query,
  });
  return tools.map(({ tool }) => tool.name);
}

const without = (signal: keyof RoutingWeights): Partial<RetrieverSettings> => ({
  weights: { ...weights, [signal]: 0 },
});
const asWritten = ["booking_one", "booking_two"];
const reversed = ["booking_two", "booking_one"];

describe("the routing formula's effect on a ranking", () => {
  it("changes nothing where no signal has anything to say [000-6.1-neutral]", async () => {
    expect(await order({})).toEqual(asWritten);
  });

  it("semantic: puts the tool that fits the words first [000-6.1-semantic]", async () => {
    const second = { examples: ["Book a table in a restaurant"] };
    const first = { description: "Reserves a table somewhere." };
    expect(await order({ first, second })).toEqual(reversed);
    const flat = { semantic: 0, intent: 0, conversation: 0, health: 0, cost: 1 };
    const cheap = { ...first, cost: { monetaryCost: 0 } };
    expect(await order({ first: cheap, second, settings: { weights: flat } })).toEqual(asWritten);
  });

  it("intent: puts the tool whose tags speak for the intent first [000-6.1-intent]", async () => {
    const scene: Scene = {
      first: { tags: ["archive"] },
      second: { tags: ["message"] },
      context: { inferredIntent: "communication" },
    };
    expect(await order(scene)).toEqual(reversed);
    expect(await order({ ...scene, settings: without("intent") })).toEqual(asWritten);
    expect(await order({ ...scene, context: { inferredIntent: "unknown" } })).toEqual(asWritten);
  });

  it("conversation: puts the tool that the conversation names first [000-6.1-conversation]", async () => {
    const recentMessages = [{ role: "assistant", content: "I could use booking_two." }];
    // A request that says enough by itself: what was said before is a signal, and no part of what is searched for.
    const query = "Please book a table for four in an Italian restaurant near Vienna for Saturday evening";
    const scene: Scene = { context: { query, recentMessages } };
    expect(await order(scene)).toEqual(reversed);
    expect(await order({ ...scene, settings: without("conversation") })).toEqual(asWritten);
  });

  it("health: puts the tool that works first [000-6.1-health]", async () => {
    expect(await order({ failures: 3 })).toEqual(reversed);
    expect(await order({ failures: 3, settings: without("health") })).toEqual(asWritten);
  });

  it("cost: puts the cheaper and the faster tool first [000-6.1-cost]", async () => {
    const dear: Scene = { first: { cost: { monetaryCost: 2 } }, second: { cost: { monetaryCost: 0.01 } } };
    expect(await order(dear)).toEqual(reversed);
    expect(await order({ ...dear, settings: without("cost") })).toEqual(asWritten);
    expect(await order({ first: { cost: { estimatedLatencyMs: 9000 } } })).toEqual(reversed);
  });

  it("demotes a tool that this conversation has used already [000-6.1-used]", async () => {
    const scene: Scene = { context: { toolsAlreadyUsed: ["booking_one"] }, settings: without("conversation") };
    const penalties = { ...DEFAULT_SETTINGS.penalties, alreadyUsed: 0 };
    expect(await order(scene)).toEqual(reversed);
    expect(await order({ ...scene, settings: { ...scene.settings, penalties } })).toEqual(asWritten);
  });

  it("demotes a tool that failed in this conversation [000-6.1-failed]", async () => {
    const scene: Scene = { context: { toolsFailed: ["north.booking_one"] } };
    const penalties = { ...DEFAULT_SETTINGS.penalties, alreadyFailed: 0 };
    expect(await order(scene)).toEqual(reversed);
    expect(await order({ ...scene, settings: { penalties } })).toEqual(asWritten);
  });

  it("demotes a deprecated tool [000-6.1-deprecated]", async () => {
    const scene: Scene = { first: { deprecated: true }, query: { excludeDeprecated: false } };
    const penalties = { ...DEFAULT_SETTINGS.penalties, deprecated: 0 };
    expect(await order(scene)).toEqual(reversed);
    expect(await order({ ...scene, settings: { penalties } })).toEqual(asWritten);
  });

  it("lets a clear difference in words outweigh cost and use together", async () => {
    const first = { examples: ["Book a table in a restaurant"] };
    const second = { description: "Waters the plants on a table.", name: "gardening", cost: { monetaryCost: 0 } };
    const context = { toolsAlreadyUsed: ["booking_one"] };
    expect(await order({ first, second, context })).toEqual(["booking_one", "gardening"]);
  });
});
