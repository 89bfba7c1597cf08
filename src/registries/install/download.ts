import { fixable } from "../../errors/arsenal-error.ts";
import type { InstallContext } from "./installation.ts";

/** Downloads a file through the egress. Rejects with SOURCE_UNAVAILABLE, PERMISSION_DENIED or PROTOCOL_ERROR. */
export async function download(
  address: string,
  options: Pick<InstallContext, "egress" | "allowPrivate" | "signal"> & {
    readonly accept?: string;
    /** True if the user gave the address. */
    readonly trusted?: boolean;
  },
  maxBytes: number,
): Promise<Buffer> {
  const { egress, allowPrivate, signal, accept, trusted = false } = options;
  const headers = accept === undefined ? {} : { accept };
  const { status, body } = await egress.request(address, {
    maxBytes,
    allowPrivate,
    trusted,
    headers,
    ...(signal && { signal }),
  });
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  if (status === 200) return Buffer.concat(parts);
  throw fixable("SOURCE_UNAVAILABLE", `${address} answered with ${status}.`, "Check the address.", {
    field: "url",
    value: address,
  });
}
