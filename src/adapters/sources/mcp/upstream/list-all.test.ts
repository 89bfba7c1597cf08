import { describe, expect, it } from "vitest";
import { listAll } from "./list-all.ts";
import type { JsonObject } from "../../../../mcp/protocol.ts";

/** A server that answers with these pages, whose cursors are their numbers. */
function serving(pages: readonly JsonObject[]): (method: string, params?: JsonObject) => Promise<JsonObject> {
  return async (_, params) => pages[Number(params?.["cursor"] ?? 0)] ?? {};
}

const named = (name: unknown): JsonObject => ({ name, inputSchema: { type: "object" } });

it("reads a hundred pages", async () => {
  const pages = Array.from({ length: 100 }, (_, page) => ({
    tools: [named(`tool ${page}`)],
    ...(page < 99 ? { nextCursor: String(page + 1) } : {}),
  }));
  const tools = await listAll(serving(pages), "tools");
  expect(tools.map(({ name }) => name)).toEqual(Array.from({ length: 100 }, (_, page) => `tool ${page}`));
});

it("leaves out what cannot be used, says why, and keeps the rest as it came", async () => {
  const reported: unknown[] = [];
  const typeless = { name: "typeless", inputSchema: { properties: {} }, extra: [1] };
  const page = { tools: [null, typeless, named(""), named(5), named("b"), named("refused")] };
  const tools = await listAll(serving([page]), "tools", {
    report: (entry) => reported.push(entry),
    refuse: ({ name }) => (name === "refused" ? "Not here." : undefined),
  });
  expect(tools).toEqual([typeless, named("b")]);
  expect(reported).toEqual([
    { name: "null", reason: "It is null instead of an object." },
    { name: "", reason: 'Its name is "".' },
    { name: "5", reason: "Its name is 5." },
    { name: "refused", reason: "Not here." },
  ]);
});

it("stops where the server repeats a page", async () => {
  const reported: { readonly reason: string }[] = [];
  const pages = [
    { prompts: [named("a")], nextCursor: "1" },
    { prompts: [named("b")], nextCursor: "1" },
  ];
  const prompts = await listAll(serving(pages), "prompts", { report: (entry) => reported.push(entry) });
  expect(prompts.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(reported.map(({ reason }) => reason)).toEqual([
    "The server repeats a page of its list. The rest is left out.",
  ]);
});

it("stops at the most that it takes", async () => {
  let pages = 0;
  const endless = async (): Promise<JsonObject> => ({
    resources: [{ uri: `a:${pages}` }, { uri: `b:${pages}` }],
    nextCursor: String(++pages),
  });
  expect(await listAll(endless, "resources", { maxItems: 3 })).toEqual([
    { uri: "a:0" },
    { uri: "b:0" },
    { uri: "a:1" },
  ]);
  expect(pages).toBe(2);
});

describe("a server that lists without end", () => {
  /** Pages without end, each with another cursor. */
  function endless(
    page: (number: number) => JsonObject,
    cursor = (number: number): string => String(number),
  ): { readonly request: (method: string) => Promise<JsonObject>; readonly pages: number } {
    let pages = 0;
    return {
      request: async () => ({ ...page(pages), nextCursor: cursor(++pages) }),
      get pages() {
        return pages;
      },
    };
  }
  const reading = async (
    request: (method: string) => Promise<JsonObject>,
    options: Parameters<typeof listAll>[2] = {},
  ): Promise<{ readonly tools: readonly JsonObject[]; readonly reasons: readonly string[] }> => {
    const reasons: string[] = [];
    const tools = await listAll(request, "tools", { ...options, report: ({ reason }) => void reasons.push(reason) });
    return { tools, reasons };
  };

  it("is read up to a number of pages, also where they are empty, and keeps what it listed", async () => {
    const server = endless((number) => ({ tools: number === 0 ? [named("first")] : [] }));
    const { tools, reasons } = await reading(server.request);
    expect(server.pages).toBe(1000);
    expect(tools).toEqual([named("first")]);
    expect(reasons).toEqual(["The list has more than 1000 pages. The rest is left out."]);
  });

  it("is read up to a cursor that is too long", async () => {
    const server = endless(
      () => ({ tools: [named("first")] }),
      () => "x".repeat(8193),
    );
    const { tools, reasons } = await reading(server.request);
    expect([server.pages, tools.length]).toEqual([1, 1]);
    expect(reasons).toEqual([
      "The cursor of the next page has more than 8192 characters. The rest of the list is left out.",
    ]);
  });

  it("is read up to a number of bytes", async () => {
    const server = endless((number) => ({ tools: [{ ...named(`t${number}`), description: "x".repeat(400) }] }));
    const { tools, reasons } = await reading(server.request, { maxBytes: 2000 });
    expect([server.pages, tools.length]).toEqual([5, 4]);
    expect(reasons).toEqual(["The list has more than 2000 bytes. The rest is left out."]);
  });

  it("is read until the time is up", async () => {
    const server = endless((number) => ({ tools: [named(`t${number}`)] }));
    const { tools, reasons } = await reading(server.request, { isLate: () => server.pages === 7 });
    expect(tools).toHaveLength(7);
    expect(reasons).toEqual(["Reading the list takes too long. The rest is left out."]);
  });

  it("is reported in a few lines, whatever is wrong with how many entries", async () => {
    const page = { tools: [...Array.from({ length: 100_000 }, (_, number) => named(`t${number}`)), null] };
    const { tools, reasons } = await reading(serving([page]), { maxItems: 20_000 });
    expect(tools).toHaveLength(20_000);
    expect(reasons).toEqual([
      "It is null instead of an object.",
      "The server lists more than 20000 tools. The rest is left out.",
    ]);
    const broken = await reading(serving([{ tools: Array.from({ length: 5000 }, () => null) }]));
    expect(broken.reasons).toHaveLength(11);
    expect(broken.reasons.at(-1)).toBe("4990 more entries are left out.");
  });
});

it("rejects where there is no list", async () => {
  await expect(listAll(serving([{ tools: {} }]), "tools")).rejects.toMatchObject({ code: "PROTOCOL_ERROR" });
});
