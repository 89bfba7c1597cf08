import { ArsenalError } from "../../errors/arsenal-error.ts";
import { hostInUrl, isLoopback } from "./allowed-callers.ts";

/** Where a server listens, and the address that its operator says clients call it by. */
export interface OwnAddressOptions {
  readonly host: string;
  readonly port: number;
  readonly publicUrl?: string;
}

/**
 * Tells the address that a client knows this server by, from its Host header. Tokens are issued for such an address, so nothing but the
 * operator's word and, on this machine, loopback's own names count: whoever sends a token of another server sends that one's Host as well.
 */
export function createOwnAddress({ host, port, publicUrl }: OwnAddressOptions): (called: string | undefined) => string {
  if (publicUrl !== undefined) return () => publicUrl;
  const own = `http://${hostInUrl(host)}:${port}`;
  if (!isLoopback(host)) return () => own;
  const names = new Set(["localhost", "127.0.0.1", "[::1]"].map((name) => `${name}:${port}`));
  return (called) => {
    const name = called?.toLowerCase();
    return name !== undefined && names.has(name) ? `http://${name}` : own;
  };
}

/** The address of a server that stands behind another name, as metadata and tokens spell it. Throws on what is no such address. */
export function checkedPublicUrl(given: string): string {
  const url = URL.parse(given);
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
  if (isOrigin) return url.origin;
  const fix = "Write scheme and host alone, such as https://tools.example.com.";
  const details = { field: "publicUrl", value: given, fix };
  throw new ArsenalError("CONFIG_INVALID", `publicUrl is not the address of a server: ${given}. ${fix}`, details);
}
