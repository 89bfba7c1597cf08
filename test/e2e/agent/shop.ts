import { appendFileSync } from "node:fs";
import { llms } from "../../../src/adapters/llms/manifest.ts";
import { type Agent, type AgentOptions, createAgent } from "../../../src/agent/index.ts";
import { syntheticTools } from "../../../src/cli/benchmark/synthetic-tools.ts";
import { localOperator, ToolArsenal } from "../../../src/index.ts";
import type { ModelDouble } from "../../doubles/llms/model-double.ts";

/** The most tools that the agents of these tests send. */
export const LIMIT = 6;

/** The agent may make calls and approve none. It may not delete. */
export const SELLER = localOperator({
  id: "seller",
  roles: [],
  capabilities: ["read_data", "write_data", "financial"],
  local: false,
});

/** Who approves. */
export const DANA = localOperator({ id: "dana" });

/** The tools of a shop among so many others that there are 300. `log` gets a line for each call that ran. */
export async function openShop(
  where: { readonly log: string; readonly state: string },
  onPacking: () => void = () => {},
): Promise<ToolArsenal> {
  const arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, state: { file: where.state } });
  const order = { order: { type: "string", description: "The number of the order" } } as const;
  const one = { type: "object", properties: order, required: ["order"] } as const;
  const ran = (what: string): void => appendFileSync(where.log, `${what}\n`);
  let started = 0;
  const both = Promise.withResolvers<void>();

  arsenal.register(
    {
      name: "find_order",
      namespace: "shop",
      description: "Finds an order: what was bought and when.",
      parameters: one,
    },
    ({ order: id }) => (ran(`find ${id}`), { order: id, item: "rain jacket", price: 30 }),
  );
  arsenal.register(
    { name: "weigh_order", namespace: "shop", description: "Weighs an order on the scale.", parameters: one },
    // Ends only when another one has started.
    async ({ order: id }) => {
      if (++started === 2) both.resolve();
      await both.promise;
      return `${id} weighs 2 kg`;
    },
  );
  arsenal.register(
    { name: "track_order", namespace: "shop", description: "Tracks the parcel of an order.", parameters: one },
    () => {
      throw new Error("The carrier does not answer.");
    },
  );
  arsenal.register(
    {
      name: "erase_order",
      namespace: "shop",
      description: "Erases an order.",
      parameters: one,
      capabilities: ["delete_data"],
    },
    ({ order: id }) => ran(`erase ${id}`),
  );
  arsenal.register(
    { name: "refund_order", namespace: "shop", description: "Refunds an order: money back.", parameters: one },
    ({ order: id }) => (ran(`refund ${id}`), `refunded ${id}`),
  );
  arsenal.register(
    { name: "pack_order", namespace: "shop", description: "Packs an order, which takes long.", parameters: one },
    (_args, { signal }) => {
      ran("pack started");
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => (ran("pack aborted"), reject(signal.reason as Error)));
        onPacking();
      });
    },
  );
  await arsenal.add(syntheticTools(300 - arsenal.toolCount).map((tool) => ({ tool })));
  return arsenal;
}

/** The agent of the shop, with the model behind a double. */
export async function openSeller(
  arsenal: ToolArsenal,
  settings: ModelDouble["settings"],
  options: Partial<AgentOptions> = {},
): Promise<Agent> {
  const { create } = await llms[settings.type]();
  const systemPrompt = "You serve the customers of a shop.";
  return createAgent({ llm: create(settings), arsenal, systemPrompt, limit: LIMIT, principal: SELLER, ...options });
}
