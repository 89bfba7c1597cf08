import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { syntheticTools } from "../../src/cli/benchmark/synthetic-tools.ts";
import type { Policy } from "../../src/guard/policy.port.ts";
import { ArsenalError, createPrincipal, type Principal, ToolArsenal } from "../../src/index.ts";

/** The agent that the frameworks run. */
export const AGENT: Principal = createPrincipal({
  id: "agent",
  scopes: ["*"],
  capabilities: ["read_data", "financial"],
});

/** The person who approves. */
export const DANA: Principal = createPrincipal({ id: "dana", roles: ["approver"] });

/** Refunds wait for a person, and nobody may delete customers. */
const POLICY: Policy = {
  sees: () => true,
  decide: ({ tool: { name } }) => {
    if (name === "delete_customer")
      return { effect: "deny", rule: "keep-customers", reason: "The agent may not delete customers." };
    if (name === "refund_order")
      return { effect: "confirm", rule: "refunds", reason: "A person must approve refunds." };
    return { effect: "allow" };
  },
};

/** Tools that no task needs. */
const OTHERS = 300;

/** Events of the shop's tools, for tests that wait for them. */
export interface ShopEvents {
  /** Resolves when `slow_report` has started. */
  readonly started: Promise<void>;
  /** Resolves when the signal of `slow_report` has fired. */
  readonly cancelled: Promise<void>;
}

/**
 * Creates an arsenal with six tools of a shop among 300 others. Approvals are kept in a file in `folder`, so that another process can go on, and so are the refunds
 * that were made.
 */
export function createShop(folder: string): { readonly arsenal: ToolArsenal; readonly events: ShopEvents } {
  const started = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  const arsenal = new ToolArsenal({ state: { file: join(folder, "state.sqlite") }, policy: POLICY });
  const order = { type: "object", properties: { order: { type: "string" } }, required: ["order"] } as const;
  const shop = (name: string, description: string, parameters: typeof order = order) =>
    ({ name, namespace: "shop", description, parameters }) as const;
  arsenal.register(shop("find_order", "Looks up an order of the shop by its number"), ({ order: id }) => {
    return { order: id, customer: "Robin", city: "Lisbon" };
  });
  arsenal.register(shop("track_parcel", "Tracks where the parcel of an order is now"), (_args, { progress }) => {
    progress({ progress: 1, total: 2, message: "Asking the carrier" });
    progress({ progress: 2, total: 2, message: "Reading the answer" });
    return { at: "Porto" };
  });
  arsenal.register(shop("print_invoice", "Prints the invoice of an order"), () => {
    throw new ArsenalError("EXECUTION_FAILED", "The printer is out of paper.");
  });
  arsenal.register(shop("pay_supplier", "Pays the supplier of an order"), () => {
    throw new ArsenalError("OUTCOME_UNKNOWN", "The bank closed the connection before it answered.");
  });
  arsenal.register(shop("delete_customer", "Deletes the customer who placed an order of the shop"), () => "deleted");
  arsenal.register(shop("refund_order", "Refunds the money of an order to its customer"), ({ order: id }) => {
    appendFileSync(join(folder, "refunds.txt"), `${id}\n`);
    return { refunded: id };
  });
  arsenal.register(shop("slow_report", "Writes a long sales report about an order"), (_args, { signal }) => {
    started.resolve();
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        cancelled.resolve();
        reject(signal.reason as Error);
      });
    });
  });
  void arsenal.add(syntheticTools(OTHERS).map((tool) => ({ tool, handler: () => ({}) })));
  return { arsenal, events: { started: started.promise, cancelled: cancelled.promise } };
}

/** The orders that were refunded, one entry for each time. */
export function refundsIn(folder: string): readonly string[] {
  const file = join(folder, "refunds.txt");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}
