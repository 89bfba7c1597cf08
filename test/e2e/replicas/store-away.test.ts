import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modernClient } from "./clients.ts";
import { eventually } from "./eventually.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { startLoad } from "./load.ts";
import { STATES } from "./states.ts";

const MAIN = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));
const AWAY_MS = 20_000;

describe.each(STATES)("three replicas on $name, while it is away", ({ open }) => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet(open);
  }, 60_000);
  afterAll(() => fleet.close());

  it("go on with calls, refuse what needs an approval, and recover by themselves", async () => {
    const caller = { url: fleet.proxy.url, key: fleet.keys.asker };
    const load = await startLoad(fleet, { callers: 4 });
    // Every replica has met every session.
    await eventually("the load is under way", () => load.ended.length > 100);

    const since = performance.now();
    const bringBack = await fleet.state.takeAway();
    const before = load.ended.length;
    const refused = await modernClient(caller).call("young-pay", { id: "bill while away" });
    expect(refused.failed).toContain("approvals cannot be kept");
    await eventually("20 seconds have passed", () => performance.now() - since > AWAY_MS, { withinMs: 2 * AWAY_MS });
    const during = load.ended.slice(before);
    expect(during.filter(({ failed }) => failed !== undefined)).toEqual([]);
    expect(during.length).toBeGreaterThan(100);
    await bringBack();

    const asks = async (): Promise<boolean> =>
      Boolean((await modernClient(caller).call("young-pay", { id: "bill after" })).failed?.includes("approv"));
    await eventually("approvals work again", asks, { withinMs: 5_000 });
    const calls = await load.stop();
    expect(calls.filter(({ failed }) => failed !== undefined)).toEqual([]);
    for (const { log } of fleet.running()) {
      expect(log().match(/state-unavailable/g)).toHaveLength(1);
      await eventually("it says that the state is back", () => log().includes("state-restored"));
    }

    // The limits are shared again.
    const rated = await Promise.all(
      Array.from({ length: 100 }, (_, index) => modernClient(caller).call("young-rated", { id: `rated ${index}` })),
    );
    expect(Math.abs(rated.filter(({ said }) => said !== undefined).length - 60)).toBeLessThanOrEqual(1);

    await Promise.all(fleet.running().map(({ close }) => close()));
    const config = join(fleet.folder, "audit.yaml");
    const file = join(fleet.folder, "audit.jsonl");
    writeFileSync(config, JSON.stringify({ ...fleet.state.settings, audit: { file } }));
    const verify = spawn(process.execPath, [MAIN, "audit", "verify", "--config", config]);
    const [said, [code]] = await Promise.all([text(verify.stderr), once(verify, "exit")]);
    expect([code, said]).toEqual([0, expect.any(String)]);
    const records = readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.includes('"toolId":"young.book"') || line.includes('"toolId":"old.book"'));
    expect(records).toHaveLength(calls.length);
  }, 120_000);
});
