import { createHash, X509Certificate } from "node:crypto";
import { domainToASCII } from "node:url";
import type { checkServerIdentity, PeerCertificate } from "node:tls";
import { ArsenalError } from "../../errors/arsenal-error.ts";

/** Which public keys the certificates of some hosts must have, beside being valid. */
export interface CertificatePins {
  isPinned(host: string): boolean;
  /** What is wrong with a server's certificate: as TLS asks it, once the chain of certificates was found good. */
  readonly checkServerIdentity: typeof checkServerIdentity;
}

/** `sha256/` and the 32 bytes of a hash in base64. */
const PIN = /^sha256\/[A-Za-z0-9+/]{43}=$/;

/**
 * Reads pins: hosts by name, each with one or more `sha256/BASE64` of its public key (SPKI), separated by blanks. Any of them will do, so that a
 * key can be replaced. Throws CONFIG_INVALID where a host or a pin is none.
 */
export function readPins(written: Readonly<Record<string, string>> = {}): CertificatePins {
  const pins = new Map(Object.entries(written).map(([host, text]) => [toHost(host), toPins(host, text)]));
  return {
    isPinned: (host) => pins.has(host),
    checkServerIdentity(name, certificate) {
      const wrong = process.getBuiltinModule("node:tls").checkServerIdentity(name, certificate);
      const allowed = wrong === undefined ? pins.get(toHost(name)) : undefined;
      if (allowed === undefined) return wrong;
      const shown = pinOf(certificate);
      return allowed.includes(shown) ? undefined : mismatch(name, shown);
    },
  };
}

function toPins(host: string, text: string): readonly string[] {
  const pins = text.split(/\s/).filter((pin) => pin !== "");
  const odd = pins.find((pin) => !PIN.test(pin));
  if (pins.length > 0 && odd === undefined && toHost(host) !== "") return pins;
  const field = `security.certificate_pins.${host}`;
  const fix = "Write a host's name and sha256/ with the base64 SHA-256 hash of its public key, 44 characters.";
  throw new ArsenalError(
    "CONFIG_INVALID",
    `${field} is no pin of a certificate: ${JSON.stringify(odd ?? text)}. ${fix}`,
    {
      field,
      value: odd ?? text,
      fix,
    },
  );
}

/** Empty where it is no name of a host: an address, a port or a pattern would be a pin that never holds. */
function toHost(host: string): string {
  return /[/:*\s]/.test(host) ? "" : domainToASCII(host).replace(/\.$/, "").toLowerCase();
}

function pinOf({ raw }: PeerCertificate): string {
  const key = new X509Certificate(raw).publicKey.export({ type: "spki", format: "der" });
  return `sha256/${createHash("sha256").update(key).digest("base64")}`;
}

function mismatch(host: string, shown: string): ArsenalError {
  const fix = `If the server's key was changed on purpose, add ${shown} to security.certificate_pins; otherwise somebody may be posing as it.`;
  const message = `The request to ${host} was not sent: its certificate has the key ${shown}, which is not pinned. ${fix}`;
  return new ArsenalError("TRANSPORT_FAILED", message, { field: "url", value: host, fix, beforeSend: true });
}
