import { lookup as systemLookup } from "node:dns";
import { ArsenalError } from "../../errors/arsenal-error.ts";

/** An address of a host. */
export interface HostAddress {
  readonly address: string;
  /** 4 or 6. */
  readonly family: number;
}

/** Resolves a name to its addresses. */
export type Resolve = (
  host: string,
  callback: (error: Error | null, addresses: readonly HostAddress[]) => void,
) => void;

/** Asks the system. */
export const resolveAll: Resolve = (host, callback) => {
  systemLookup(host, { all: true }, (error, addresses) => callback(error, addresses));
};

/** What `net.connect` takes as its `lookup`. */
type Lookup = (
  host: string,
  options: { readonly all?: boolean | undefined },
  callback: (error: Error | null, address: string | HostAddress[], family?: number) => void,
) => void;

/** Resolves a name and refuses it where any of its addresses may not be reached; the addresses it returns are those connected to. */
export function checkedLookup(resolve: Resolve, mayReach: (address: string) => boolean): Lookup {
  return (host, options, callback) => {
    resolve(host, (error, addresses) => {
      if (error) return callback(error, "", 0);
      const [first] = addresses;
      const bad = addresses.find(({ address }) => !mayReach(address));
      if (bad) return callback(privateAddress(host, bad.address), "", 0);
      if (first === undefined) return callback(new Error(`${host} has no address`), "", 0);
      if (options.all) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
  };
}

function privateAddress(host: string, address: string): ArsenalError {
  const fix = "Use a name that resolves to public addresses.";
  const message = `A request to ${host} is refused: it resolves to ${address}, which is this machine or a private network. ${fix}`;
  return new ArsenalError("PERMISSION_DENIED", message, { field: "url", value: host, fix });
}
