import type Crypto from "node:crypto";

let loaded: typeof Crypto | undefined;

/** Loads Node's cryptography on first use, because it takes longer to load than most of this package. */
export function nodeCrypto(): typeof Crypto {
  return (loaded ??= process.getBuiltinModule("node:crypto"));
}

export function sha256(text: string | Uint8Array, encoding: "hex" | "base64" | "base64url" = "hex"): string {
  return nodeCrypto().hash("sha256", text, encoding);
}
