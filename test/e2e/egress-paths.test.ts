import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/adapters/sources/mcp/connection/connect.ts";
import { openapiSource } from "../../src/adapters/sources/openapi/openapi.ts";
import { createEgress, type Egress } from "../../src/guard/egress/egress.ts";
import type { HandlerContext } from "../../src/tool/handler.ts";
import { type Accomplice, startAccomplice } from "./egress-paths/accomplice.ts";
import { createTestNetwork, PUBLIC_ADDRESS, type TestNetwork } from "./egress-paths/network.ts";
import { type EgressPath, PATHS } from "./egress-paths/paths.ts";
import { moreTargets, type Target, TARGETS } from "./egress-paths/targets.ts";

let accomplice: Accomplice;
beforeAll(async () => void (accomplice = await startAccomplice()));
afterAll(() => accomplice.close());

/** What became of one target by one path: which connections would have been opened, and whether the path failed. */
async function tryTarget(
  path: EgressPath,
  { url, resolvesTo }: Pick<Target, "url" | "resolvesTo">,
): Promise<{ readonly attempts: readonly string[]; readonly failed: boolean }> {
  const names = resolvesTo === undefined ? {} : { [new URL(url).hostname]: resolvesTo };
  const network: TestNetwork = createTestNetwork(names);
  const egress = createEgress({}, network.parts);
  network.allow(accomplice.port);
  accomplice.target = url;
  try {
    const failed = await path.request({ egress, origin: accomplice.origin, target: url }).then(
      () => false,
      () => true,
    );
    return { attempts: network.attempts, failed };
  } finally {
    egress.close();
    network.restore();
  }
}

/** The targets that a path did not treat as it should. */
async function wronglyTreated(path: EgressPath, targets: readonly Target[]): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const target of targets) {
    const { attempts, failed } = await tryTarget(path, target);
    const opens = path.reaches && !target.blocked;
    const isRight = opens ? attempts.length > 0 && attempts.every(isOpenTo(target.url)) : attempts.length === 0;
    // Nothing answers in this network, so every request fails in the end.
    if (!isRight || !failed) wrong.push(`${target.url} opened [${attempts}]${failed ? "" : " and did not fail"}`);
  }
  return wrong;
}

/** True for a connection to the public address that a target names or resolves to. */
function isOpenTo(url: string): (attempt: string) => boolean {
  const host = new URL(url).hostname.replaceAll(/[[\]]/g, "");
  const address = /^[\d.]+$|:/.test(host) ? host : PUBLIC_ADDRESS;
  return (attempt) => attempt === `${address}:443`;
}

it("notices every socket that would be opened", async () => {
  const network = createTestNetwork();
  const egress = createEgress({ allowPrivate: true }, network.parts);
  const urls = ["http://10.0.0.1/", "https://10.0.0.1/", "http://inside.test/", "https://inside.test:8443/"];
  try {
    for (const url of urls) await expect(egress.request(url)).rejects.toThrow("nothing is connected here");
  } finally {
    egress.close();
    network.restore();
  }
  expect(network.attempts).toEqual(["10.0.0.1:80", "10.0.0.1:443", "127.0.0.1:80", "127.0.0.1:8443"]);
});

describe.each(PATHS)("$name", (path) => {
  it("opens no socket to what is private or no web address, and one to what is public", async () => {
    expect(await wronglyTreated(path, TARGETS)).toEqual([]);
  });

  // because this path never connects.
  it.skipIf(!path.reaches)("connects to the address that was checked, whatever the name resolves to next", async () => {
    const { attempts } = await tryTarget(path, { url: "https://rebind.test/" });
    // A login tries several places of one server; once the name means this machine, none is opened.
    expect(attempts).toEqual([`${PUBLIC_ADDRESS}:443`]);
  });
});

describe("the addresses in the folder that TOOLARSENAL_ATTACKS names", () => {
  const targets = moreTargets();
  if (targets === undefined)
    process.stderr.write(
      "not run: more hostile addresses. Set TOOLARSENAL_ATTACKS to a folder with ssrf_urls.jsonl.\n",
    );

  // because the list of addresses is not in the repository.
  it.skipIf(targets === undefined)("are all treated as expected by every path", async () => {
    const wrong: string[] = [];
    for (const path of PATHS)
      for (const each of await wronglyTreated(path, targets ?? [])) wrong.push(`${path.name}: ${each}`);
    const count = (targets ?? []).length * PATHS.length;
    process.stderr.write(`${count - wrong.length} of ${count} as expected: each address by ${PATHS.length} paths\n`);
    expect(wrong).toEqual([]);
  });
});

describe("credentials", () => {
  /** Two servers: the operator's own redirects to the other, which stands for a public one and notes what it is sent. */
  async function startPair(): Promise<{
    readonly url: string;
    readonly seen: IncomingHttpHeaders[];
    readonly egress: Egress;
    close(): Promise<void>;
  }> {
    const seen: IncomingHttpHeaders[] = [];
    const away = createServer(({ headers }, response) => void (seen.push(headers), response.writeHead(404).end()));
    const own = createServer((_request, response) => {
      response.writeHead(307, { location: `http://away.test:${portOf(away)}/` }).end();
    });
    const portOf = (server: typeof own): number => (server.address() as AddressInfo).port;
    await new Promise<void>((listening) => void away.listen(0, "127.0.0.2", listening));
    await new Promise<void>((listening) => void own.listen(0, "127.0.0.1", listening));
    const egress = createEgress(
      {},
      {
        isPublic: (address) => address === "127.0.0.2",
        resolve: (_host, callback) => callback(null, [{ address: "127.0.0.2", family: 4 }]),
      },
    );
    return {
      url: `http://127.0.0.1:${portOf(own)}`,
      seen,
      egress,
      async close() {
        egress.close();
        for (const server of [own, away]) {
          server.closeAllConnections();
          await new Promise((closed) => void server.close(closed));
        }
      },
    };
  }

  const HEADERS = { Authorization: "Bearer planted-token", Cookie: "session=planted", "X-Api-Key": "planted-key" };
  const { signal } = new AbortController();

  it.each(["openapi", "http"] as const)("of %s do not follow a redirect to another origin", async (kind) => {
    const { url, seen, egress, close } = await startPair();
    try {
      const identity = { info: { name: "test", version: "1" }, capabilities: {} };
      if (kind === "openapi") {
        const paths = { "/x": { get: { operationId: "x", responses: {} } } };
        const document = { openapi: "3.1.0", info: { title: "An API", version: "1" }, paths };
        const source = openapiSource({ name: "api", document, server: url, headers: HEADERS }, { egress });
        await source.connect({ signal });
        const [tool] = await source.list({ signal });
        await expect(Promise.resolve(tool?.handler({}, { signal } as unknown as HandlerContext))).rejects.toThrow();
      } else {
        const transport = { kind, url: `${url}/`, headers: HEADERS };
        await expect(connect({ name: "server", transport }, { egress, identity })).rejects.toThrow();
      }
      expect(seen.length).toBeGreaterThan(0);
      expect(JSON.stringify(seen)).not.toContain("planted");
    } finally {
      await close();
    }
  });
});
