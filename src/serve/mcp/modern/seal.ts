import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { JsonObject } from "../../../mcp/protocol.ts";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import type { Principal } from "../../../guard/principal.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { canonicalJson } from "../../../tool/json/canonical-json.ts";

/** The scope of a sealed text: one request of one caller to one plane. */
export interface SealBinding {
  readonly principal: Pick<Principal, "id" | "tenant">;
  readonly plane: string;
  readonly method: string;
  /** The request's params. `_meta`, `inputResponses` and `requestState` may differ when the request is repeated. */
  readonly params: JsonObject;
}

/** Seals data in a text that a client keeps. Only this gateway can read the text, and only for the same purpose. */
export interface Seal {
  /** `ttlMs` is the lifetime. Defaults to the lifetime of the seal. */
  seal(payload: JsonObject, binding: SealBinding, ttlMs?: number): string;
  /** Returns the sealed data; undefined if the text was changed, has expired, or belongs to another caller or request. */
  open(text: string, binding: SealBinding): JsonObject | undefined;
  /** Returns true for a text that was sealed with this key, even if it does not open. */
  owns(text: string): boolean;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

export function createSeal(
  options: {
    /** 32 bytes. Defaults to random bytes, so that sealed texts open only in this process. */
    readonly key?: Uint8Array;
    /** Milliseconds until a sealed text expires. Defaults to 600,000. */
    readonly ttlMs?: number;
    readonly clock?: Clock;
  } = {},
): Seal {
  const { key = randomBytes(32), ttlMs = 600_000, clock = systemClock } = options;
  if (key.length !== 32) {
    const details = { field: "key", value: key.length, fix: "Give a key of 32 bytes." };
    throw new ArsenalError(
      "CONFIG_INVALID",
      `The key that seals request states has ${key.length} bytes, not 32.`,
      details,
    );
  }
  // The key's fingerprint distinguishes our texts from texts of a gateway behind this one, which pass through unchanged.
  const fingerprint = createHash("sha256").update("toolarsenal seal").update(key).digest("base64url").slice(0, 8);
  const prefix = `ta1.${fingerprint}.`;

  return {
    seal(payload, binding, forMs = ttlMs) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(digest(binding));
      const sealed = [cipher.update(JSON.stringify({ until: clock.now() + forMs, payload }), "utf8"), cipher.final()];
      return prefix + Buffer.concat([iv, cipher.getAuthTag(), ...sealed]).toString("base64url");
    },
    open(text, binding) {
      if (!text.startsWith(prefix)) return undefined;
      const bytes = Buffer.from(text.slice(prefix.length), "base64url");
      // Base64 decoding skips unknown characters, so the text is compared: only the exact sealed text is accepted.
      if (bytes.length <= IV_BYTES + TAG_BYTES || prefix + bytes.toString("base64url") !== text) return undefined;
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, IV_BYTES))
        .setAAD(digest(binding))
        .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      let opened: string;
      try {
        opened = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
      } catch {
        return undefined;
      }
      const { until, payload } = JSON.parse(opened) as { readonly until: number; readonly payload: JsonObject };
      return clock.now() < until ? payload : undefined;
    },
    owns: (text) => text.startsWith(prefix),
  };
}

function digest({ principal, plane, method, params }: SealBinding): Buffer {
  const { _meta: _, inputResponses: __, requestState: ___, ...rest } = params;
  return createHash("sha256")
    .update(canonicalJson([principal.tenant ?? null, principal.id, plane, method, rest]))
    .digest();
}
