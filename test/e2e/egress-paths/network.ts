import { isIP, Socket, type LookupFunction, type SocketConnectOpts } from "node:net";
import { type EgressParts } from "../../../src/guard/egress/egress.ts";

/** A network for tests: servers of the test are reached, and of everything else it is noted that a socket would have been opened. */
export interface TestNetwork {
  /** `address:port` of each connection that was tried and is not one of the test's own servers, in order. Nothing was connected. */
  readonly attempts: string[];
  /** Lets connections to a server of the test through. */
  allow(port: number): void;
  /** How names are resolved: `inside.test` is this machine, `rebind.test` is public once and then this machine, all others are public. */
  readonly parts: EgressParts;
  restore(): void;
}

export const PUBLIC_ADDRESS = "93.184.215.14";

/** Takes the place of connecting, until `restore`. */
export function createTestNetwork(names: Readonly<Record<string, string>> = {}): TestNetwork {
  const attempts: string[] = [];
  const own = new Set<number>();
  const { connect } = Socket.prototype;
  let rebound = false;

  function addressOf(host: string): string {
    if (host === "inside.test") return "127.0.0.1";
    if (host !== "rebind.test") return names[host] ?? PUBLIC_ADDRESS;
    const address = rebound ? "127.0.0.1" : PUBLIC_ADDRESS;
    rebound = true;
    return address;
  }

  function intercept(this: Socket, ...given: readonly unknown[]): Socket {
    const { host = "localhost", port, lookup } = optionsOf(given);
    if (own.has(port) && host === "127.0.0.1") return Reflect.apply(connect, this, given) as Socket;
    const note = (address: string): void => {
      attempts.push(`${address}:${port}`);
      this.destroy(Object.assign(new Error("nothing is connected here"), { code: "ECONNREFUSED" }));
    };
    // What is written meanwhile waits for the connection.
    Object.assign(this, { connecting: true });
    // As Node does: an address is connected to, a name is looked up by whoever was given for that; neither at once.
    setImmediate(() => {
      if (isIP(host) !== 0) return note(host);
      if (lookup === undefined) return note(`${host}, not looked up`);
      lookup(host, { all: true }, (error, found) => {
        if (error) return void this.destroy(error);
        note(Array.isArray(found) ? (found[0]?.address ?? "") : String(found));
      });
    });
    return this;
  }

  Socket.prototype.connect = intercept as typeof connect;
  return {
    attempts,
    allow: (port) => void own.add(port),
    parts: { resolve: (host, callback) => callback(null, [{ address: addressOf(host), family: 4 }]) },
    restore: () => void (Socket.prototype.connect = connect),
  };
}

function optionsOf(given: readonly unknown[]): {
  readonly host?: string | undefined;
  readonly port: number;
  readonly lookup?: LookupFunction | undefined;
} {
  // Node hands on what it has put in order as one list.
  const [first] = Array.isArray(given[0]) ? (given[0] as readonly unknown[]) : given;
  const { host, port, lookup } = first as Extract<SocketConnectOpts, { port: number }>;
  return { host, port: Number(port), lookup };
}
