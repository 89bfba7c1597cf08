import { type AddressInfo, createServer, type Server } from "node:net";
import { type ArsenalError, fixable, withoutFix } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { checkedPublicUrl, isLoopback } from "./allowed-callers.ts";
import type { ListenOptions } from "./listen-options.ts";

/**
 * Returns the public address, as metadata and tokens contain it; undefined if none is configured. Throws CONFIG_INVALID if it is invalid, or if other
 * machines could call without authenticating.
 */
export function checkedAddress({
  host = "127.0.0.1",
  identity,
  publicUrl: given,
}: Pick<ListenOptions, "host" | "identity" | "publicUrl">): string | undefined {
  if (identity === undefined && !isLoopback(host)) throw openToAll(host);
  const publicUrl = given === undefined ? undefined : checkedPublicUrl(given);
  if (identity?.tokenOrigin !== undefined && publicUrl === undefined && !isLoopback(host)) throw nameless(host);
  return publicUrl;
}

/** A port of the gateway, and the setting that names it. */
export interface ConfiguredPort {
  readonly port: number;
  readonly setting: string;
}

/** Listens on every port, then closes them again. Throws CONFIG_INVALID, with the setting to change, if a port cannot be used. */
export async function checkPorts(host: string, ports: readonly ConfiguredPort[]): Promise<void> {
  const servers: Server[] = [];
  try {
    for (const { port, setting } of ports) {
      const server = createServer((socket) => void socket.destroy());
      await listen(server, host, port).catch((error: ArsenalError) => {
        if (error.details.field !== "port" || setting === "server.port") throw error;
        const details = { field: setting, value: port, cause: error };
        throw fixable("CONFIG_INVALID", withoutFix(error), `Set ${setting} to another port.`, details);
      });
      servers.push(server);
    }
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => void server.close(resolve))));
  }
}

/** Starts listening and returns the port. Throws CONFIG_INVALID if the port or host is unavailable. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    const fix = "Give a whole number up to 65535 with --port; 0 takes a free one.";
    const details = { field: "port", value: port };
    throw fixable("CONFIG_INVALID", `port is ${showValue(port)}, which is not a port.`, fix, details);
  }
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(notListening(error, host, port)));
    server.listen({ host, port }, () => {
      server.removeAllListeners("error");
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function notListening(error: NodeJS.ErrnoException, host: string, port: number): ArsenalError {
  const portIsTaken = error.code === "EADDRINUSE";
  if (portIsTaken || error.code === "EACCES") {
    const why = portIsTaken ? "another program listens there" : "this user may not use it";
    const fix = "Give another with --port; --port 0 takes a free one.";
    const details = { field: "port", value: port, cause: error };
    return fixable("CONFIG_INVALID", `Port ${port} on ${host} cannot be used: ${why}.`, fix, details);
  }
  const fix = "Give an address of this machine with --host; 127.0.0.1 is the default.";
  const details = { field: "host", value: host, cause: error };
  return fixable("CONFIG_INVALID", `Cannot listen on ${showValue(host)}: ${error.message}.`, fix, details);
}

function openToAll(host: string): ArsenalError {
  const fix =
    "Set a token of 16 characters or more, as TOOLARSENAL_TOKEN for `toolarsenal serve` or as identity: bearerToken({ tokens: [token] }) in code, or listen on 127.0.0.1.";
  const problem = `Listening on ${host || "every address"} lets other machines call every tool without authenticating.`;
  return fixable("CONFIG_INVALID", problem, fix, { field: "host", value: host });
}

function nameless(host: string): ArsenalError {
  const fix = "Set server.public_url in the configuration, or publicUrl in code, such as https://tools.example.com.";
  const problem = `Listening on ${host || "every address"} for callers with tokens needs the address that the tokens are for.`;
  return fixable("CONFIG_INVALID", problem, fix, { field: "publicUrl" });
}
