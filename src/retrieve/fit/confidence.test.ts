import { describe, expect, it } from "vitest";
import { normaliseTool } from "../../tool/normalise/normalise-tool.ts";
import type { Tool } from "../../tool/tool.ts";
import { CONFIDENCE_FEATURES, featuresOf, type RankedTool } from "./confidence-features.ts";
import { confidenceOf, confidenceThreshold, confidenceTierOf } from "./confidence.ts";
import type { ConfidenceTier } from "./confidence-weights.ts";

function tool(name: string, namespace: string, description: string): Tool {
  return normaliseTool({ name, namespace, description }, { source: "mcp", namespace: "default", createdAt: 0 });
}

const LIST = tool("list_channels", "slack", "List the channels of the workspace");
const GET = tool("get_message", "slack", "Get a message of a channel");
const RENAME = tool("rename_channel", "slack", "Rename a channel");
const OTHERS = Array.from({ length: 25 }, (_, at) => tool(`read_row_${at}`, `sheet${at}`, "Read a row"));

function ranking(best: readonly Tool[], cosine: number, coverage = 0.1): readonly RankedTool[] {
  return [...best, ...OTHERS].map((one, at) => ({
    tool: one,
    cosine: cosine - 0.015 * at,
    coverage: coverage / (at + 1),
  }));
}

const REQUEST = "Rename the channel #random on our team's Slack";
const TOOLS = 40;

function confidence(request: string, ranked: readonly RankedTool[], tier: ConfidenceTier = "tuned"): number {
  return confidenceOf(request, { ranking: ranked, tools: TOOLS, tier });
}

describe("featuresOf", () => {
  it("sees that no tool of the product does what is asked", () => {
    const lacking = featuresOf(REQUEST, ranking([LIST, GET], 0.6), TOOLS);
    expect(lacking).toMatchObject({ homeLacksWrite: 1, writeOnRead: 1 });
    const offering = featuresOf(REQUEST, ranking([RENAME, LIST], 0.6), TOOLS);
    expect(offering).toMatchObject({ homeLacksWrite: 0, writeOnRead: 0 });
    expect(offering.homeDoesToObject).toBeGreaterThan(lacking.homeDoesToObject);
  });

  it("sees a tool of the product that does it below the best one, and none of another product", () => {
    expect(featuresOf(REQUEST, ranking([LIST, RENAME], 0.6), TOOLS)).toMatchObject({ homeLacksWrite: 0 });
    const elsewhere = tool("rename_channel", "discord", "Rename a channel");
    expect(featuresOf(REQUEST, ranking([LIST, elsewhere], 0.6), TOOLS)).toMatchObject({ homeLacksWrite: 1 });
  });

  it("sees a best tool that undoes what is asked", () => {
    const remove = tool("delete_page", "wiki", "Delete a page");
    const request = "page about the spring conference in Lyon";
    expect(featuresOf(`Restore the ${request}`, ranking([remove], 0.6), TOOLS).topUndoes).toBe(1);
    expect(featuresOf(`Delete the ${request}`, ranking([remove], 0.6), TOOLS).topUndoes).toBe(0);
  });

  it("holds no verb or object against a short request", () => {
    expect(featuresOf("rename #random", ranking([LIST, GET], 0.6), TOOLS)).toMatchObject({
      homeLacksWrite: 0,
      writeOnRead: 0,
      topUndoes: 0,
      homeDoesToObject: 0,
    });
  });

  it("sees whether the request names the best tool's product", () => {
    expect(featuresOf(REQUEST, ranking([LIST], 0.6), TOOLS).productFits).toBe(1);
    expect(featuresOf(REQUEST, ranking([OTHERS[0] as Tool, LIST], 0.6), TOOLS).productFits).toBe(0);
  });

  it("reads the coverage if there is no cosine", () => {
    expect(featuresOf(REQUEST, [{ tool: LIST, cosine: undefined, coverage: 0.2 }], TOOLS).best).toBe(0.2);
  });

  it("takes a catalog beyond a thousand tools as one of a thousand", () => {
    const [thousand, million] = [1000, 1_000_000].map((tools) => featuresOf(REQUEST, ranking([LIST], 0.6), tools));
    expect(million).toEqual(thousand);
  });
});

describe("confidenceOf", () => {
  it("is higher if the product has a tool that does what is asked", () => {
    const with_ = confidence(REQUEST, ranking([RENAME, LIST], 0.55));
    const without = confidence(REQUEST, ranking([LIST, GET], 0.55));
    expect(with_ - without).toBeGreaterThan(0.2);
  });

  it.each(["static", "tuned"] as const)("rises with the best cosine in the tier %s", (tier) => {
    const at = (cosine: number): number => confidence(REQUEST, ranking([RENAME], cosine), tier);
    expect(at(0.4)).toBeLessThan(at(0.5));
    expect(at(0.5)).toBeLessThan(at(0.8));
  });

  it.each(["static", "tuned"] as const)(
    "is higher for a short request at the same low cosine in the tier %s",
    (tier) => {
      const long = "please tell every member of our hiking club about the bus strike on Saturday morning";
      const ranked = ranking([OTHERS[0] as Tool], 0.2);
      expect(confidence("bus strike", ranked, tier)).toBeGreaterThan(confidence(long, ranked, tier));
    },
  );

  it("is below the eager threshold for a near miss, and below both for an absent product", () => {
    expect(confidence(REQUEST, ranking([LIST, GET], 0.4))).toBeLessThan(confidenceThreshold("tuned", "eager"));
    const absent = "Approve Tom's travel report from last week in Expensify for the finance team";
    expect(confidence(absent, ranking([OTHERS[0] as Tool], 0.1))).toBeLessThan(confidenceThreshold("tuned", "eager"));
    expect(confidence(REQUEST, ranking([RENAME, LIST], 0.6))).toBeGreaterThan(0.6);
  });

  it.each(["lexical", "static", "tuned"] as const)("is refused by less in `confident` than in `eager` (%s)", (tier) => {
    expect(confidenceThreshold(tier, "confident")).toBeLessThan(confidenceThreshold(tier, "eager"));
    expect(confidenceThreshold(tier, "never")).toBe(confidenceThreshold(tier, "confident"));
  });

  it("is 0 if nothing was found and 1 if the request is a tool's name", () => {
    expect(confidence(REQUEST, [])).toBe(0);
    expect(confidence("list channels", [{ tool: LIST, cosine: 0.1, coverage: 1 }])).toBe(1);
  });

  it.each(["lexical", "static", "tuned"] as const)("is a fraction whatever is missing, in the tier %s", (tier) => {
    for (const request of ["", "?", "删除它", "rename ".repeat(500)]) {
      const ranked = [{ tool: LIST, cosine: tier === "lexical" ? undefined : 0.3, coverage: 0 }];
      const value = confidence(request, ranked, tier);
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(1);
    }
  });
});

it("confidenceTierOf reads mixed tiers as the better one and knows no custom embedder", () => {
  expect(["lexical", "static", "tuned", "tuned+static", "text-embedding-3-small"].map(confidenceTierOf)).toEqual([
    "lexical",
    "static",
    "tuned",
    "tuned",
    undefined,
  ]);
});

it("every feature is listed once", () => {
  expect(Object.keys(featuresOf(REQUEST, ranking([LIST], 0.5), TOOLS)).toSorted()).toEqual(
    [...CONFIDENCE_FEATURES].toSorted(),
  );
});
