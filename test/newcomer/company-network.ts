import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** A company's network: names that only its forward proxy can resolve, and certificates that only its own authority signs. */
export interface CompanyNetwork {
  /** The variables that the company sets on every machine. */
  readonly env: Readonly<Record<string, string>>;
  /** Every host that was reached, with the number of requests. */
  readonly reached: ReadonlyMap<string, number>;
  close(): void;
}

const DOMAIN = "company.example";

/** Starts a proxy that opens every TLS connection and passes it on. `hosts` maps a name under company.example to the address it stands for. */
export async function startCompanyNetwork(
  folder: string,
  hosts: Readonly<Record<string, string>>,
): Promise<CompanyNetwork> {
  const { authority, key, certificate } = makeCertificates(folder);
  const reached = new Map<string, number>();

  function pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const host = incoming.headers.host?.replace(/:\d+$/, "") ?? "";
    reached.set(host, (reached.get(host) ?? 0) + 1);
    const target = hosts[host.slice(0, -DOMAIN.length - 1)];
    if (target === undefined) return void outgoing.writeHead(502).end(`No host ${host}.`);
    forward(incoming, outgoing, target).catch((error: unknown) => outgoing.destroy(error as Error));
  }

  const inspected = createSecureServer({ key, cert: certificate }, pass);
  const proxy = createServer((_, outgoing) => outgoing.writeHead(501).end("This network has no plain HTTP."));
  const sockets = new Set<Socket>();
  proxy.on("connect", (_: IncomingMessage, socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    inspected.emit("connection", socket);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");

  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    env: {
      HTTPS_PROXY: address,
      HTTP_PROXY: address,
      NODE_EXTRA_CA_CERTS: authority,
      npm_config_cafile: authority,
      npm_config_registry: `https://registry.${DOMAIN}/`,
      npm_config_replace_registry_host: "always",
    },
    reached,
    close() {
      for (const socket of sockets) socket.destroy();
      inspected.close();
      proxy.close();
    },
  };
}

async function forward(incoming: IncomingMessage, outgoing: ServerResponse, target: string): Promise<void> {
  const { host: _host, connection: _connection, "accept-encoding": _encoding, ...headers } = incoming.headers;
  const hasBody = incoming.method !== "GET" && incoming.method !== "HEAD";
  const left = new AbortController();
  outgoing.once("close", () => left.abort());
  const answer = await fetch(new URL((incoming.url ?? "/").slice(1), target), {
    method: incoming.method ?? "GET",
    headers: headers as Record<string, string>,
    ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: "half" as const }),
    signal: left.signal,
  });
  // `fetch` has already unpacked the body.
  const { "content-encoding": _packed, "content-length": _length, ...kept } = Object.fromEntries(answer.headers);
  outgoing.writeHead(answer.status, kept);
  if (answer.body === null) return void outgoing.end();
  await pipeline(Readable.fromWeb(answer.body as never), outgoing);
}

/** Makes an authority and a certificate that it signed for every name of the domain. */
function makeCertificates(folder: string): { authority: string; key: Buffer; certificate: Buffer } {
  const file = (name: string): string => join(folder, name);
  writeFileSync(file("names.cnf"), `subjectAltName=DNS:*.${DOMAIN}\n`);
  const newKey = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
  for (const line of [
    `req -x509 ${newKey} -keyout ca.key -out ca.pem -days 2 -subj /CN=Company -addext basicConstraints=critical,CA:TRUE`,
    `req ${newKey} -keyout leaf.key -out leaf.csr -subj /CN=${DOMAIN}`,
    "x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out leaf.pem -days 2 -extfile names.cnf",
  ]) {
    const { status, stderr, error } = spawnSync("openssl", line.split(" "), { cwd: folder, encoding: "utf8" });
    if (status !== 0) throw new Error(`openssl ${line} failed: ${error?.message ?? stderr}`);
  }
  return {
    authority: file("ca.pem"),
    key: readFileSync(file("leaf.key")),
    certificate: readFileSync(file("leaf.pem")),
  };
}
