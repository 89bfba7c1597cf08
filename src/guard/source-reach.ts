import { fixable } from "../errors/arsenal-error.ts";
import type { Egress } from "./egress/egress.ts";
import { isPrivate, withoutTrust } from "./egress/without-trust.ts";
import type { Principal } from "./principal.ts";

/** The access to this machine and its network that a source needs. */
export interface Reach {
  readonly commands?: readonly string[];
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  /** True if it reads secrets of this machine. */
  readonly secrets?: boolean;
  readonly addresses?: readonly string[];
  /** Addresses that only its tools call. Adding the source does not connect to them. */
  readonly calls?: readonly string[];
}

/**
 * Decides whether a caller may add a source. Returns the egress for the source. Throws PERMISSION_DENIED if the source would get more access to this
 * machine than the caller may grant.
 */
export function egressForSource(
  by: Principal,
  reach: Reach,
  settings: { readonly allowCommands: boolean; readonly allowedDomains: readonly string[]; readonly egress: Egress },
): Egress {
  const { allowCommands, allowedDomains, egress } = settings;
  if (by.local || allowCommands) return egress;
  const { addresses = [], calls = [] } = reach;
  const inside = [...addresses, ...calls].find((address) => isPrivate(address, allowedDomains));
  const listing = inside === undefined ? "" : "list its host in security.allowed_domains, ";
  const action = reachInWords(reach) ?? (inside === undefined ? undefined : `reaches ${URL.parse(inside)?.host} from`);
  if (action === undefined) return withoutTrust(egress, allowedDomains);
  const fix = `Add it on the gateway's own machine, in its configuration, ${listing}or set server.allow_commands to true.`;
  throw fixable("PERMISSION_DENIED", `"${by.id}" may not add a source that ${action} the gateway's machine.`, fix);
}

function reachInWords({ commands = [], writes = [], reads = [], secrets = false }: Reach): string | undefined {
  if (commands.length > 0) return "runs a command on";
  if (writes.length > 0) return "writes a file of";
  if (reads.length > 0) return "reads files of";
  return secrets ? "reads a secret of" : undefined;
}
