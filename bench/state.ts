/** The cost of a call's limits: admit and release, sequentially and 64 at once, in each available store, as a ratio to memory. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryState } from "../src/adapters/state/memory.ts";
import { postgresState } from "../src/adapters/state/postgres.ts";
import { redisState } from "../src/adapters/state/redis.ts";
import { sqliteState } from "../src/adapters/state/sqlite.ts";
import { table } from "../src/cli/terminal/style.ts";
import type { SharedState } from "../src/state/shared-state.ts";
import { realPostgres } from "../test/services/postgres.ts";
import { redisMissing, startRedis } from "../test/services/redis.ts";

const ROUNDS = 30;
const CALLS = 640;
const AT_ONCE = 64;

/** The limits of a typical call: a rate for its tool and its tenant, two places, a breaker and a retry budget. */
const REQUEST = {
  windows: [
    { key: "tool", calls: 1_000_000, windowMs: 60_000 },
    { key: "tenant", calls: 1_000_000, windowMs: 60_000 },
  ],
  places: [
    { key: "all", limit: 100 },
    { key: "ensemble", limit: 100 },
  ],
  breaker: { key: "tool", threshold: 5, coolDownMs: 60_000 },
  budget: { key: "tool", share: 0.2 },
  waitMs: 1_000,
  holdMs: 60_000,
};

const folder = mkdtempSync(join(tmpdir(), "bench-state-"));
const missing = redisMissing();
const redis = missing === undefined ? await startRedis() : undefined;
const postgres = await realPostgres();
const states: readonly SharedState[] = [
  memoryState(),
  sqliteState({ file: join(folder, "state.sqlite") }),
  ...(redis === undefined ? [] : [redisState({ url: redis.url, keyPrefix: randomUUID() })]),
  ...(postgres === undefined ? [] : [postgresState({ url: postgres.url })]),
];

async function call({ limits }: SharedState): Promise<void> {
  const admission = await limits.admit(REQUEST);
  if (!admission.admitted) throw new Error(`refused: ${admission.because}`);
  await limits.release(admission.pass, "success");
}

/** Microseconds per call, with `atOnce` concurrent calls. */
async function measure(state: SharedState, atOnce: number): Promise<number> {
  const began = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let done = 0; done < CALLS / atOnce; done++) await call(state);
    }),
  );
  return ((performance.now() - began) * 1_000) / CALLS;
}

const times = new Map(states.map((state) => [state, { alone: [] as number[], together: [] as number[] }]));
// In turns, so that load affects all alike. The first rounds warm up.
for (let round = -5; round < ROUNDS; round++)
  for (const [state, { alone, together }] of times) {
    const [one, many] = [await measure(state, 1), await measure(state, AT_ONCE)];
    if (round < 0) continue;
    alone.push(one);
    together.push(many);
  }

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const inMemory = median(times.get(states[0] as SharedState)?.alone ?? []);
const rows = [...times].map(([{ name }, { alone, together }]) => [
  name,
  `${median(alone).toFixed(1)} µs`,
  `${(median(alone) / inMemory).toFixed(0)}×`,
  `${median(together).toFixed(1)} µs`,
  Math.round(1e6 / median(together)).toLocaleString("en"),
]);
console.log(table([["", "a call", "to memory", `a call, ${AT_ONCE} at once`, "calls/s"], ...rows]));
if (missing !== undefined) console.log(missing);
for (const state of states) await state.close();
await redis?.stop();
await postgres?.remove();
rmSync(folder, { recursive: true });
