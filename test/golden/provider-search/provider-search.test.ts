import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anthropicDialect, openaiResponsesDialect } from "../../../src/adapters/dialects/index.ts";
import { createClient } from "../../../src/client/index.ts";
import { createPrincipal, ToolArsenal } from "../../../src/index.ts";
import { createRunner, createToolset } from "../../../src/toolset/index.ts";

const principal = createPrincipal({ id: "agent", capabilities: ["read_data"] });
const QUERY = "refund order 1042";

let arsenal: ToolArsenal;
const ran: unknown[] = [];

beforeAll(async () => {
  arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, security: { requireConfirmation: ["pay_*"] } });
  const order = { type: "object", properties: { order: { type: "string" } }, required: ["order"] } as const;
  const weight = { type: "object", properties: { grams: { type: "integer" } }, required: ["grams"] } as const;
  const add = (name: string, namespace: string, description: string, more: object = {}): void => {
    arsenal.register({ name, namespace, description, parameters: order, ...more }, (args) => ran.push(args));
  };
  add("refund_order", "shop", "Refunds an order.");
  add("find_order", "shop", "Finds an order.");
  add("pay_postage", "post.office", "Pays for a stamp.");
  arsenal.register(
    { name: "weigh_letter", namespace: "post.office", description: "Weighs a letter.", parameters: weight },
    ({ grams }) => (ran.push(grams), "weighed"),
  );
  add("erase_order", "shop", "Erases an order.", { capabilities: ["delete_data"] });
  await createToolset("shop").fromCatalog(arsenal).withNamespace("shop").build();
});

afterAll(() => arsenal.close());

/** A `fetch` that keeps the body of a request and gives one answer. */
function recorded(answer: object): { readonly bodies: unknown[]; readonly fetch: typeof fetch } {
  const bodies: unknown[] = [];
  const answers: typeof fetch = async (_url, init) => {
    bodies.push(JSON.parse(String(init?.body)));
    return Response.json(answer);
  };
  return { bodies, fetch: answers };
}

const asked = { limit: 1, principal, providerSearch: true } as const;

