import { describe, expect, it } from "vitest";
import { INTENTS } from "../query.ts";
import { INTENT_KEYWORDS, resolveIntent } from "./intent.ts";

const settings = { enableIntentClassification: true, useLlmForIntent: false };

async function classifyIntent(query: string, conversationSummary = "") {
  return (await resolveIntent({ query, conversationSummary }, settings, undefined, undefined)).intent;
}

describe("the intent of a request", () => {
  it.each([
    ["list all open invoices", "data_query"],
    ["modify the shipping address", "data_mutation"],
    ["aggregate sales by region", "analysis"],
    ["send a slack message to the team", "communication"],
    ["convert this file and upload it", "file_operations"],
    ["a ticket about a refund", "customer_support"],
    ["change a permission in the admin console", "admin"],
    ["what is the weather in Paris", "unknown"],
  ])("reads %j as %s [000-6.1-keywords] [000-6.1-intent-unknown]", async (query, intent) => {
    expect(await classifyIntent(query)).toBe(intent);
  });

  it("sees through inflections", async () => {
    expect(await classifyIntent("deleting rows")).toBe("data_mutation");
    expect(await classifyIntent("emailed everyone")).toBe("communication");
    expect(await classifyIntent("two queries")).toBe("data_query");
  });

  it("matches whole words: a budget is no get, a reader no read, profiles no files", async () => {
    expect(await classifyIntent("the budget for a screen reader in our profiles")).toBe("unknown");
  });

  it("does not take `set` for a setting", async () => {
    expect(await classifyIntent("set the table")).toBe("unknown");
    expect(await classifyIntent("open the settings")).toBe("admin");
  });

  it("lets the most keywords win [000-6.1-keywords]", async () => {
    expect(await classifyIntent("get the email and send a message")).toBe("communication");
  });

  it("counts a repeated keyword once, as a tie, which the earlier intent wins", async () => {
    expect(await classifyIntent("email email search")).toBe("data_query");
    expect(await classifyIntent("send the report")).toBe("analysis");
  });

  it("asks the summary where the request says nothing, and only there", async () => {
    expect(await classifyIntent("and the next one", "The person wants refunds.")).toBe("customer_support");
    expect(await classifyIntent("delete it", "The person wants refunds.")).toBe("data_mutation");
    expect(await classifyIntent("and the next one", "")).toBe("unknown");
  });
});

describe("INTENT_KEYWORDS", () => {
  it("speaks for every intent but unknown [000-6.1-intents]", () => {
    expect([...Object.keys(INTENT_KEYWORDS), "unknown"]).toEqual(INTENTS);
  });
  it("gives each keyword to one intent", () => {
    const keywords = Object.values(INTENT_KEYWORDS).flat();
    expect(new Set(keywords).size).toBe(keywords.length);
    expect(keywords.length).toBe(35);
  });
});
