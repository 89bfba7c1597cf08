import { createPrincipal, localOperator, type Principal, type ToolArsenal } from "toolarsenal";
import type { Reply } from "./scripted-model.ts";

/** Registers the tools of a small shop. Returns the refunds that were paid. */
export function registerShop(arsenal: ToolArsenal): readonly object[] {
  const refunds: object[] = [];
  const order = { type: "string", description: "The number of the order, such as 1042" } as const;
  const one = { type: "object", properties: { order }, required: ["order"] } as const;
  const reads = { parameters: one, capabilities: ["read_data"] } as const;
  const writes = { parameters: one, capabilities: ["write_data"] } as const;

  arsenal.register(
    { ...reads, name: "find_order", description: "Finds an order and says what was bought and when." },
    ({ order: number }) => ({ order: number, item: "rain jacket", price: 30, state: "delivered" }),
  );
  arsenal.register(
    { ...reads, name: "track_parcel", description: "Says where the parcel of an order is now." },
    ({ order: number }) => `The parcel of order ${number} was handed over on Monday.`,
  );
  arsenal.register(
    {
      name: "refund_order",
      description: "Refunds an order: gives the customer money back.",
      capabilities: ["financial"],
      parameters: {
        type: "object",
        properties: { order, amount: { type: "number" } },
        required: ["order", "amount"],
      } as const,
    },
    (args) => (refunds.push(args), `Refunded ${args.amount} for order ${args.order}.`),
  );
  arsenal.register(
    { ...writes, name: "change_address", description: "Changes the delivery address of an order." },
    () => "changed",
  );
  arsenal.register(
    { ...writes, name: "subscribe_newsletter", description: "Signs a customer up for the newsletter." },
    () => "signed up",
  );
  return refunds;
}

/** The agent: it may read orders and ask for refunds. It may not change an order or approve a call. */
export const agent: Principal = createPrincipal({ id: "support-bot", capabilities: ["read_data", "financial"] });

/** The person who approves. */
export const dana: Principal = localOperator({ id: "dana" });

/** What the customer writes. */
export const REQUESTS: readonly string[] = [
  "Where is my order 1042?",
  "The jacket is torn. Refund that order, please.",
  "And refund order 7 as well, that was 900 dollars.",
];

/** What the scripted model does: it looks the order up, then asks for a refund that Dana approves and for one that she denies. */
export const SCRIPT: readonly Reply[] = [
  { calls: [{ id: "call_1", name: "find_order", arguments: { order: "1042" } }] },
  { text: "Your rain jacket was delivered." },
  { calls: [{ id: "call_2", name: "refund_order", arguments: { order: "1042", amount: 30 } }] },
  { text: "I am sorry about the jacket. The 30 dollars are on their way." },
  { calls: [{ id: "call_3", name: "refund_order", arguments: { order: "7", amount: 900 } }] },
  { text: "I may not refund order 7." },
];
