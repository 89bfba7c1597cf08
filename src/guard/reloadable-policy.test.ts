import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryState } from "../adapters/state/memory.ts";
import { operationsOf, ToolArsenal } from "../arsenal.ts";
import { createManualClock } from "../testing/manual-clock.ts";

const OPEN = "version: 1\nrules: []\n";
const CLOSED = "version: 1\nrules: [{ id: none, effect: deny, hide: false }]\n";

let folder: string;
let policyFile: string;
let arsenals: readonly ToolArsenal[];
let heard: string[];
const clock = createManualClock();
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "arsenal-policy-"));
  policyFile = join(folder, "policy.yaml");
  writeFileSync(policyFile, OPEN);
  heard = [];
  const state = memoryState({ clock });
  arsenals = ["one", "other"].map((name) => {
    const arsenal = new ToolArsenal({ security: { policyFile }, state });
    arsenal.register({ name: "greet", description: "Says hello.", parameters: { type: "object" } }, () => "hello");
    arsenal.subscribe((event) => {
      if (event.name === "policy-reloaded") heard.push(name);
    });
    return arsenal;
  });
  expect(await statuses()).toEqual(["success", "success"]);
});
afterEach(async () => {
  for (const arsenal of arsenals) await arsenal.close();
  rmSync(folder, { recursive: true });
});

const statuses = (): Promise<readonly string[]> =>
  Promise.all(arsenals.map(async (arsenal) => (await arsenal.execute({ toolName: "greet", arguments: {} })).status));

describe("a policy file of several processes on one state", () => {
  it("is read again by all of them when one of them is told to", async () => {
    writeFileSync(policyFile, CLOSED);
    operationsOf(arsenals[0] as ToolArsenal).policy.reload();
    await clock.advance(0);
    expect(await statuses()).toEqual(["permission_denied", "permission_denied"]);
    expect(heard).toEqual(["one", "other"]);
  });

  it("is not read again by those who have it already", async () => {
    operationsOf(arsenals[0] as ToolArsenal).policy.reload();
    await clock.advance(0);
    expect(heard).toEqual(["one"]);
  });

  it("changes nothing where it is invalid", async () => {
    writeFileSync(policyFile, "version: 2");
    expect(() => operationsOf(arsenals[0] as ToolArsenal).policy.reload()).toThrow("version");
    await clock.advance(0);
    expect(await statuses()).toEqual(["success", "success"]);
  });
});
