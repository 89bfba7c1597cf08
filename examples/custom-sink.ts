import assert from "node:assert/strict";
import { type ArsenalEvent, ToolArsenal } from "toolarsenal";
import type { Sink } from "toolarsenal/sinks";
import { sinkContract } from "toolarsenal/testing";

/** Counts how calls ended, by tool. A sink gets events in batches, outside the path of any call. */
function callCounts(counts: Map<string, number>): Sink {
  return {
    name: "call-counts",
    write(events: readonly ArsenalEvent[]) {
      for (const event of events) {
        if (event.name !== "call-finished") continue;
        const key = `${event.data.toolId} ${event.data.status}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    },
  };
}

// The same suite that the built-in sinks pass.
for (const { run } of sinkContract(() => ({ adapter: callCounts(new Map()) }))) await run();

const counts = new Map<string, number>();
const arsenal = new ToolArsenal({ sinks: [callCounts(counts)] });
arsenal.register(
  { name: "roll_dice", description: "Rolls a die with six sides.", parameters: { type: "object" } },
  () => 4,
);
for (let roll = 0; roll < 3; roll++) await arsenal.execute({ toolName: "roll_dice" });
await arsenal.close(); // hands over what is left

console.log(Object.fromEntries(counts));
assert.deepEqual(Object.fromEntries(counts), { "default.roll_dice success": 3 });
