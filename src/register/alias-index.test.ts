import { expect, it } from "vitest";
import { defineTool } from "../tool/define-tool.ts";
import type { Tool } from "../tool/tool.ts";
import { fromAlias, isCutAlias, toAlias } from "../transcode/alias.ts";
import { createAliasIndex } from "./alias-index.ts";

const LONG = `${"server".repeat(12)}.list_invoices`;

function setUp(...ids: readonly string[]) {
  const tools = new Map<string, Tool>();
  const add = (id: string): void => {
    const dot = id.lastIndexOf(".");
    const draft = { name: id.slice(dot + 1), namespace: id.slice(0, dot), description: "Does something useful." };
    tools.set(id, defineTool({ ...draft, parameters: {} }));
  };
  ids.forEach(add);
  let scans = 0;
  const index = createAliasIndex(
    { toAlias, fromAlias, isCutAlias },
    { current: (id) => tools.get(id), all: () => (scans++, tools.values()) },
  );
  return { index, tools, add, scans: () => scans };
}

it("finds a tool by its alias without looking at the others", () => {
  const { index, scans } = setUp("billing.refund", "default.add");
  expect([index.find("billing-refund")?.id, index.find("add")?.id, index.find("nothing")]).toEqual([
    "billing.refund",
    "default.add",
    undefined,
  ]);
  expect(scans()).toBe(0);
});

it("looks at all tools once for an alias that was cut, and finds it at once from then on", () => {
  const { index, scans } = setUp("billing.refund", LONG);
  for (let time = 0; time < 3; time++) expect(index.find(toAlias(LONG))?.id).toBe(LONG);
  expect(scans()).toBe(1);
});

it("finds a long tool that came later, and none that is gone", () => {
  const { index, add, tools } = setUp();
  expect(index.find(toAlias(LONG))).toBeUndefined();
  add(LONG);
  expect(index.find(toAlias(LONG))?.id).toBe(LONG);
  tools.delete(LONG);
  expect(index.find(toAlias(LONG))).toBeUndefined();
});
