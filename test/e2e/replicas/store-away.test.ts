import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modernClient } from "./clients.ts";
import { eventually } from "./eventually.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { startLoad } from "./load.ts";
import { STATES } from "./states.ts";
import { some } from "../../kit/effort.ts";
import { MAIN } from "../../kit/program.ts";

/** What a command prints. Fails if the command does. */
async function toolarsenal(...given: readonly string[]): Promise<string> {
  const command = spawn(process.execPath, [MAIN, ...given], { stdio: ["ignore", "pipe", "inherit"] });
  const [said, [code]] = await Promise.all([text(command.stdout), once(command, "exit")]);
  expect(code).toBe(0);
  return said;
}

describe.each(some(STATES, 1, "store-away"))("three replicas on $name", ({ open, troubles }) => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet(async (...given) => {
      const state = await open(...given);
      const { audit } = state.settings as { readonly audit: object };
      // Calls go on while the store of the audit log is killed.
      return { ...state, settings: { ...state.settings, audit: { ...audit, on_failure: "allow" } } };
    });
  });
  afterAll(() => fleet?.close());

  const anywhere = () => modernClient({ url: fleet.proxy.url, key: fleet.keys.asker });

  it.each(troubles)(
    "go on with calls while it %s, fail closed where they must, and recover by themselves",
    async (name) => {
      const trouble = fleet.state.troubles[name];
      if (trouble === undefined) throw new Error(`There is no trouble "${name}".`);
      const load = await startLoad(fleet, { callers: 2 });
      // Every replica has met every session.
      await eventually("the load is under way", () => load.ended.length > 40);
      const reports = fleet.running().map(({ log }) => log().length);

      const since = performance.now();
      const end = await trouble.begin();
      const before = load.ended.length;
      const asked = await anywhere().call("young-pay", { id: `bill while it ${name}` });
      expect(asked.failed).toContain(
        trouble.away.includes("documents") ? "approvals cannot be kept" : "Awaiting Confirmation",
      );
      await eventually("it has lasted", () => performance.now() - since > trouble.ms, { withinMs: 2 * trouble.ms });
      expect(load.ended.length - before).toBeGreaterThan(10);
      await end();

      const asks = async (): Promise<boolean> =>
        (await anywhere().call("young-pay", { id: `bill after it ${name}` })).failed?.includes(
          "Awaiting Confirmation",
        ) === true;
      await eventually("approvals work again", asks);
      const calls = await load.stop();
      expect(calls.filter(({ failed }) => failed !== undefined)).toEqual([]);
      expect(calls.filter(({ server, id }) => fleet[server].executed.get(id) !== 1)).toEqual([]);
      if (!trouble.away.includes("limits")) return;
      for (const [index, { log }] of fleet.running().entries()) {
        const reported = (): string => log().slice(reports[index]);
        const times = (event: string, part: string): number =>
          reported().split(`"event":"${event}","part":"${part}"`).length - 1;
        await eventually("it says that the limits are back", () => times("state-restored", "limits") === 1);
        expect(times("state-unavailable", "limits")).toBe(1);
        // Only a replica that was asked for documents meanwhile knows that they were away.
        expect(times("state-unavailable", "documents")).toBeLessThanOrEqual(1);
      }
    },
    90_000,
  );

  it("share limits again, and their audit log is intact and has every call, or says how many are missing", async () => {
    const rated = await Promise.all(
      Array.from({ length: 100 }, (_, index) => anywhere().call("young-rated", { id: `rated ${index}` })),
    );
    expect(Math.abs(rated.filter(({ said }) => said !== undefined).length - 60)).toBeLessThanOrEqual(1);

    await Promise.all(fleet.running().map(({ close }) => close()));
    const config = join(fleet.folder, "audit.yaml");
    writeFileSync(config, JSON.stringify(fleet.state.settings));
    expect(JSON.parse(await toolarsenal("audit", "verify", "--json", "--config", config))).toMatchObject({ ok: true });
    const lines = await toolarsenal("audit", "tail", "--lines", "100000", "--json", "--config", config);
    const records = lines
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const kept = records.filter(({ status }) => status === "success").length;
    // While the log itself is away, calls go on: it says how many records are missing.
    const missing = records.reduce((sum, { kind, records: count }) => sum + (kind === "gap" ? Number(count) : 0), 0);
    const executed = fleet.old.executed.size + fleet.young.executed.size;
    expect(kept).toBeLessThanOrEqual(executed);
    expect(kept + missing).toBeGreaterThanOrEqual(executed);
  });
});
