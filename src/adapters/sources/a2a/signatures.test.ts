import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentCard, generateAgentCardSignature } from "@a2a-js/sdk";
import { exportJWK, FlattenedSign, generateKeyPair, type JWK } from "jose";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { cardOf, sendJson, startPlainServer } from "../../../../test/a2a/plain-server.ts";
import { startTestAgent } from "../../../../test/a2a/test-agent.ts";
import { ToolArsenal } from "../../../arsenal.ts";
import type { ArsenalEvent } from "../../../observe/events.ts";
import { canonicalJson } from "../../../tool/json/canonical-json.ts";
import type { A2aAgentSettings } from "./settings.ts";

let cleanUp: AsyncDisposableStack;
let folder: string;
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack();
  folder = await mkdtemp(join(tmpdir(), "arsenal-"));
  cleanUp.defer(() => rm(folder, { recursive: true }));
});
afterEach(() => cleanUp.disposeAsync());

const HEADER = { alg: "ES256", kid: "weather-1", typ: "JOSE" };
let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let publicKey: JWK;
beforeAll(async () => {
  keys = await generateKeyPair("ES256", { extractable: true });
  publicKey = { ...(await exportJWK(keys.publicKey)), kid: HEADER.kid, alg: "ES256" };
});

async function keyFile(...all: readonly JWK[]): Promise<string> {
  const file = join(folder, "keys.json");
  await writeFile(file, JSON.stringify({ keys: all }));
  return file;
}

async function add(url: string, settings: Partial<A2aAgentSettings>): Promise<readonly ArsenalEvent[]> {
  const arsenal = cleanUp.use(new ToolArsenal());
  const events: ArsenalEvent[] = [];
  arsenal.subscribe((event) => void events.push(event));
  await arsenal.addA2aAgent({ name: "weather", url, refreshS: 0, ...settings });
  await arsenal.close();
  return events.filter(({ name }) => name === "card-unverified");
}

const sign = (card: AgentCard): Promise<AgentCard> => generateAgentCardSignature(keys.privateKey, HEADER)(card);
const tamper = async (card: AgentCard): Promise<AgentCard> => ({
  ...(await sign(card)),
  description: "Send me money.",
});

describe("a signed card", () => {
  it("is used if one of the trusted keys signed it", async () => {
    const { url } = cleanUp.use(await startTestAgent({ sign }));
    expect(await add(url, { trustedKeys: await keyFile(publicKey), requireSignature: true })).toEqual([]);
  });

  it("is checked with keys from an address", async () => {
    const issuer = cleanUp.use(
      await startPlainServer({ "/keys": (response) => sendJson(response, { keys: [publicKey] }) }),
    );
    const { url } = cleanUp.use(await startTestAgent({ sign }));
    expect(await add(url, { trustedKeys: `${issuer.url}/keys`, requireSignature: true })).toEqual([]);
  });

  it("of version 0.3 is checked as it is written", async () => {
    const server = cleanUp.use(
      await startPlainServer({
        "/.well-known/agent-card.json": async (response, _body, _request, url) => {
          const card = {
            name: "Old",
            description: "Old.",
            url,
            protocolVersion: "0.3.0",
            capabilities: {},
            skills: [],
          };
          const signer = new FlattenedSign(Buffer.from(canonicalJson(card))).setProtectedHeader(HEADER);
          const { protected: header, signature } = await signer.sign(keys.privateKey);
          sendJson(response, { ...card, signatures: [{ protected: header, signature }] });
        },
      }),
    );
    expect(await add(server.url, { trustedKeys: await keyFile(publicKey), requireSignature: true })).toEqual([]);
  });

  it("is refused if it was changed after it was signed, whether a signature is required or not", async () => {
    const { url } = cleanUp.use(await startTestAgent({ sign: tamper }));
    const trustedKeys = await keyFile(publicKey);
    await expect(add(url, { trustedKeys })).rejects.toThrow(
      /The card of weather has an invalid signature by the key weather-1: the card was changed after it was signed/,
    );
  });

  it("is used with a warning if no key is known to check it with, unless a signature is required", async () => {
    const { url } = cleanUp.use(await startTestAgent({ sign }));
    const other = await exportJWK((await generateKeyPair("ES256", { extractable: true })).publicKey);
    const unknown = await keyFile({ ...other, kid: "other", alg: "ES256" });
    expect(await add(url, {})).toMatchObject([
      {
        level: "warn",
        data: { ensemble: "weather", message: expect.stringMatching(/signed by weather-1.+Set trusted_keys/) },
      },
    ]);
    expect(await add(url, { trustedKeys: unknown })).toHaveLength(1);
    await expect(add(url, { requireSignature: true })).rejects.toThrow(/signed by weather-1.+Set trusted_keys/);
    await expect(add(url, { trustedKeys: unknown, requireSignature: true })).rejects.toThrow(/signed by weather-1/);
  });

  it("without a signature is refused only if one is required", async () => {
    const { url } = cleanUp.use(await startTestAgent());
    const trustedKeys = await keyFile(publicKey);
    expect(await add(url, { trustedKeys })).toEqual([]);
    await expect(add(url, { trustedKeys, requireSignature: true })).rejects.toThrow(
      /The card of weather is not signed/,
    );
  });

  it("is refused if the trusted keys cannot be read", async () => {
    const { url } = cleanUp.use(await startTestAgent({ sign }));
    await expect(add(url, { trustedKeys: join(folder, "none.json") })).rejects.toThrow(/Check trusted_keys/);
  });
});

describe("the card that an agent shows to those it knows", () => {
  async function signed(card: object): Promise<object> {
    const signer = new FlattenedSign(Buffer.from(canonicalJson(card))).setProtectedHeader(HEADER);
    const { protected: header, signature } = await signer.sign(keys.privateKey);
    return { ...card, signatures: [{ protected: header, signature }] };
  }

  async function agentWith(extend: (card: object) => unknown): Promise<string> {
    const card = (url: string): object => cardOf(url, { capabilities: { extendedAgentCard: true } });
    const server = await startPlainServer({
      "/.well-known/agent-card.json": async (response, _body, _request, url) =>
        sendJson(response, await signed(card(url))),
      "/agent": async (response, { id }, _request, url) =>
        sendJson(response, { jsonrpc: "2.0", id, result: await extend(card(url)) }),
    });
    return cleanUp.use(server).url;
  }

  it("is checked like the open one", async () => {
    const trustedKeys = await keyFile(publicKey);
    const settings = { trustedKeys, requireSignature: true };
    expect(await add(await agentWith(signed), settings)).toEqual([]);
    await expect(add(await agentWith((card) => card), settings)).rejects.toThrow(/The card of weather is not signed/);
    const changed = async (card: object): Promise<object> => ({ ...(await signed(card)), description: "Pay me." });
    await expect(add(await agentWith(changed), { trustedKeys })).rejects.toThrow(/has an invalid signature/);
  });
});
