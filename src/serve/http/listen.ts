import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";

/** Starts listening and gives the port; a port or host that cannot be had is an error of the configuration. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    const fix = "Give a whole number up to 65535 with --port; 0 takes a free one.";
    const details = { field: "port", value: port, fix };
    throw new ArsenalError("CONFIG_INVALID", `port is ${showValue(port)}, which is no port. ${fix}`, details);
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
    const details = { field: "port", value: port, fix, cause: error };
    return new ArsenalError("CONFIG_INVALID", `Port ${port} on ${host} cannot be used: ${why}. ${fix}`, details);
  }
  const fix = "Give an address of this machine with --host; 127.0.0.1 is the default.";
  const details = { field: "host", value: host, fix, cause: error };
  return new ArsenalError("CONFIG_INVALID", `Cannot listen on ${showValue(host)}: ${error.message}. ${fix}`, details);
}
