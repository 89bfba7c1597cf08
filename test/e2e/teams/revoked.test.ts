import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { some } from "../../kit/effort.ts";
import { STORES, type StateService } from "../replicas/states.ts";
import { type Fleet, ROOT_TOKEN, startFleet } from "./fleet.ts";

const GATEWAYS = [0, 1, 2];

describe.each(some(STORES, 1, "revoked"))("three gateways that share $name", (kind) => {
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-revoked-"));
  let store: StateService;
  let fleet: Fleet;
  beforeAll(async () => {
    store = await kind.open(folder);
    fleet = await startFleet(store.settings);
    await fleet.tenant("acme");
  }, 120_000);
  afterAll(async () => {
    await fleet?.close();
    await store?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const root = async (method: string, path: string, body?: unknown) => {
    const answer = await fleet.ask(0, ROOT_TOKEN, method, path, body);
    expect([path, answer.status < 300]).toEqual([path, true]);
    return answer.body;
  };
  const operator = (name: string): Promise<string> => fleet.key(name, { tenant: "acme", roles: ["operator"] });
  const streams = (key: string) => Promise.all(GATEWAYS.map((at) => fleet.stream(at, key)));
  const statuses = (key: string) =>
    Promise.all(GATEWAYS.map(async (at) => (await fleet.ask(at, key, "GET", "/info")).status));

  it("end the streams of a revoked key and refuse it, and leave those of other keys open", async () => {
    const [revoked, kept] = [await operator("revoked"), await operator("kept")];
    const [open, others] = [await streams(revoked), await streams(kept)];
    await root("DELETE", "/keys/revoked");
    await Promise.all(open.map(({ ended }) => ended));
    expect(await statuses(revoked)).toEqual([401, 401, 401]);
    let ended = 0;
    const ends = others.map((other) => other.ended.then(() => ended++));
    expect(await statuses(kept)).toEqual([200, 200, 200]);
    expect(ended).toBe(0);
    await root("DELETE", "/keys/kept");
    await Promise.all(ends);
  });

  it("end the streams of a suspended tenant and refuse its callers until it is active again", async () => {
    const key = await operator("suspended");
    const open = await streams(key);
    await root("PUT", "/tenants/acme", { state: "suspended" });
    await Promise.all(open.map(({ ended }) => ended));
    expect(await statuses(key)).toEqual([401, 401, 401]);
    await root("PUT", "/tenants/acme", { state: "active" });
    for (const at of GATEWAYS)
      await expect.poll(async () => (await fleet.ask(at, key, "GET", "/info")).status, { timeout: 20_000 }).toBe(200);
  });

  it("end the streams of a key when it expires", async () => {
    const key = await operator("brief");
    const open = await streams(key);
    // A rotation without a new secret in use: the old key is accepted for the overlap, and both end with the expiry.
    const expiresAt = new Date(Date.now() + 1_500).toISOString();
    const { text } = await root("POST", "/keys/brief/rotate", { overlapHours: 24, expiresAt });
    await Promise.all(open.map(({ ended }) => ended));
    expect([await statuses(key), await statuses(text)]).toEqual([
      [401, 401, 401],
      [401, 401, 401],
    ]);
  });

  it("accept the old and the new secret of a rotated key, and only the new one without an overlap", async () => {
    const first = await operator("rotated");
    const { text: next, key } = await root("POST", "/keys/rotated/rotate", { overlapHours: 1 });
    expect(key).toMatchObject({ name: "rotated", tenant: "acme", previousUntil: expect.any(Number) });
    for (const at of GATEWAYS)
      await expect.poll(async () => (await fleet.ask(at, next, "GET", "/info")).status, { timeout: 20_000 }).toBe(200);
    expect(await statuses(first)).toEqual([200, 200, 200]);
    const { text: last } = await root("POST", "/keys/rotated/rotate", { overlapHours: 0 });
    for (const at of GATEWAYS)
      await expect.poll(async () => (await fleet.ask(at, next, "GET", "/info")).status, { timeout: 20_000 }).toBe(401);
    expect([await statuses(first), await statuses(last)]).toEqual([
      [401, 401, 401],
      [200, 200, 200],
    ]);
  });

  it("refuse the callers of a removed tenant for good, and forget its keys", async () => {
    await fleet.tenant("gone");
    const key = await fleet.key("gone-bot", { tenant: "gone" });
    await root("DELETE", "/tenants/gone");
    for (const at of GATEWAYS)
      await expect.poll(async () => (await fleet.ask(at, key, "GET", "/info")).status, { timeout: 20_000 }).toBe(401);
    const { keys } = await root("GET", "/keys");
    expect(keys.map(({ name }: { name: string }) => name)).not.toContain("gone-bot");
  });
});
