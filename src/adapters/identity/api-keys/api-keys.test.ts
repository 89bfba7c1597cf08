import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Identity } from "../../../guard/identity.port.ts";
import type { Principal } from "../../../guard/principal.ts";
import { identityContract } from "../../../testing/identity.contract.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";
import { memoryState } from "../../state/memory.ts";
import { apiKeyFile, apiKeys, apiKeyState, type StoredKey } from "./api-keys.ts";
import { createKeyText, fileKeys, hashOfKey, updateKeyFile } from "./key-file.ts";
import { stateKeys } from "./state-keys.ts";

const principal: Principal = { id: "ci", roles: [], capabilities: ["read_data"], scopes: ["build"], local: false };
const KEY = createKeyText("ci");
const stored: StoredKey = { id: "ci", hash: hashOfKey(KEY), principal };
const REFUSED = { refusal: { error: "invalid_token", description: "The key is unknown, has expired or was revoked." } };

describe("apiKeys, as an identity", () => {
  const examples = {
    known: { headers: { authorization: `Bearer ${KEY}` } },
    unknown: { headers: { authorization: `Bearer ${createKeyText("ci")}` } },
  };
  for (const { name, run } of identityContract(() => ({ adapter: apiKeys({ keys: [stored] }) }), examples))
    it(name, run);
});

describe("apiKeys", () => {
  const identity = apiKeys({ keys: [stored] });

  it("knows a caller by either header", async () => {
    expect(await identity.authenticate({ headers: { "x-api-key": KEY } })).toEqual(principal);
    expect(await identity.authenticate({ headers: { authorization: `bearer ${KEY}` } })).toEqual(principal);
  });

  it("says nothing to one without a key, and the same to everyone with a wrong one", async () => {
    expect(await identity.identify?.({ headers: {} })).toEqual({});
    const swapped = createKeyText("other").replace("_other_", "_ci_");
    for (const wrong of [
      createKeyText("ci"),
      createKeyText("nobody"),
      swapped,
      `${KEY}x`,
      KEY.slice(0, -1),
      "",
      stored.hash,
    ])
      expect(await identity.identify?.({ headers: { "x-api-key": wrong } })).toEqual(REFUSED);
  });

  it("takes a key under its own name alone", async () => {
    const other: StoredKey = { ...stored, id: "other" };
    const both = apiKeys({ keys: [{ ...stored, hash: hashOfKey(createKeyText("ci")) }, other] });
    expect(await both.authenticate({ headers: { "x-api-key": KEY } })).toBe(undefined);
  });

  it.each([
    ["twice", [stored, stored]],
    ["with a hash that is none", [{ ...stored, hash: "sha256:12" }]],
    ["with a name that no key has", [{ ...stored, id: "a_b" }]],
  ])("refuses keys %s", (_what, keys) => {
    expect(() => apiKeys({ keys })).toThrow(/^The API key/);
  });
});

describe("a new key", () => {
  it("has its name, 256 random bits and nothing that a header cannot carry", () => {
    expect(KEY).toMatch(/^ta_ci_[A-Za-z0-9_-]{43}$/);
    expect(createKeyText("ci")).not.toBe(KEY);
  });
});

describe("apiKeyFile", () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "arsenal-keys-"));
    file = join(folder, "keys.json");
    await updateKeyFile(file, () => [stored]);
  });
  afterEach(() => rm(folder, { recursive: true }));

  const clock = createManualClock();
  const callerOf = (identity: Identity, key: string): Promise<Principal | undefined> =>
    identity.authenticate({ headers: { "x-api-key": key } });

  it("knows the keys of a file, which hold no key", async () => {
    expect(await callerOf(await apiKeyFile(file), KEY)).toEqual(principal);
    expect(await readFile(file, "utf8")).not.toContain(KEY.slice(6));
  });

  it("knows a new key and refuses a revoked one within a second", async () => {
    const identity = await apiKeyFile(file, { clock });
    const key = createKeyText("new");
    await updateKeyFile(file, () => [{ ...stored, id: "new", hash: hashOfKey(key) }]);
    await clock.advance(1000);
    expect(await callerOf(identity, key)).toEqual(principal);
    expect(await callerOf(identity, KEY)).toBe(undefined);
  });

  it("knows the new rights of a key within a second", async () => {
    const identity = await apiKeyFile(file, { clock });
    expect(
      await fileKeys(file).change("ci", (key) => ({ ...key, principal: { ...key.principal, roles: ["bot"] } })),
    ).toBe(true);
    expect(await fileKeys(file).change("nobody", (before) => before)).toBe(false);
    await clock.advance(1000);
    expect(await callerOf(identity, KEY)).toEqual({ ...principal, roles: ["bot"] });
  });

  it("lets nobody in where the file is gone, open to others or damaged since", async () => {
    const identity = await apiKeyFile(file, { clock });
    const change = async (make: () => Promise<unknown>): Promise<void> => {
      await make();
      await clock.advance(1000);
      await expect(callerOf(identity, KEY)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    };
    await change(() => chmod(file, 0o640));
    await change(() => rm(file));
    await change(() => writeFile(file, "{", { mode: 0o600 }));
    await rm(file);
    await updateKeyFile(file, () => [stored]);
    expect(await callerOf(identity, KEY)).toEqual(principal);
  });

  it.each([
    ["that is not there", undefined, "cannot be read. Create one with: toolarsenal keys create NAME"],
    ["that is not JSON", "keys", "is not JSON"],
    ["of another kind", '{"keys":[]}', 'lacks "version": 1'],
    ["with a broken entry", '{"version":1,"keys":[{}]}', "keys.0"],
    [
      "with an unknown capability",
      JSON.stringify({ version: 1, keys: [{ ...stored, principal: { ...principal, capabilities: ["fly"] } }] }),
      "keys.0",
    ],
  ])("refuses a file %s", async (_what, text, why) => {
    await rm(file);
    if (text !== undefined) await writeFile(file, text, { mode: 0o600 });
    await expect(apiKeyFile(file)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(why) as string,
      details: { field: "server.auth.api_keys.file", value: file },
    });
  });

  it("takes nobody for the person at this machine, whatever the file says", async () => {
    await updateKeyFile(file, () => [{ ...stored, principal: { ...principal, local: true } }]);
    expect(await callerOf(await apiKeyFile(file), KEY)).toEqual(principal);
  });

  it("keeps every key that is added at once", async () => {
    const names = Array.from({ length: 10 }, (_, index) => `key-${index}`);
    await Promise.all(names.map((id) => updateKeyFile(file, (keys) => [...keys, { ...stored, id }])));
    const { keys } = JSON.parse(await readFile(file, "utf8")) as { keys: StoredKey[] };
    expect(keys.map(({ id }) => id).sort()).toEqual(["ci", ...names]);
  });
});

