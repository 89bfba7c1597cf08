import assert from "node:assert/strict";
import { createPrincipal, localOperator, ToolArsenal } from "toolarsenal";

const arsenal = new ToolArsenal({ telemetry: { level: "error" } });
let refunded = 0;
arsenal.register(
  {
    name: "refund_order",
    description: "Gives a customer the money of an order back.",
    capabilities: ["financial"],
    parameters: {
      type: "object",
      properties: { order: { type: "string" }, amount: { type: "number" } },
      required: ["order", "amount"],
    },
  },
  ({ amount }) => (refunded += amount),
);

// The agent calls; `refund_*` must be approved by default, so nothing runs yet.
const agent = createPrincipal({ id: "support-bot", capabilities: ["financial"] });
const call = { toolName: "refund_order", arguments: { order: "1042", amount: 30 }, principal: agent };
const pending = await arsenal.execute(call);
console.log(pending.status, refunded);

// A person sees exactly what is waiting, and approves it.
const [waiting] = await arsenal.approvals.list();
assert.ok(waiting);
console.log(waiting.requestedBy, "asks for", waiting.toolId, JSON.stringify(waiting.arguments));
await arsenal.approvals.approve(waiting.id, localOperator({ id: "dana" }));

// The approval is for those arguments, once.
const greedy = await arsenal.execute({
  ...call,
  arguments: { order: "1042", amount: 3000 },
  confirmationId: waiting.id,
});
const done = await arsenal.execute({ ...call, confirmationId: waiting.id });
const again = await arsenal.execute({ ...call, confirmationId: waiting.id });
console.log(greedy.error?.code, done.status, again.error?.code, refunded);

assert.deepEqual([pending.status, done.status, refunded], ["pending_confirmation", "success", 30]);
assert.deepEqual([greedy.error?.code, again.error?.code], ["APPROVAL_INVALID", "APPROVAL_INVALID"]);
await arsenal.close();
