import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { createPrincipal, localOperator, ToolArsenal } from "toolarsenal";
import { workflows } from "toolarsenal/sources";

const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
const text = { type: "string" } as const;
const done: string[] = [];

// The tools of a shop. The workflow in workflows/credit-order.yaml composes them.
arsenal.register(
  {
    name: "find_order",
    namespace: "shop",
    description: "Finds an order by its number.",
    parameters: { type: "object", properties: { order: text }, required: ["order"] },
    returns: {
      type: "object",
      properties: {
        id: text,
        customer: text,
        lines: { type: "array", items: { type: "object", properties: { sku: text } } },
      },
    },
  },
  ({ order }) => ({ id: order, customer: "Ada", lines: [{ sku: "cup" }, { sku: "plate" }] }),
);
for (const [name, parameter] of [
  ["reserve", "sku"],
  ["release", "reservation"],
] as const)
  arsenal.register(
    {
      name,
      namespace: "shop",
      description: `Can ${name} goods of the shop.`,
      parameters: { type: "object", properties: { [parameter]: text }, required: [parameter] },
    },
    (given) => {
      const value = (given as Record<string, string>)[parameter] ?? "";
      done.push(`${name} ${value}`);
      return { reservation: `r-${value}` };
    },
  );
arsenal.register(
  {
    name: "credit",
    namespace: "shop",
    description: "Credits an amount to the customer of an order.",
    capabilities: ["financial"],
    parameters: {
      type: "object",
      properties: { order: text, amount: { type: "number" } },
      required: ["order", "amount"],
    },
  },
  ({ amount }) => {
    if (amount > 500) throw new Error("The bank refused.");
    done.push(`credit ${amount}`);
    return { amount };
  },
);
await arsenal.add(workflows(fileURLToPath(new URL("workflows", import.meta.url))));

// One call instead of four. The workflow needs what its tools need.
const agent = createPrincipal({ id: "support-bot", capabilities: ["financial"] });
const call = (amount: number) => ({
  toolName: "workflows.credit_order",
  arguments: { order: "1042", amount },
  principal: agent,
});
const small = await arsenal.execute(call(20));
console.log(JSON.stringify(small.result)); // prints: {"credited":20,"goods":["r-cup","r-plate"]}

// Above 100 a person is asked. The run waits, and goes on without repeating a step.
const waiting = await arsenal.execute(call(200));
const [asked] = await arsenal.approvals.list();
assert.ok(asked);
console.log(waiting.status, JSON.stringify(asked.arguments["approval"])); // prints: pending_confirmation {"step":"agree","question":"Credit 200 euros to Ada?"}
await arsenal.approvals.approve(asked.id, localOperator({ id: "dana" }));
const large = await arsenal.execute(call(200));
assert.deepEqual(large.result, { credited: 200, goods: ["r-cup", "r-plate"] });
assert.equal(done.filter((each) => each === "reserve cup").length, 2);

// A step that fails undoes those before it, last first.
const { confirmationId = "" } = await arsenal.execute(call(900));
await arsenal.approvals.approve(confirmationId, localOperator({ id: "dana" }));
const refused = await arsenal.execute(call(900));
console.log(refused.error?.message); // prints: The step "credit" (shop.credit) failed: The bank refused. Undone: reserve[1], reserve[0].
assert.deepEqual(done.slice(-2), ["release r-plate", "release r-cup"]);

await arsenal.close();