describe("apiKeyState", () => {
  const clock = createManualClock();
  const callerOf = (identity: Identity, key: string): Promise<Principal | undefined> =>
    identity.authenticate({ headers: { "x-api-key": key } });
  const known = { headers: { "x-api-key": KEY } };
  const unknown = { headers: { "x-api-key": createKeyText("ci") } };

  const made = async (): Promise<{ readonly adapter: Identity }> => {
    const state = memoryState();
    await stateKeys(state).add(stored);
    return { adapter: apiKeyState(state) };
  };
  for (const { name, run } of identityContract(made, { known, unknown })) it(name, run);

  it("keeps hashes, and no key", async () => {
    const state = memoryState();
    await stateKeys(state).add(stored);
    const [kept] = await state.documents.list("");
    expect(kept).toMatchObject({ key: "key:ci", value: { hash: stored.hash } });
    expect(JSON.stringify(kept)).not.toContain(KEY.slice(6));
  });

  it("knows a new key and refuses a revoked one as soon as it is told", async () => {
    const state = memoryState({ clock });
    const keys = stateKeys(state);
    const identity = apiKeyState(state, { clock });
    expect(await callerOf(identity, KEY)).toBe(undefined);
    expect(await keys.add(stored)).toBe(true);
    expect(await callerOf(identity, KEY)).toEqual(principal);
    expect(await keys.remove("ci")).toBe(true);
    expect(await callerOf(identity, KEY)).toBe(undefined);
  });

  it("knows a new key and refuses a revoked one within a second if it is told nothing", async () => {
    const { documents, ...state } = memoryState({ clock });
    const deaf = { documents, changes: { ...state.changes, publish: async () => {} } };
    const identity = apiKeyState(deaf, { clock });
    expect(await callerOf(identity, KEY)).toBe(undefined);
    await stateKeys(deaf).add(stored);
    await clock.advance(1_000);
    expect(await callerOf(identity, KEY)).toEqual(principal);
    await stateKeys(deaf).remove("ci");
    await clock.advance(1_000);
    expect(await callerOf(identity, KEY)).toBe(undefined);
  });

  it("reads what changed while it was reading", async () => {
    const { documents, changes } = memoryState({ clock });
    let change: (() => Promise<unknown>) | undefined;
    const list: typeof documents.list = async (...given) => {
      const before = await documents.list(...given);
      const now = change;
      change = undefined;
      await now?.();
      return before;
    };
    await stateKeys({ documents, changes }).add(stored);
    const identity = apiKeyState({ documents: { ...documents, list }, changes }, { clock });
    expect(await callerOf(identity, KEY)).toEqual(principal);
    await clock.advance(1_000);
    change = () => stateKeys({ documents, changes }).remove("ci");
    await callerOf(identity, KEY);
    expect(await callerOf(identity, KEY)).toBe(undefined);
  });

  it("lets nobody in by key while the state cannot be read, and recovers by itself", async () => {
    const { documents, changes } = memoryState({ clock });
    let away = false;
    const list: typeof documents.list = (...given) =>
      away ? Promise.reject(new Error("away")) : documents.list(...given);
    await stateKeys({ documents, changes }).add(stored);
    const identity = apiKeyState({ documents: { ...documents, list }, changes }, { clock });
    expect(await callerOf(identity, KEY)).toEqual(principal);
    away = true;
    await clock.advance(1_000);
    await expect(callerOf(identity, KEY)).rejects.toThrow("away");
    await expect(callerOf(identity, KEY)).rejects.toThrow("away");
    away = false;
    expect(await callerOf(identity, KEY)).toEqual(principal);
  });

  it("adds each name once, however many ask, and takes nobody for what is not a key or claims to be local", async () => {
    const state = memoryState();
    const keys = stateKeys(state);
    const added = await Promise.all(Array.from({ length: 5 }, () => keys.add(stored)));
    expect(added.filter(Boolean)).toHaveLength(1);
    expect(await keys.remove("nobody")).toBe(false);
    await state.documents.set("key:bad", { hash: "sha256:12", principal });
    await state.documents.set("key:me", { hash: stored.hash, principal: { ...principal, local: true } });
    expect((await keys.read()).map(({ id, principal: { local } }) => [id, local]).toSorted()).toEqual([
      ["ci", false],
      ["me", false],
    ]);
  });
});
