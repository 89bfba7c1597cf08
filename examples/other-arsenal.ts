import assert from "node:assert/strict";
import { localOperator, ToolArsenal } from "toolarsenal";

const quiet = { telemetry: { level: "error" } } as const;

// The shop's arsenal: two tools, one of which a person must approve.
const shop = new ToolArsenal({ ...quiet, security: { requireConfirmation: ["refund"] } });
const parameters = { type: "object", properties: { order: { type: "string" } }, required: ["order"] } as const;
shop.register({ name: "track_parcel", description: "Says where a parcel is now.", parameters }, ({ order }) => ({
  order,
  place: "Oslo",
}));
shop.register({ name: "refund", description: "Pays the money for an order back.", parameters }, ({ order }) => ({
  order,
  paid: true,
}));
const { url = "", close } = await shop.serve({ port: 0 }); // also an A2A agent

// Yours: it uses the shop's arsenal as an agent, and finds its tools like your own.
const arsenal = new ToolArsenal(quiet);
await arsenal.addA2aAgent({ name: "shop", url });
const { tools } = await arsenal.retrieve({ context: { query: "Where is the parcel of my order?" } });
const found = tools[0]?.tool.id ?? "";
console.log(found); // prints: shop.a2a_shop_default_track_parcel

const { status, result } = await arsenal.execute({ toolName: found, arguments: { order: "A-17" } });
console.log(status, result); // prints: success { order: 'A-17', place: 'Oslo' }

// The shop's policy counts too: a call that it wants approved waits, and runs when it is made again.
const refund = { toolName: "shop.a2a_shop_default_refund", arguments: { order: "A-17" } };
const asked = await arsenal.execute(refund);
console.log(asked.status); // prints: pending_confirmation
const [waiting] = await shop.approvals.list();
assert(waiting, "nobody waits for an approval");
await shop.approvals.approve(waiting.id, localOperator({ id: "ada" }));
console.log((await arsenal.execute(refund)).result); // prints: { order: 'A-17', paid: true }

await arsenal.close();
await close();
await shop.close();
