// State and catalog in SQLite files: an approval that waits survives a restart.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPrincipal, ToolArsenal } from "toolarsenal";

const folder = mkdtempSync(join(tmpdir(), "runtime-"));
const principal = createPrincipal({ id: "agent" });
function open() {
  const arsenal = new ToolArsenal({
    state: { type: "sqlite", file: join(folder, "state.sqlite") },
    vectorStore: { type: "sqlite", file: join(folder, "catalog.sqlite") },
  });
  const refund = { name: "refund_order", description: "Refunds an order.", requiresConfirmation: true };
  arsenal.register(refund, () => "refunded");
  return arsenal;
}
const first = open();
const { status } = await first.execute({ toolName: "refund_order", arguments: {}, principal });
assert.equal(status, "pending_confirmation");
await first.close();
const second = open();
assert.equal((await second.approvals.list()).length, 1);
assert.equal((await second.retrieve("refund an order")).tools[0].tool.name, "refund_order");
await second.close();
