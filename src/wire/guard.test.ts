import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { memoryState } from "../adapters/state/memory.ts";
import { ToolArsenal } from "../arsenal.ts";
import type { SharedState } from "../state/shared-state.ts";

/** An arsenal with a state of its owner, and how many listeners it has there. */
function onOwnState(): { readonly arsenal: ToolArsenal; listeners(): number } {
  const folder = mkdtempSync(join(tmpdir(), "arsenal-guard-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const policyFile = join(folder, "policy.yaml");
  writeFileSync(policyFile, "version: 1\nrules: []\n");
  const { changes, ...others } = memoryState();
  const listening = new Set<object>();
  const state: SharedState = {
    ...others,
    changes: {
      publish: changes.publish,
      subscribe(topic, listener) {
        const end = changes.subscribe(topic, listener);
        listening.add(end);
        return () => (listening.delete(end), end());
      },
    },
  };
  return { arsenal: new ToolArsenal({ security: { policyFile }, state }), listeners: () => listening.size };
}

it("leaves nothing behind in a state of the owner's if it is closed while it is being loaded", async () => {
  const { arsenal, listeners } = onOwnState();
  const listed = arsenal.approvals.list();
  await arsenal.close();
  expect([await listed, listeners()]).toEqual([[], 0]);
});

it("is not loaded once the arsenal is closed", async () => {
  const { arsenal, listeners } = onOwnState();
  await arsenal.close();
  await expect(arsenal.approvals.list()).rejects.toMatchObject({ code: "CLOSED" });
  expect(listeners()).toBe(0);
});

it("gives approvals and pins as plain objects with exactly their public methods", async () => {
  await using arsenal = new ToolArsenal();
  expect(Object.keys(arsenal.approvals)).toEqual(["list", "count", "get", "decided", "answer", "approve", "deny"]);
  expect(Object.keys(arsenal.pins ?? {})).toEqual(["instructions", "list", "accept", "refuse"]);
  expect(inspect(arsenal.approvals)).toContain("approve");
  const { list } = { ...arsenal.approvals };
  expect(await list()).toEqual([]);
  expect("review" in (arsenal.pins ?? {})).toBe(false);
});
