import { describe, expect, it } from "vitest";
import { normaliseTool } from "../../tool/normalise/normalise-tool.ts";
import type { AnsweredQuery } from "../answer.ts";
import { type KnownTool, knownTools } from "../known-tools.ts";
import { suggest, type Suggestion } from "./suggest.ts";

type Draft = readonly [id: string, description: string | null];

function toolsOf(...drafts: readonly Draft[]): ReadonlyMap<string, KnownTool> {
  return knownTools(
    drafts.map(([id, description]) =>
      normaliseTool(
        { name: id, namespace: "shop", description, parameters: {}, sourceMeta: { setId: id } },
        { source: "descriptor", namespace: "shop" },
      ),
    ),
  );
}

let queries = 0;
/** A query that a tool serves, and the ranking it got. */
function asked(relevant: string, query: string, ...ranking: readonly string[]): AnsweredQuery {
  return {
    id: `q${++queries}`,
    query,
    relevant: relevant === "" ? [] : [relevant],
    alsoOk: [],
    history: [],
    style: undefined,
    ranking: ranking.map((id, index) => ({ id, score: 1 - index / 100, semanticScore: 0.9 })),
    figures: undefined,
    refused: false,
    durationMs: 1,
  };
}

const run = (
  tools: ReadonlyMap<string, KnownTool>,
  answers: readonly AnsweredQuery[] = [],
): Promise<readonly Suggestion[]> => suggest(tools, answers, { signal: new AbortController().signal, onProgress() {} });

const SHOP: readonly Draft[] = [
  ["process_refund", "Refund the payment of an order to the card it was paid with."],
  ["delete_customer", "Erase a customer and all personal data for good."],
  ["send_invoice", "Send the invoice of an order to its buyer by email."],
  ["track_parcel", "Show where a parcel is on its way."],
];

describe("suggest", () => {
  it("names a tool that its queries rank low, and the words they use that no field has", async () => {
    const others = ["delete_customer", "send_invoice", "track_parcel", "a", "b", "process_refund"];
    const suggestions = await run(toolsOf(...SHOP), [
      asked("process_refund", "I want my money back", ...others),
      asked("process_refund", "get the shopper their money back", ...others),
      asked("process_refund", "money back for a broken vase", ...others),
      asked("track_parcel", "where is my parcel", "track_parcel"),
    ]);
    expect(suggestions.filter(({ kind }) => kind === "description")).toEqual([
      {
        kind: "description",
        tool: "process_refund",
        problems: ["low"],
        queries: 3,
        low: 3,
        median_rank: 6,
        words: [{ words: "money back", queries: 3 }],
        suggestion:
          "Say in the description of process_refund that it serves “money back” (3 queries): people ask so, and no field has the words. 3 of 3 queries rank it below the first 5.",
      },
    ]);
  });

  it("does not charge a tool with the words of another that serves the query with it", async () => {
    const ranking = ["a", "b", "c", "d", "e", "process_refund", "f", "track_parcel"];
    const both = [1, 2, 3].map(() => ({
      ...asked("process_refund", "money back and show the parcel", ...ranking),
      relevant: ["process_refund", "track_parcel"],
    }));
    const found = (await run(toolsOf(...SHOP), both)).find(
      (suggestion) => suggestion.kind === "description" && suggestion.tool === "process_refund",
    );
    expect(found).toMatchObject({ words: [{ words: "money back", queries: 3 }] });
  });

  it("names a pair of which one takes the other's queries, and what tells them apart", async () => {
    const tools = toolsOf(
      ["find_orders", "Find orders of a customer by date."],
      ["find_invoices", "Find invoices of a customer by number."],
      ...SHOP,
    );
    const suggestions = await run(tools, [
      asked("find_invoices", "bills of Dana", "find_orders", "find_invoices"),
      asked("find_invoices", "bills of Omar", "find_orders", "find_invoices"),
      asked("find_orders", "orders by number", "find_invoices", "find_orders"),
    ]);
    expect(suggestions).toMatchObject([
      {
        kind: "shadow",
        tools: ["find_orders", "find_invoices"],
        taken: 2,
        taken_back: 1,
        queries: [expect.stringMatching(/^q\d/), expect.stringMatching(/^q\d/)],
      },
    ]);
    expect(suggestions[0]?.suggestion).toBe(
      "find_orders takes 2 queries of find_invoices, and loses 1 to it. Say in the description of find_invoices what it does that find_orders does not. Words of their own: find_orders “orders”, “date”; find_invoices “invoices”, “number”.",
    );
  });

  it("tells once of a tool that takes from many it does not resemble", async () => {
    const magnet: Draft = ["horoscope", "Everything you always wanted about your money, your data and your way."];
    const suggestions = await run(toolsOf(magnet, ...SHOP), [
      asked("process_refund", "my money", "horoscope", "process_refund"),
      asked("process_refund", "all my money", "horoscope", "process_refund"),
      asked("delete_customer", "my data away", "horoscope", "delete_customer"),
      asked("track_parcel", "on its way", "horoscope", "track_parcel"),
    ]);
    expect(suggestions).toMatchObject([
      { kind: "magnet", tool: "horoscope", taken: 4, from: ["process_refund", "delete_customer", "track_parcel"] },
    ]);
    expect(suggestions[0]?.suggestion).toContain("horoscope takes 4 queries of 3 tools that it does not resemble");
  });

  it("finds near-copies and thin descriptions from the tools alone", async () => {
    const copy = "Refund the payment of an order to the card it was paid with.";
    const suggestions = await run(
      toolsOf(...SHOP, ["refund_process", copy], ["ping", null], ["list_all", "List all."]),
    );
    expect(suggestions).toMatchObject([
      { kind: "description", tool: "ping", problems: ["missing"], median_rank: null },
      { kind: "description", tool: "list_all", problems: ["short"] },
      { kind: "shadow", tools: ["process_refund", "refund_process"], taken: 0 },
    ]);
    expect(suggestions[0]?.suggestion).toBe("ping has no description: say what it does, to what, and when to use it.");
  });

  it("leaves a thin description alone that its queries find, and queries that nothing fits", async () => {
    const tools = toolsOf(...SHOP, ["ping", null]);
    expect(await run(tools, [asked("ping", "ping", "ping"), asked("", "sing", "ping")])).toEqual([]);
  });
});
