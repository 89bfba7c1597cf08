import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { FlattenedVerifyGetKey, JSONWebKeySet } from "jose";
import { type ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import { messageOf } from "../../../errors/show-value.ts";
import type { Egress } from "../../../guard/egress/egress.ts";
import { canonicalJson } from "../../../tool/json/canonical-json.ts";
import { asRecords } from "../../../tool/json-schema.ts";
import { parseObject } from "../parse-object.ts";
import type { A2aAgentSettings } from "./settings.ts";

type JsonObject = Readonly<Record<string, unknown>>;

export interface SignatureParts {
  readonly egress: Egress;
  readonly signal: AbortSignal;
  /** Called if a card is signed and no configured key can check it. */
  readonly warn: (message: string) => void;
}

const MAX_KEY_BYTES = 1024 * 1024;

/** No shared-secret algorithms: a verifier of an HMAC can also forge it. */
const ALGORITHMS = "ES256 ES384 ES512 EdDSA Ed25519 PS256 PS384 PS512 RS256 RS384 RS512".split(" ");

/**
 * Checks the signatures of a card and returns the signed content. Callers must use only this content. Throws PERMISSION_DENIED if a signature is
 * wrong, or if a required signature cannot be checked.
 */
export async function verifiedCard(card: JsonObject, settings: A2aAgentSettings, parts: SignatureParts) {
  const { name, trustedKeys, requireSignature = false } = settings;
  const signatures = asRecords(card["signatures"]).flatMap(readSignature);
  if (signatures.length === 0) {
    if (!requireSignature) return card;
    const fix = "Ask the operator of the agent to sign its card, or remove require_signature.";
    throw refused(`The card of ${name} is not signed.`, fix);
  }
  if (trustedKeys !== undefined) {
    const keys = await readKeys(trustedKeys, name, parts);
    for (const signature of signatures) {
      const covered = await check(card, signature, keys, name);
      if (covered !== undefined) return covered;
    }
  }
  const by = signatures.map(({ kid }) => kid).join(", ");
  const fix = "Set trusted_keys to a JWKS file or address that has the key.";
  const problem = `The card of ${name} is signed by ${by}, but no configured key can check the signature.`;
  if (requireSignature) throw refused(problem, fix);
  parts.warn(`${problem} ${fix}`);
  return card;
}

interface Signature {
  readonly protected: string;
  readonly signature: string;
  readonly kid: string;
}

function readSignature({ protected: header, signature }: JsonObject): readonly Signature[] {
  if (typeof header !== "string" || typeof signature !== "string") return [];
  const { kid } = parseObject(Buffer.from(header, "base64url").toString()) ?? {};
  return [{ protected: header, signature, kid: typeof kid === "string" ? kid : "an unnamed key" }];
}

/** Returns the signed content, or undefined if there is no key for the signature. Throws if the signature is wrong. */
async function check(
  card: JsonObject,
  { protected: header, signature, kid }: Signature,
  keys: JSONWebKeySet,
  name: string,
): Promise<JsonObject | undefined> {
  const { createLocalJWKSet, errors, flattenedVerify } = await import("jose");
  const find = createLocalJWKSet(keys) as unknown as FlattenedVerifyGetKey;
  for (const payload of await payloadsOf(card)) {
    try {
      const signed = { protected: header, payload: Buffer.from(payload).toString("base64url"), signature };
      await flattenedVerify(signed, find, { algorithms: ALGORITHMS });
      return parseObject(payload);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
        return undefined;
      if (!(error instanceof errors.JOSEError)) throw error;
    }
  }
  throw refused(
    `The card of ${name} has an invalid signature by the key ${kid}: the card was changed after it was signed, or another key signed it.`,
    "Find out why before you use the agent.",
  );
}

/** Returns the texts that may have been signed: the canonical form of 1.0, and the card as it was received. */
async function payloadsOf({ signatures: _signatures, ...card }: JsonObject): Promise<readonly string[]> {
  const written = canonicalJson(card);
  if (!Array.isArray(card["supportedInterfaces"])) return [written];
  const { AgentCard, canonicalizeAgentCard } = await import("@a2a-js/sdk");
  return [canonicalizeAgentCard(AgentCard.fromJSON(card)), written];
}

async function readKeys(
  place: string,
  name: string,
  { egress, signal }: Pick<SignatureParts, "egress" | "signal">,
): Promise<JSONWebKeySet> {
  const fail = (why: string, cause?: unknown): ArsenalError => {
    const problem = `The keys that may sign the card of ${name} cannot be read: ${place} ${why}.`;
    return fixable("CONFIG_INVALID", problem, "Check trusted_keys.", { field: "trustedKeys", value: place, cause });
  };
  const fetchKeys = async (): Promise<string> =>
    text((await egress.request(place, { trusted: true, signal, maxBytes: MAX_KEY_BYTES })).body);
  const reading = /^https?:/i.test(place) ? fetchKeys() : readFile(place, { encoding: "utf8", signal });
  const content = await reading.catch((cause: unknown) => {
    throw fail(`failed: ${messageOf(cause)}`, cause);
  });
  const keys = parseObject(content);
  if (!Array.isArray(keys?.["keys"])) throw fail("is not a JWKS: it has no keys");
  return keys as unknown as JSONWebKeySet;
}

function refused(problem: string, fix: string): ArsenalError {
  return fixable("PERMISSION_DENIED", problem, fix, { field: "signatures" });
}
