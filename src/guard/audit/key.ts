import { fixable } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import { nodeCrypto, sha256 } from "../../base/crypto.ts";

/** Signs and verifies a log's checkpoints. */
export interface AuditKey {
  /** Identifies the key without revealing it. */
  readonly id: string;
  /** Omitted for a public key, which can only verify. */
  readonly sign?: (text: string) => string;
  verify(text: string, signature: string): boolean;
}

const MIN_SECRET = 32;

/** An Ed25519 key from its PEM text: the private one signs and verifies, the public one verifies. */
export function ed25519Key(pem: string): AuditKey {
  const { createPrivateKey, createPublicKey, sign, verify } = nodeCrypto();
  const isPrivate = pem.includes("PRIVATE KEY");
  try {
    const publicKey = createPublicKey(pem);
    const privateKey = isPrivate ? createPrivateKey(pem) : undefined;
    if (publicKey.asymmetricKeyType !== "ed25519") throw new Error(`it is of type ${publicKey.asymmetricKeyType}`);
    const id = sha256(publicKey.export({ type: "spki", format: "pem" })).slice(0, 16);
    return {
      id: `ed25519:${id}`,
      ...(privateKey && { sign: (text: string) => sign(null, Buffer.from(text), privateKey).toString("base64url") }),
      verify: (text, signature) => verify(null, Buffer.from(text), publicKey, Buffer.from(signature, "base64url")),
    };
  } catch (cause) {
    const fix = "Give an Ed25519 key in PEM, as the first use of the log writes it.";
    const problem = `The audit key cannot be used: ${messageOf(cause)}.`;
    throw fixable("CONFIG_INVALID", problem, fix, { field: "audit.key_file", cause });
  }
}

/** A secret that signs and verifies. Anyone who can verify with it can also forge. */
export function hmacKey(secret: string): AuditKey {
  if (secret.length < MIN_SECRET) {
    const fix = `Give at least ${MIN_SECRET} random characters.`;
    throw fixable("CONFIG_INVALID", "The audit secret is too short to sign with.", fix, { field: "audit.secret" });
  }
  const { createHmac, timingSafeEqual } = nodeCrypto();
  const digest = (text: string): Buffer => createHmac("sha256", secret).update(text).digest();
  return {
    id: `hmac:${digest("key id").toString("hex").slice(0, 16)}`,
    sign: (text) => digest(text).toString("base64url"),
    verify(text, signature) {
      const given = Buffer.from(signature, "base64url");
      const right = digest(text);
      return given.length === right.length && timingSafeEqual(given, right);
    },
  };
}
