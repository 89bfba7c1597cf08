import { describe, expect, it } from "vitest";
import { memoryEngine } from "../adapters/engines/memory.ts";
import { createCatalog } from "../catalog/catalog.ts";
import type { Principal } from "../guard/principal.ts";
import type { Emit } from "../observe/events.ts";
import { createHealth } from "../observe/health.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { sampleTools } from "../testing/sample-tools.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { ToolDraft } from "../tool/draft.ts";
import type { Tool } from "../tool/tool.ts";
import type { ExplainedTool, RetrievalResult } from "./result.ts";
import { createRetriever, type Retriever, type RetrieverParts } from "./retriever.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";

const clock = createManualClock();
const silent: Emit = () => {};

function tool(name: string, description: string, draft: Partial<ToolDraft> = {}): Tool {
  return defineTool({ name, description, parameters: { type: "object" }, ...draft });
}

async function retrieverOf(tools: readonly Tool[], parts: Partial<RetrieverParts> = {}): Promise<Retriever> {
  const catalog = createCatalog({ engine: memoryEngine(), emit: silent, clock });
  await catalog.upsert(tools);
  return createRetriever({
    catalog,
    health: createHealth({ clock, emit: silent }),
    sees: () => true,
    settings: DEFAULT_SETTINGS,
    emit: silent,
    clock,
    ...parts,
  });
}

const names = (result: RetrievalResult): readonly string[] => result.tools.map((found) => found.tool.name);
const context = { query: "send an email to a customer" };

describe("retrieve", () => {
  it("returns at most the limit, best first, with every score", async () => {
    const retriever = await retrieverOf(sampleTools());
    const result = await retriever.retrieve({ context, limit: 2, scoreThreshold: 0 });
    expect(result.tools.length).toBe(2);
    const [first] = result.tools;
    expect(first?.tool.name).toBe("send_email");
    expect(first?.score).toBeGreaterThan(result.tools[1]?.score ?? 1);
    expect(first?.signals.semantic).toBe(first?.semanticScore);
    expect(result).toMatchObject({ tier: "lexical", intent: "communication", filteredCount: 0 });
    expect(result.candidateCount).toBeGreaterThanOrEqual(2);
    expect(result).not.toHaveProperty("explanation");
    expect(result).not.toHaveProperty("rerankTimeMs");
  });

  it("finds nothing in an empty catalog", async () => {
    const retriever = await retrieverOf([]);
    expect(names(await retriever.retrieve({ context, scoreThreshold: 0 }))).toEqual([]);
  });

  it("filters before it cuts: 200 better matches elsewhere do not push the right tool out [000-4.2-filters-first]", async () => {
    const better = Array.from({ length: 200 }, (_, index) =>
      tool(`send_email_${index}`, "Send an email to a customer.", { namespace: "other", tags: ["email", "send"] }),
    );
    const right = tool("post_letter", "Send a letter to somebody by post.", { namespace: "mine" });
    const retriever = await retrieverOf([...better, right]);
    const result = await retriever.retrieve({ context, namespaces: ["mine"], limit: 1, scoreThreshold: 0 });
    expect(names(result)).toEqual(["post_letter"]);
  });

  it("leaves out what the principal may not see, also as a dependency [000-6.1-policy-filter]", async () => {
    const pay = tool("pay_invoice", "Pays an invoice.", { dependencies: [{ tool: "open_vault", type: "requires" }] });
    const vault = tool("open_vault", "Opens the vault to pay.");
    const guest: Principal = { id: "guest", roles: [], capabilities: [], scopes: [], local: false };
    const retriever = await retrieverOf([pay, vault], {
      sees: (entry, principal) => principal?.id !== "guest" || entry.name !== "open_vault",
    });
    const query = { context: { query: "pay an invoice" } };
    expect(names(await retriever.retrieve({ ...query, principal: guest }))).toEqual(["pay_invoice"]);
    expect(names(await retriever.retrieve(query))).toEqual(["pay_invoice", "open_vault"]);
  });

  it("leaves out a tool whose circuit is open", async () => {
    const health = createHealth({ clock, emit: silent });
    health.setCircuit("default.send_email", true);
    const retriever = await retrieverOf(sampleTools(), { health });
    expect(names(await retriever.retrieve({ context, scoreThreshold: 0 }))).not.toContain("send_email");
    expect(names(await retriever.retrieve({ context, scoreThreshold: 0, excludeUnhealthy: false }))).toContain(
      "send_email",
    );
  });

  it("takes the threshold from the settings where the query has none [000-4.2-threshold] [000-4.2-threshold-default]", async () => {
    const strict = await retrieverOf(sampleTools(), { settings: { ...DEFAULT_SETTINGS, scoreThreshold: 1 } });
    const query = { context: { query: "send something about an email to a customer somewhere" } };
    expect(names(await strict.retrieve(query))).toEqual([]);
    expect(names(await strict.retrieve({ ...query, scoreThreshold: 0 }))).toContain("send_email");
  });

  it("marks what needs confirmation: by the tool itself or by the context [000-4.2-confirmation-for]", async () => {
    const retriever = await retrieverOf(sampleTools());
    const marks = async (requireConfirmationFor: readonly ["external_api"] | readonly []) => {
      const query = "refund a customer and send an email";
      const { tools } = await retriever.retrieve({ context: { query, requireConfirmationFor }, scoreThreshold: 0 });
      return tools
        .filter((found) => found.requiresConfirmation)
        .map((found) => found.tool.name)
        .sort();
    };
    expect(await marks([])).toEqual(["process_refund"]);
    expect(await marks(["external_api"])).toEqual(["process_refund", "send_email"]);
  });

  it("searches what the conversation was about where the request names nothing [000-4.2-summary]", async () => {
    const retriever = await retrieverOf(sampleTools());
    const recentMessages = [{ role: "user", content: "refund the order of this customer" }];
    const result = await retriever.retrieve({ context: { query: "do it again", recentMessages } });
    expect(names(result)[0]).toBe("process_refund");
  });

  it("says that it finished, with the caller's trace id or a new one [000-4.2-trace-id] [000-5.5-retrieval]", async () => {
    const events: unknown[] = [];
    const emit: Emit = (name, data) => void events.push({ name, data });
    const retriever = await retrieverOf(sampleTools(), { emit });
    const result = await retriever.retrieve({ context, limit: 1, traceId: "trace-7" });
    expect(result.traceId).toBe("trace-7");
    expect(events).toMatchObject([
      {
        name: "retrieval-finished",
        data: {
          traceId: "trace-7",
          spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
          query: "send an email to a customer",
          tools: [{ toolId: "default.send_email", score: result.tools[0]?.score }],
          candidateCount: result.candidateCount,
          filteredCount: 0,
          durationMs: 0,
        },
      },
    ]);
    expect((await retriever.retrieve({ context })).traceId).toMatch(/^[0-9a-f]{32}$/);
  });

  it("refuses a malformed query [000-4.2-query-invalid]", async () => {
    const retriever = await retrieverOf(sampleTools());
    await expect(retriever.retrieve({ context: { query: " " } })).rejects.toMatchObject({
      code: "QUERY_INVALID",
      details: { field: "context.query" },
    });
  });
});