describe("a search by the provider", () => {
  it("defers Anthropic's tools, and calls of deferred tools are read, repaired and guarded", async () => {
    const tools = await arsenal.retrieveTools(QUERY, { ...asked, dialect: "anthropic" });
    const answer = {
      type: "message",
      role: "assistant",
      stop_reason: "tool_use",
      content: [
        { type: "server_tool_use", id: "srv_1", name: "tool_search_tool_bm25", input: { query: "letter" } },
        {
          type: "tool_search_tool_result",
          tool_use_id: "srv_1",
          content: {
            type: "tool_search_tool_search_result",
            tool_references: [{ type: "tool_reference", tool_name: "post--office-weigh_letter" }],
          },
        },
        { type: "tool_use", id: "t_1", name: "post--office-weigh_letter", input: { grams: "20" } },
        { type: "tool_use", id: "t_2", name: "post--office-pay_postage", input: { order: "7" } },
        { type: "tool_use", id: "t_3", name: "shop-erase_order", input: { order: "7" } },
      ],
    };
    const { bodies, fetch } = recorded(answer);
    const client = new Anthropic({ apiKey: "none", baseURL: "http://127.0.0.1:1", fetch });
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: QUERY }];
    const message = await client.messages.create({ model: "claude-sonnet-5", max_tokens: 1000, messages, tools });
    await expect(`${JSON.stringify(bodies, null, 2)}\n`).toMatchFileSnapshot("anthropic.json");
    await expectGuarded(anthropicDialect().readCalls(message));
  });

  it("puts OpenAI's tools into namespaces, and calls of deferred tools are read, repaired and guarded", async () => {
    const tools = await arsenal.retrieveTools(QUERY, { ...asked, dialect: "openai-responses" });
    const call = (call_id: string, namespace: string, name: string, args: object): object => {
      return { type: "function_call", id: `fc_${call_id}`, call_id, namespace, name, arguments: JSON.stringify(args) };
    };
    const search = { execution: "server", call_id: null, status: "completed" };
    const answer = {
      object: "response",
      output: [
        { type: "tool_search_call", id: "ts_1", arguments: { paths: ["post_office"] }, ...search },
        { type: "tool_search_output", id: "to_1", tools: [], ...search },
        call("t_1", "post_office", "post--office-weigh_letter", { grams: "20" }),
        call("t_2", "post_office", "post--office-pay_postage", { order: "7" }),
        call("t_3", "shop", "shop-erase_order", { order: "7" }),
      ],
    };
    const { bodies, fetch } = recorded(answer);
    const client = new OpenAI({ apiKey: "none", baseURL: "http://127.0.0.1:1", fetch });
    const response = await client.responses.create({ model: "gpt-5.5", input: QUERY, tools });
    await expect(`${JSON.stringify(bodies, null, 2)}\n`).toMatchFileSnapshot("openai-responses.json");
    await expectGuarded(openaiResponsesDialect().readCalls(response));
  });

  async function expectGuarded(calls: ReturnType<ReturnType<typeof anthropicDialect>["readCalls"]>): Promise<void> {
    ran.length = 0;
    const results = await Promise.all(calls.map(({ call }) => arsenal.execute({ ...call, principal })));
    expect(results.map(({ status, error }) => error?.code ?? status)).toEqual([
      "success",
      "CONFIRMATION_REQUIRED",
      "PERMISSION_DENIED",
    ]);
    expect(ran).toEqual([20]);
  }

  it("is not taken for a call in a stream", () => {
    const stream = anthropicDialect().readStream();
    const block = (index: number, type: string, name: string, json: string): readonly object[] => [
      { type: "content_block_start", index, content_block: { type, id: `id_${index}`, name, input: {} } },
      { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: json } },
      { type: "content_block_stop", index },
    ];
    const events = [
      ...block(0, "server_tool_use", "tool_search_tool_bm25", '{"query":"letter"}'),
      ...block(1, "tool_use", "post--office-weigh_letter", '{"grams":20}'),
    ];
    const calls = [...events.flatMap((event) => stream.push(event)), ...stream.end()];
    expect(calls.map(({ call }) => call)).toEqual([
      { toolName: "post--office-weigh_letter", arguments: { grams: 20 } },
    ]);
  });

  it("defers only what the caller, the toolset and the query's filters leave", async () => {
    const names = async (more: object): Promise<readonly string[]> => {
      const options = { limit: 1, principal, dialect: "anthropic", providerSearch: true, ...more } as const;
      return (await arsenal.retrieveTools(QUERY, options)).slice(1).map(({ name }) => name);
    };
    const runner = createRunner(arsenal, "shop");
    const scoped = await runner.retrieveTools(QUERY, { ...asked, dialect: "anthropic" });
    expect(scoped.map(({ name }) => name)).toEqual(["tool_search_tool_bm25", "shop-refund_order", "shop-find_order"]);
    expect(await names({ namespaces: ["shop"] })).toEqual(["shop-refund_order", "shop-find_order"]);
    expect(await names({ requiredCapabilities: ["delete_data"] })).toEqual([]);
  });

  it("is written by a gateway for its clients too", async () => {
    const { url = "" } = await arsenal.serve({ port: 0 });
    const options = { limit: 1, dialect: "anthropic", providerSearch: true } as const;
    const remote = await createClient({ url }).retrieveTools(QUERY, options);
    expect(remote).toEqual(await arsenal.retrieveTools(QUERY, options));
    expect(remote.filter((each) => "defer_loading" in each)).toHaveLength(4);
  });

  it("sends no search if every tool is loaded", async () => {
    const tools = await createRunner(arsenal, "shop").retrieveTools(QUERY, {
      ...asked,
      limit: 5,
      dialect: "anthropic",
    });
    expect(tools.map(({ name }) => name)).toEqual(["shop-refund_order", "shop-find_order"]);
  });

  it.each(["openai", "gemini", "mcp"] as const)("is refused for %s, which has none", async (dialect) => {
    await expect(arsenal.retrieveTools(QUERY, { dialect, providerSearch: true })).rejects.toMatchObject({
      code: "QUERY_INVALID",
      message: `providerSearch is true, but the dialect "${dialect}" has no tool search. Use dialect: "anthropic" or dialect: "openai-responses", or leave providerSearch out: retrieval then finds the tools.`,
      details: { field: "providerSearch" },
    });
  });
});

describe("the limits of a request", () => {
  const many = async (count: number, namespaces: number): Promise<ToolArsenal> => {
    const crowd = new ToolArsenal({ embedder: { tier: "lexical" } });
    const parameters = { type: "object" } as const;
    await crowd.add(
      Array.from({ length: count }, (_, at) => ({
        tool: { name: `tool_${at}`, namespace: `n${at % namespaces}`, description: `Does thing ${at}.`, parameters },
      })),
    );
    return crowd;
  };

  it.each([
    [40, 4, 7],
    [1_000, 3, 112],
    [2_000, 3, 126],
    [300, 150, 100],
  ])("keeps %i tools of %i namespaces in %i namespaces of OpenAI", async (count, namespaces, expected) => {
    await using crowd = await many(count, namespaces);
    const tools = await crowd.retrieveTools("thing 1", { dialect: "openai-responses", providerSearch: true, limit: 1 });
    const groups = tools.filter((each) => each.type === "namespace");
    expect(tools.length).toBeLessThanOrEqual(128);
    expect(groups.length).toBe(expected);
    expect(new Set(groups.map(({ name }) => name)).size).toBe(groups.length);
    const functions = [...tools.filter((each) => each.type === "function"), ...groups.flatMap((each) => each.tools)];
    expect(new Set(functions.map(({ name }) => name)).size).toBe(count);
  });

  it("is the provider's, and the tools of our ranking are always within it", async () => {
    const dialect = anthropicDialect();
    expect(dialect.providerSearch.maxTools).toBe(10_000);
    const small = { ...dialect, providerSearch: { ...dialect.providerSearch, maxTools: 3 } };
    const tools = await arsenal.retrieveTools("pay for a stamp", { ...asked, dialect: small });
    expect(tools.map(({ name }) => name)).toEqual([
      "tool_search_tool_bm25",
      "post--office-pay_postage",
      "post--office-weigh_letter",
      "shop-find_order",
    ]);
  });
});
