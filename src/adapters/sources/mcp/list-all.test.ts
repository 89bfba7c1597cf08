import { expect, it } from "vitest";
import { listAll } from "./list-all.ts";
import type { JsonObject } from "./protocol.ts";

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
  expect(reported.map(({ reason }) => reason)).toEqual(["The server repeats a page: its list is read up to there."]);
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

it("rejects where there is no list", async () => {
  await expect(listAll(serving([{ tools: {} }]), "tools")).rejects.toMatchObject({ code: "PROTOCOL_ERROR" });
});
