import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { type AgentCard, generateAgentCardSignature } from "@a2a-js/sdk";
import { calculateJwkThumbprint } from "jose";
import { ArsenalError } from "../../errors/arsenal-error.ts";

const FIX = "Give an EC P-256, Ed25519 or RSA private key as PEM (PKCS #8) or as a JWK.";

/** Signs a card with a private key. The `kid` is the thumbprint of the public key (RFC 7638). */
export async function signCard(card: AgentCard, text: string): Promise<AgentCard> {
  const key = readKey(text);
  const alg = algorithmOf(key);
  if (alg === undefined) throw unusable("is of a kind that cannot sign cards");
  const kid = await calculateJwkThumbprint(createPublicKey(key).export({ format: "jwk" }) as Record<string, string>);
  return generateAgentCardSignature(key, { alg, kid, typ: "JOSE" })({ ...card, signatures: [] });
}

function readKey(text: string): KeyObject {
  try {
    return text.trimStart().startsWith("{")
      ? createPrivateKey({ key: JSON.parse(text) as Record<string, string>, format: "jwk" })
      : createPrivateKey(text);
  } catch {
    // The reason is dropped, because it may quote the key.
    throw unusable("is not a private key");
  }
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string | undefined {
  if (asymmetricKeyType === "ed25519") return "EdDSA";
  if (asymmetricKeyType === "rsa") return "RS256";
  return asymmetricKeyDetails?.namedCurve === "prime256v1" ? "ES256" : undefined;
}

function unusable(why: string): ArsenalError {
  return new ArsenalError("CONFIG_INVALID", `Cannot sign the agent card: a2a.signing_key ${why}. ${FIX}`, {
    field: "a2a.signing_key",
    fix: FIX,
  });
}
