import type Crypto from "node:crypto";

let loaded: typeof Crypto | undefined;

/** Node's cryptography, loaded on first use: it takes longer to load than most of this package. */
export function nodeCrypto(): typeof Crypto {
  return (loaded ??= process.getBuiltinModule("node:crypto"));
}

/** The SHA-256 of a text. */
export function sha256(text: string | Uint8Array, encoding: "hex" | "base64" | "base64url" = "hex"): string {
  return nodeCrypto().hash("sha256", text, encoding);
}