describe("cancelling", () => {
  it("rejects at once, and starts nothing, where the signal fired before [000-3.1-cancel]", async () => {
    const asked: string[] = [];
    const classifyIntent = async (query: string) => {
      asked.push(query);
      return "unknown" as const;
    };
    const settings = { ...DEFAULT_SETTINGS, useLlmForIntent: true };
    const retriever = await retrieverOf(sampleTools(), { classifyIntent, settings });
    const cancelled = retriever.retrieve({ context, signal: AbortSignal.abort() });
    await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
    expect(asked).toEqual([]);
  });

  it("does not wait for a reranker or classifier that never answers", async () => {
    const reranker = { model: "stuck", rerank: () => new Promise<never>(() => {}) };
    const settings = { ...DEFAULT_SETTINGS, useLlmForIntent: true };
    const stuck = () => new Promise<never>(() => {});
    for (const parts of [{ reranker }, { settings, classifyIntent: stuck }]) {
      const controller = new AbortController();
      const retriever = await retrieverOf(sampleTools(), parts);
      const waiting = retriever.retrieve({ context, enableReranking: true, signal: controller.signal });
      setImmediate(() => controller.abort());
      await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
    }
  });
});

describe("a cancelled retrieval", () => {
  it("fails once, and does not count when what it waited for answers after all", async () => {
    const classified = Promise.withResolvers<"unknown">();
    const events: string[] = [];
    const settings = { ...DEFAULT_SETTINGS, useLlmForIntent: true };
    const noted: unknown[] = [];
    const retriever = await retrieverOf(sampleTools(), {
      settings,
      classifyIntent: () => classified.promise,
      emit: (name) => void events.push(name),
      note: (query) => void noted.push(query),
    });
    const controller = new AbortController();
    const waiting = retriever.retrieve({ context, signal: controller.signal });
    controller.abort("enough");
    await expect(waiting).rejects.toMatchObject({ code: "CANCELLED", cause: "enough" });
    classified.resolve("unknown");
    // Everything it still does is done in promise callbacks, which all run before this.
    await new Promise((resolve) => setImmediate(resolve));
    expect([events, noted]).toEqual([["retrieval-failed"], []]);
  });
});

