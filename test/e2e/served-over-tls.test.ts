import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import { X509Certificate } from "node:crypto";
import { afterEach, expect, it } from "vitest";
import { runCli } from "../../src/cli/run-cli.ts";
import { ToolArsenal } from "../../src/index.ts";
import { TEST_AUTHORITY, TEST_SERVER_ONE, TEST_SERVER_TWO } from "../test-certificates.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function setUp() {
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-tls-"));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, content: string): string => {
    const file = join(folder, name);
    writeFileSync(`${file}.new`, content);
    renameSync(`${file}.new`, file);
    return file;
  };
  return { folder, write, cert: write("cert.pem", TEST_SERVER_ONE.cert), key: write("key.pem", TEST_SERVER_ONE.key) };
}

const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "caller", version: "1" } },
});

/** Sends `initialize` on a new connection, and returns the answer and the fingerprint of the server's certificate. */
async function initialize(url: string) {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const asked = request(`${url}/mcp`, { method: "POST", headers, ca: TEST_AUTHORITY, agent: new Agent() }).end(
    INITIALIZE,
  );
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  const { fingerprint256 } = (response.socket as TLSSocket).getPeerCertificate();
  return { status: response.statusCode, body: await text(response), fingerprint256 };
}

const initialized = ({ cert }: { readonly cert: string }): object => ({
  status: 200,
  body: expect.stringContaining('"serverInfo"') as string,
  fingerprint256: new X509Certificate(cert).fingerprint256,
});

it("an arsenal serves MCP over https", async () => {
  const { cert, key } = setUp();
  await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  const served = await arsenal.serve({ port: 0, tls: { cert, key } });
  closing.push(() => served.close());
  expect(served.url).toMatch(/^https:/);
  expect(await initialize(served.url ?? "")).toEqual(initialized(TEST_SERVER_ONE));
  await served.close();
});

it.each(["configuration", "options"] as const)(
  "serve takes the certificate from its %s, and follows it",
  async (from) => {
    const { folder, write, cert } = setUp();
    const tls = from === "configuration" ? { tls: { cert: "cert.pem", key: "key.pem" } } : {};
    write("arsenal.yaml", JSON.stringify({ server: { port: 0, ...tls } }));
    const stop = new AbortController();
    const err = new PassThrough();
    let said = "";
    const heard = async (pattern: RegExp): Promise<string> => {
      for (;;) {
        const [, found] = pattern.exec(said) ?? [];
        if (found !== undefined) return found;
        said += String((await once(err, "data"))[0]);
      }
    };
    const ended = runCli(["serve", ...(from === "options" ? ["--tls-cert", cert, "--tls-key", "key.pem"] : [])], {
      out: { write: () => true },
      err: Object.assign(err, { isTTY: true }),
      folder,
      environment: { NO_COLOR: "1" },
      signal: stop.signal,
    });
    closing.push(() => stop.abort());
    const url = await heard(/Serving MCP at (https:\/\/\S+)\/mcp\n/);
    expect(await initialize(url)).toEqual(initialized(TEST_SERVER_ONE));
    write("key.pem", "nothing");
    expect(await heard(/error: (.*key\.pem.*)\n/)).toMatch(
      /is not a private key\. .* The old certificate stays in use\.$/,
    );
    expect(await initialize(url)).toEqual(initialized(TEST_SERVER_ONE));
    write("cert.pem", TEST_SERVER_TWO.cert);
    write("key.pem", TEST_SERVER_TWO.key);
    expect(await heard(/Certificate reloaded: (.*)\n/)).toBe(`${cert}, valid until 2119-12-31.`);
    expect(await initialize(url)).toEqual(initialized(TEST_SERVER_TWO));
    stop.abort();
    expect(await ended).toBe(0);
  },
);
