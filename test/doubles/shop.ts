import { ToolArsenal, type ToolArsenalOptions } from "../../src/index.ts";
import type { ToolDraft } from "../../src/tool/draft.ts";

const TEXT = { type: "string" } as const;

const ORDER = {
  type: "object",
  properties: {
    id: TEXT,
    total: { type: "number" },
    lines: { type: "array", items: { type: "object", properties: { sku: TEXT } } },
  },
} as const;

/** The tools of a shop, as workflows in tests use them. */
const TOOLS: readonly (ToolDraft & { readonly run: (args: Record<string, unknown>) => unknown })[] = [
  {
    name: "find_order",
    parameters: { type: "object", properties: { order: TEXT }, required: ["order"] },
    returns: ORDER,
    annotations: { readOnly: true, confirmed: true },
    run: ({ order }) => ({ id: order, total: 30, lines: [{ sku: "a" }, { sku: "b" }] }),
  },
  {
    name: "reserve",
    parameters: { type: "object", properties: { sku: TEXT, speed: { enum: ["slow", "fast"] } }, required: ["sku"] },
    returns: { type: "object", properties: { reservation: TEXT } },
    capabilities: ["write_data"],
    run: ({ sku }) => ({ reservation: `r-${String(sku)}` }),
  },
  {
    name: "release",
    parameters: { type: "object", properties: { reservation: TEXT }, required: ["reservation"] },
    capabilities: ["write_data"],
    run: () => "released",
  },
  {
    name: "credit",
    parameters: {
      type: "object",
      properties: { order: TEXT, amount: { type: "number" } },
      required: ["order", "amount"],
    },
    returns: { type: "object", properties: { order: TEXT, amount: { type: "number" } } },
    capabilities: ["financial"],
    requiredScopes: ["billing"],
    run({ order, amount }) {
      if (Number(amount) > 1000) throw new Error("the bank refused.");
      return { order, amount };
    },
  },
];

/** An arsenal with the tools of a shop, and the calls that reached them. */
export function createShop(options: ToolArsenalOptions = {}) {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, ...options });
  const calls: string[] = [];
  const add = (name: string): void => {
    const found = TOOLS.find((tool) => tool.name === name);
    if (found === undefined) throw new Error(`The shop has no ${name}.`);
    const { run, ...draft } = found;
    const described = { ...draft, namespace: "shop", description: `The tool ${name} of a shop, for tests.` };
    arsenal.register(described, (args) => {
      calls.push(`${name} ${JSON.stringify(args)}`);
      return run(args as Record<string, unknown>);
    });
  };
  return { arsenal, calls, add };
}

/** The same, with all its tools. */
export function createFullShop(options: ToolArsenalOptions = {}) {
  const shop = createShop(options);
  for (const { name } of TOOLS) shop.add(name);
  return shop;
}