describe("diversity", () => {
  const parameters = {
    type: "object",
    properties: {
      to: { type: "string", description: "Address of the recipient, or several addresses with commas between them." },
      subject: { type: "string", description: "Subject line, at most 200 characters." },
      body: { type: "string", description: "Content in plain text or HTML, with images inline or linked." },
      priority: { type: "string", description: "Urgent, normal or low; urgent ones are marked with a red flag." },
    },
  } as const;
  const text = "Send a mail to one recipient, with attachments up to ten megabytes and a delivery receipt.";
  const copies = ["mail", "recipient", "delivery"].map((namespace) =>
    tool("send_mail", text, { parameters, namespace }),
  );
  const other = tool("send_telegram", "Send a telegram to a recipient far away, as people used to mail one.");
  const query = { context: { query: "send a mail to a recipient" }, limit: 2, scoreThreshold: 0 };

  it("lets an exact copy make room for another tool, and says which one it resembles", async () => {
    const retriever = await retrieverOf([...copies, other]);
    const result = await retriever.retrieve({ ...query, explain: true });
    expect(names(result)).toEqual(["send_mail", "send_telegram"]);
    expect(result.explanation?.leftOut[0]).toMatchObject({
      toolId: "mail.send_mail",
      reason: "diversity",
      because: "recipient.send_mail",
    });
  });

  it("goes by score alone where it is off or the factor is 0 [000-6.1-mmr-off]", async () => {
    const off = await retrieverOf([...copies, other], { settings: { ...DEFAULT_SETTINGS, enableMmr: false } });
    expect(names(await off.retrieve(query))).toEqual(["send_mail", "send_mail"]);
    const on = await retrieverOf([...copies, other]);
    expect(names(await on.retrieve({ ...query, diversityFactor: 0 }))).toEqual(["send_mail", "send_mail"]);
  });

  it("costs tools on one topic nothing by default, and weighs every likeness where the caller asks for it [000-4.2-diversity]", async () => {
    const tools = [
      tool("send_mail", "Send a mail to a recipient."),
      tool("send_mail_later", "Send a mail to a recipient at a later time."),
      tool("courier", "Send a parcel to a recipient, insured and tracked, by mail."),
      tool("know_people", "Knows every recipient in town, and what they had for lunch."),
    ];
    const retriever = await retrieverOf(tools, { settings: { ...DEFAULT_SETTINGS, mmrLambda: 0.4 } });
    expect(names(await retriever.retrieve(query))).toEqual(["send_mail", "send_mail_later"]);
    expect(names(await retriever.retrieve({ ...query, diversityFactor: 0.6 }))).toEqual(["send_mail", "courier"]);
    expect(names(await retriever.retrieve({ ...query, diversityFactor: 1 }))).toEqual(["send_mail", "know_people"]);
  });
});

describe("dependencies", () => {
  const order = tool("order_pizza", "Order a pizza to the door.", {
    namespace: "food",
    dependencies: [
      { tool: "find_address", type: "requires" },
      { tool: "lemonade", type: "suggests" },
    ],
  });
  const address = tool("find_address", "Look up where somebody lives.", { namespace: "food" });
  const drinks = tool("lemonade", "Cold drinks of all kinds.", { namespace: "food" });
  const query = { context: { query: "order a pizza" } };

  it("brings what a chosen tool requires, beyond the limit, and marks it [000-4.2-dependencies]", async () => {
    const retriever = await retrieverOf([order, address, drinks]);
    const { tools } = await retriever.retrieve({ ...query, limit: 1 });
    expect(tools.map((found) => [found.tool.name, found.requiredBy])).toEqual([
      ["order_pizza", undefined],
      ["find_address", "food.order_pizza"],
    ]);
    expect(tools[1]?.semanticScore).toBeLessThan(0.5);
  });

  it("adds suggestions while there is room [000-4.2-suggests]", async () => {
    const retriever = await retrieverOf([order, address, drinks]);
    const { tools } = await retriever.retrieve({ ...query, limit: 3 });
    expect(tools.map((found) => [found.tool.name, found.requiredBy])).toEqual([
      ["order_pizza", undefined],
      ["find_address", "food.order_pizza"],
      ["lemonade", undefined],
    ]);
  });

  it("brings nothing where the query wants no dependencies, or filters them out [000-4.2-dependencies]", async () => {
    const elsewhere = tool("find_address", "Look up where somebody lives.", { namespace: "food", source: "mcp" });
    const retriever = await retrieverOf([order, elsewhere]);
    expect(names(await retriever.retrieve({ ...query, includeDependencies: false }))).toEqual(["order_pizza"]);
    expect(names(await retriever.retrieve({ ...query, sources: ["function"] }))).toEqual(["order_pizza"]);
  });

  it("gives a dependency its own score, also where it is far down the list", async () => {
    const crowd = Array.from({ length: 60 }, (_, index) => tool(`pizza_${index}`, "Order a pizza to the door."));
    const needed = tool("find_address", "Look up where somebody lives who gave an order.", { namespace: "food" });
    const retriever = await retrieverOf([order, needed, ...crowd]);
    const { tools } = await retriever.retrieve({ ...query, context: { query: "order_pizza" }, limit: 1 });
    expect(tools.map((found) => found.tool.name)).toEqual(["order_pizza", "find_address"]);
    expect(tools[1]?.semanticScore).toBeGreaterThan(0);
  });

  it("drops the lower of two that conflict [000-4.2-suggests]", async () => {
    const rival = tool("order_pasta", "Order a pizza-like pasta.", {
      namespace: "food",
      dependencies: [{ tool: "order_pizza", type: "conflicts" }],
    });
    const retriever = await retrieverOf([order, address, rival]);
    expect(names(await retriever.retrieve({ ...query, scoreThreshold: 0.1 }))).not.toContain("order_pasta");
  });
});

