import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createKeyText, hashOfKey } from "../../src/adapters/identity/api-keys/key-file.ts";
import { stateKeys } from "../../src/adapters/identity/api-keys/state-keys.ts";
import { apiKeyState } from "../../src/adapters/identity/index.ts";
import { postgresState, type SharedState, sqliteState } from "../../src/adapters/state/index.ts";
import { ToolArsenal } from "../../src/arsenal.ts";
import type { Principal } from "../../src/guard/principal.ts";
import { type RealPostgres, realPostgres } from "../services/postgres.ts";

const folder = await mkdtemp(join(tmpdir(), "arsenal-shared-keys-"));
const server = await realPostgres();
afterAll(async () => {
  await server?.remove();
  await rm(folder, { recursive: true });
});

const principal: Principal = { id: "ci", roles: [], capabilities: [], scopes: [], local: false };

async function statusOf(url: string | undefined, key: string): Promise<number> {
  const headers = {
    "x-api-key": key,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  const response = await fetch(`${url}/mcp`, { method: "POST", headers, body });
  await response.body?.cancel();
  return response.status;
}

/** Resolves when a process has been told of a change of keys. */
const told = (state: SharedState): Promise<void> =>
  new Promise((resolve) => {
    const end = state.changes.subscribe("keys", () => {
      end();
      resolve();
    });
  });

/** What two gateways answer to a key before it is added, then, and after it is revoked. */
async function statusesOf(open: () => SharedState): Promise<readonly (readonly number[])[]> {
  const states = [open(), open()];
  const arsenals = states.map((state) => new ToolArsenal({ state }));
  const served = await Promise.all(
    arsenals.map((arsenal) => arsenal.serve({ port: 0, identity: (state) => apiKeyState(state) })),
  );
  const operator = open();
  const keys = stateKeys(operator);
  const key = createKeyText("ci");
  const statuses = (): Promise<readonly number[]> => Promise.all(served.map(({ url }) => statusOf(url, key)));
  const before = await statuses();
  const added = Promise.all(states.map(told));
  await keys.add({ id: "ci", hash: hashOfKey(key), principal });
  await added;
  const then = await statuses();
  const revoked = Promise.all(states.map(told));
  await keys.remove("ci");
  await revoked;
  const after = await statuses();
  for (const each of [...served, ...arsenals, ...states, operator]) await each.close();
  return [before, then, after];
}

const COUNTS = [
  [401, 401],
  [200, 200],
  [401, 401],
];

describe("a key that is added or revoked counts at every gateway that shares the state", () => {
  it("of a SQLite file", async () => {
    expect(await statusesOf(() => sqliteState({ file: join(folder, "state.sqlite") }))).toEqual(COUNTS);
  });

  // because PostgreSQL is not installed everywhere; with CI=true its absence fails.
  it.skipIf(server === undefined)("of a PostgreSQL database", async () => {
    expect(await statusesOf(() => postgresState({ url: (server as RealPostgres).url }))).toEqual(COUNTS);
  });

  // because PostgreSQL is not installed everywhere; with CI=true its absence fails.
  it.skipIf(server === undefined)(
    "and nobody comes in by key while that is away",
    async () => {
      const own = (await realPostgres()) as RealPostgres;
      const state = postgresState({ url: own.url });
      const key = createKeyText("ci");
      await stateKeys(state).add({ id: "ci", hash: hashOfKey(key), principal });
      let now = 0;
      const clock = { now: () => now, after: () => () => {} };
      const arsenal = new ToolArsenal({ state });
      const served = await arsenal.serve({ port: 0, identity: (shared) => apiKeyState(shared, { clock }) });
      expect(await statusOf(served.url, key)).toBe(200);
      await own.stop();
      now += 1_000;
      expect(await statusOf(served.url, key)).toBe(503);
      await own.start();
      expect(await statusOf(served.url, key)).toBe(200);
      for (const each of [served, arsenal, state]) await each.close();
      await own.remove();
    },
    60_000,
  );
});
