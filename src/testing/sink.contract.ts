import assert from "node:assert/strict";
import type { ArsenalEvent } from "../observe/events.ts";
import type { Sink } from "../observe/sink.port.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";

/** The contract of every sink. */
export function sinkContract(make: Make<Sink>): readonly ContractCase[] {
  const event: ArsenalEvent<"circuit-opened"> = {
    name: "circuit-opened",
    level: "warn",
    at: 1_700_000_000_000,
    data: { toolId: "default.send_email", consecutiveFailures: 5, retryAfterMs: 60_000 },
  };
  return contract(make, {
    "has a name": async (sink) => {
      assert.ok(sink.name.length > 0);
    },
    "takes a batch, an empty batch and many batches": async (sink) => {
      await sink.write([event, event]);
      await sink.write([]);
      for (let count = 0; count < 100; count++) await sink.write([event]);
      await sink.close?.();
    },
    "does not change the events it is given": async (sink) => {
      const given = structuredClone(event);
      await sink.write([given]);
      assert.deepEqual(given, event);
      await sink.close?.();
    },
  });
}
