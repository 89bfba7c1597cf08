import { describe, expect, it } from "vitest";
import { normaliseTool } from "../tool/normalise-tool.ts";
import type { Tool } from "../tool/tool.ts";
import { CONFIDENCE_FEATURES, featuresOf, type RankedTool } from "./confidence-features.ts";
import { confidenceOf, confidenceThreshold, confidenceTierOf } from "./confidence.ts";

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

const REQUEST = "Rename the channel #random on Slack";

describe("featuresOf", () => {
  it("sees that no tool of the product does what is asked", () => {
    expect(featuresOf(REQUEST, ranking([LIST, GET], 0.6))).toMatchObject({
      homeLacksWrite: 1,
      writeOnRead: 1,
      topDoes: 0,
    });
    expect(featuresOf(REQUEST, ranking([RENAME, LIST], 0.6))).toMatchObject({
      homeLacksWrite: 0,
      writeOnRead: 0,
      topDoes: 1,
    });
  });

  it("sees a tool of the product that does it below the best one, and none of another product", () => {
    expect(featuresOf(REQUEST, ranking([LIST, RENAME], 0.6))).toMatchObject({ homeLacksWrite: 0, homeDoes: 1 });
    const elsewhere = tool("rename_channel", "discord", "Rename a channel");
    expect(featuresOf(REQUEST, ranking([LIST, elsewhere], 0.6))).toMatchObject({ homeLacksWrite: 1 });
  });

  it("sees a best tool that undoes what is asked", () => {
    const remove = tool("delete_page", "wiki", "Delete a page");
    expect(featuresOf("Restore page 7", ranking([remove], 0.6)).topUndoes).toBe(1);
    expect(featuresOf("Delete page 7", ranking([remove], 0.6)).topUndoes).toBe(0);
  });

  it("sees whether the product named is the best tool's, another's, or nobody's", () => {
    expect(featuresOf(REQUEST, ranking([LIST], 0.6))).toMatchObject({
      productFits: 1,
      productElsewhere: 0,
      namesUnknown: 0,
    });
    expect(featuresOf(REQUEST, ranking([OTHERS[0] as Tool, LIST], 0.6))).toMatchObject({
      productFits: 0,
      productElsewhere: 1,
    });
    expect(featuresOf("Approve my report in Expensify", ranking([LIST], 0.6))).toMatchObject({
      productFits: 0,
      namesUnknown: 1,
    });
  });

  it("says nothing of margins and cosines that a short or worded ranking does not have", () => {
    const { cosine, marginToSecond, spread } = featuresOf(REQUEST, [{ tool: LIST, cosine: undefined, coverage: 0.2 }]);
    expect([cosine, marginToSecond, spread]).toEqual([NaN, NaN, NaN]);
  });
});

describe("confidenceOf", () => {
  it("is higher where the product has a tool that does what is asked", () => {
    const with_ = confidenceOf(REQUEST, ranking([RENAME, LIST], 0.55), "tuned");
    const without = confidenceOf(REQUEST, ranking([LIST, GET], 0.55), "tuned");
    expect(with_ - without).toBeGreaterThan(0.3);
  });

  it.each(["static", "tuned"] as const)("rises with the best cosine in the tier %s", (tier) => {
    const at = (cosine: number): number => confidenceOf(REQUEST, ranking([RENAME], cosine), tier);
    expect(at(0.4)).toBeLessThan(at(0.5));
    expect(at(0.5)).toBeLessThan(at(0.8));
  });

  it("refuses a near miss and a request for an absent product, and serves what fits", () => {
    const threshold = confidenceThreshold("tuned", "eager");
    expect(confidenceOf(REQUEST, ranking([LIST, GET], 0.4), "tuned")).toBeLessThan(threshold);
    expect(confidenceOf("Approve Tom's Expensify report", ranking([OTHERS[0] as Tool], 0.25), "tuned")).toBeLessThan(
      threshold,
    );
    expect(confidenceOf(REQUEST, ranking([RENAME, LIST], 0.6), "tuned")).toBeGreaterThan(0.6);
  });

  it("is 0 where nothing was found and 1 where the request is a tool's name", () => {
    expect(confidenceOf(REQUEST, [], "tuned")).toBe(0);
    expect(confidenceOf("list channels", [{ tool: LIST, cosine: 0.1, coverage: 1 }], "tuned")).toBe(1);
  });

  it.each(["lexical", "static", "tuned"] as const)("is a fraction whatever is missing, in the tier %s", (tier) => {
    for (const request of ["", "?", "删除它", "rename ".repeat(500)]) {
      const value = confidenceOf(
        request,
        [{ tool: LIST, cosine: tier === "lexical" ? undefined : 0.3, coverage: 0 }],
        tier,
      );
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(1);
    }
  });
});

it("confidenceTierOf reads mixed tiers as the better one and knows nothing of other embedders", () => {
  expect(["lexical", "static", "tuned", "tuned+static", "text-embedding-3-small"].map(confidenceTierOf)).toEqual([
    "lexical",
    "static",
    "tuned",
    "tuned",
    undefined,
  ]);
});

it("every feature is listed once", () => {
  expect(Object.keys(featuresOf(REQUEST, ranking([LIST], 0.5))).toSorted()).toEqual(
    [...CONFIDENCE_FEATURES].toSorted(),
  );
});