describe("the explanation", () => {
  it("shows every signal, and contributions that add up to the score [000-2.3-explain]", async () => {
    const retriever = await retrieverOf(sampleTools());
    const asked = { ...context, toolsAlreadyUsed: ["send_email"], toolsFailed: ["create_user"] };
    const { explanation, tools } = await retriever.retrieve({
      context: asked,
      limit: 2,
      scoreThreshold: 0,
      explain: true,
    });
    const all = [...(explanation?.chosen ?? []), ...(explanation?.leftOut ?? [])];
    expect(all.length).toBeGreaterThan(2);
    expect(explanation?.chosen.map((entry) => entry.toolId)).toEqual(tools.map((found) => found.tool.id));
    for (const entry of all) {
      expect(entry.signals.map((signal) => signal.name)).toEqual([
        "semantic",
        "intent",
        "conversation",
        "health",
        "cost",
        "alreadyUsedPenalty",
        "alreadyFailedPenalty",
        "deprecatedPenalty",
      ]);
      for (const signal of entry.signals) expect(signal.contribution).toBeCloseTo(signal.value * signal.weight, 12);
      const sum = entry.signals.reduce((total, signal) => total + signal.contribution, 0);
      expect(entry.score).toBeCloseTo(Math.max(0, sum), 12);
    }
    expect(all.find((entry) => entry.toolId === "default.send_email")?.signals[5]).toEqual({
      name: "alreadyUsedPenalty",
      value: 0.05,
      weight: -1,
      contribution: -0.05,
    });
  });

  it("shows the words that matched, with their fields", async () => {
    const retriever = await retrieverOf(sampleTools());
    const { explanation } = await retriever.retrieve({ context, limit: 1, explain: true });
    const terms = explanation?.chosen[0]?.matchedTerms ?? [];
    expect(terms.map((entry) => entry.term)).toContain("email");
    expect(terms.find((entry) => entry.term === "email")?.fields).toContain("name");
  });

  it("gives the reason each tool was left out [000-2.3-explain]", async () => {
    const letter = { namespace: "post", dependencies: [{ tool: "spell_check", type: "requires" }] } as const;
    const telegram = { dependencies: [{ tool: "post.send_fax", type: "conflicts" }] } as const;
    const retriever = await retrieverOf([
      tool("send_letter", "Send a letter to one recipient.", letter),
      tool("send_telegram", "Send a letter as a telegram to one recipient.", telegram),
      tool("send_parcel", "Send a parcel with a letter to some recipient or other, near or far."),
      tool("send_fax", "Send a letter as a fax to some recipient, at the ends of the earth.", { namespace: "post" }),
      tool("know_people", "Knows a recipient."),
      tool("spell_check", "Finds misspellings.", { namespace: "post" }),
    ]);
    const { explanation } = await retriever.retrieve({
      context: { query: "send a letter to one recipient" },
      limit: 2,
      scoreThreshold: 0.9,
      explain: true,
    });
    const reasons = (entries: readonly ExplainedTool[] = []) =>
      entries.map(({ toolId, reason, because }) => [toolId, reason, because]);
    expect(reasons(explanation?.chosen)).toEqual([
      ["post.send_letter", "chosen", undefined],
      ["default.send_telegram", "chosen", undefined],
      ["post.spell_check", "dependency", "post.send_letter"],
    ]);
    expect(reasons(explanation?.leftOut)).toEqual([
      ["post.send_fax", "conflict", "default.send_telegram"],
      ["default.send_parcel", "limit", undefined],
      ["default.know_people", "threshold", undefined],
    ]);
  });

  it("names no more than ten left out", async () => {
    const tools = Array.from({ length: 30 }, (_, index) => tool(`send_mail_${index}`, `Send mail by way ${index}.`));
    const retriever = await retrieverOf(tools);
    const { explanation } = await retriever.retrieve({ context, scoreThreshold: 0, explain: true });
    expect(explanation?.leftOut.length).toBe(10);
  });
});
