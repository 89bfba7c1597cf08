import { X509Certificate } from "node:crypto";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { TEST_AUTHORITY, TEST_SERVER_ONE, TEST_SERVER_TWO } from "../../../test/test-certificates.ts";
import type { Emit } from "../../observe/events.ts";
import type { Route } from "../surface.ts";
import { answerText } from "./answer.ts";
import { createHttpServer, type HttpServer } from "./http-server.ts";
import type { TlsFiles } from "./listen-options.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Two files that hold this certificate, and what replaces them at once. */
function filesOf({ cert, key }: { readonly cert: string; readonly key: string }) {
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-tls-"));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const tls = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  const write = (file: string, text: string): void => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  write(tls.cert, cert);
  write(tls.key, key);
  return { tls, write };
}

const SAYS: Route = { path: "/say", handle: ({ response }) => answerText(response, 200, '"hello"') };

/** A server, and a function that waits for its next event of a name. */
async function start(tls: TlsFiles, routes: readonly Route[] = [SAYS]) {
  const events: { readonly name: string; readonly data: unknown }[] = [];
  let heard = Promise.withResolvers<void>();
  const emit = ((name: string, data: unknown) => {
    events.push({ name, data });
    heard.resolve();
    heard = Promise.withResolvers();
  }) as Emit;
  const server: HttpServer = await createHttpServer({ port: 0, routes, tls, emit });
  closing.push(() => server.close());
  async function next(name: string): Promise<unknown> {
    for (;;) {
      const index = events.findIndex((event) => event.name === name);
      if (index !== -1) return events.splice(index, 1)[0]?.data;
      await heard.promise;
    }
  }
  return { server, next };
}

/** The answer over TLS, on a new connection unless an agent has one, checked against the tests' authority, and the certificate that the server proved itself with. */
function get(
  url: string,
  agent: Agent | false = false,
): Promise<{ readonly text: string; readonly fingerprint: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { ca: TEST_AUTHORITY, agent }, (response) => {
      const { fingerprint256 } = (response.socket as TLSSocket).getPeerCertificate();
      let text = "";
      response
        .on("data", (part) => (text += String(part)))
        .on("end", () => resolve({ text, fingerprint: fingerprint256 }));
    });
    asked.on("error", reject).end();
  });
}

const fingerprintOf = ({ cert }: { readonly cert: string }): string => new X509Certificate(cert).fingerprint256;

describe("a server with a certificate", () => {
  it("answers over https, and says so in its address", async () => {
    const { server } = await start(filesOf(TEST_SERVER_ONE).tls);
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(await get(`${server.url}/say`)).toEqual({ text: '"hello"', fingerprint: fingerprintOf(TEST_SERVER_ONE) });
  });

  it("sends the intermediate certificates of a second file too", async () => {
    const { tls, write } = filesOf(TEST_SERVER_ONE);
    const ca = `${tls.cert}.ca`;
    write(ca, TEST_AUTHORITY);
    const { server } = await start({ ...tls, ca });
    const { port } = new URL(server.url);
    const socket = connect({ host: "127.0.0.1", port: Number(port), ca: TEST_AUTHORITY });
    closing.push(() => socket.destroy());
    await new Promise((resolve) => socket.once("secureConnect", resolve));
    const { issuerCertificate } = socket.getPeerCertificate(true);
    expect(issuerCertificate.fingerprint256).toBe(fingerprintOf({ cert: TEST_AUTHORITY }));
  });

  it("refuses TLS 1.1", async () => {
    const { server } = await start(filesOf(TEST_SERVER_ONE).tls);
    const versions = { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    const socket = connect({ port: Number(new URL(server.url).port), ca: TEST_AUTHORITY, ...versions });
    closing.push(() => socket.destroy());
    const outcome = await new Promise((resolve) => socket.once("error", resolve).once("secureConnect", resolve));
    expect(String(outcome)).toMatch(/protocol version/i);
  });

  it.each(["as it starts", "after a new certificate"])(
    "takes only forward secret suites with authenticated encryption, %s",
    async (when) => {
      const { tls, write } = filesOf(TEST_SERVER_ONE);
      const { server, next } = await start(tls);
      if (when !== "as it starts") {
        write(tls.cert, TEST_SERVER_TWO.cert);
        write(tls.key, TEST_SERVER_TWO.key);
        await next("certificate-reloaded");
      }
      const { port } = new URL(server.url);
      const offer = async (ciphers: string, maxVersion: "TLSv1.2" | "TLSv1.3"): Promise<string> => {
        const socket = connect({ host: "127.0.0.1", port: Number(port), ca: TEST_AUTHORITY, ciphers, maxVersion });
        closing.push(() => socket.destroy());
        return new Promise((resolve) => {
          socket.once("secureConnect", () => resolve(socket.getCipher().name));
          socket.once("error", ({ message }) =>
            resolve(/handshake failure|alert/i.test(message) ? "refused" : message),
          );
        });
      };
      const weak = [
        "AES128-SHA",
        "AES256-SHA256",
        "AES128-GCM-SHA256",
        "ECDHE-ECDSA-AES128-SHA",
        "ECDHE-RSA-AES128-SHA",
      ];
      weak.push("DHE-RSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA384", "ECDHE-RSA-AES256-SHA384");
      for (const suite of weak) expect([suite, await offer(suite, "TLSv1.2")]).toEqual([suite, "refused"]);
      expect(await offer("ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256", "TLSv1.2")).toMatch(
        /^ECDHE-\w+-AES128-GCM/,
      );
      expect(await offer("TLS_AES_128_GCM_SHA256:AES128-SHA", "TLSv1.3")).toBe("TLS_AES_128_GCM_SHA256");
    },
  );

  it("gives new connections a new certificate when the files change, and open ones go on", async () => {
    const { tls, write } = filesOf(TEST_SERVER_ONE);
    const { server, next } = await start(tls);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    closing.push(() => agent.destroy());
    await get(`${server.url}/say`, agent);
    write(tls.cert, TEST_SERVER_TWO.cert);
    write(tls.key, TEST_SERVER_TWO.key);
    expect(await next("certificate-reloaded")).toEqual({ file: tls.cert, validTo: "2119-12-31T23:59:59.000Z" });
    expect((await get(`${server.url}/say`)).fingerprint).toBe(fingerprintOf(TEST_SERVER_TWO));
    expect(await get(`${server.url}/say`, agent)).toEqual({
      text: '"hello"',
      fingerprint: fingerprintOf(TEST_SERVER_ONE),
    });
  });

  it("keeps its certificate if the new files cannot be used, and reports file and reason", async () => {
    const { tls, write } = filesOf(TEST_SERVER_ONE);
    const { server, next } = await start(tls);
    write(tls.key, TEST_SERVER_TWO.key);
    expect(await next("certificate-failed")).toEqual({
      file: tls.cert,
      message: `Cannot serve over TLS: ${tls.key} (server.tls.key) is the key of another certificate. Give the key of the first certificate in ${tls.cert}. The old certificate stays in use.`,
    });
    expect((await get(`${server.url}/say`)).fingerprint).toBe(fingerprintOf(TEST_SERVER_ONE));
    write(tls.cert, TEST_SERVER_TWO.cert);
    await next("certificate-reloaded");
    expect((await get(`${server.url}/say`)).fingerprint).toBe(fingerprintOf(TEST_SERVER_TWO));
  });

  it("closes while a connection is idle, and lets an answer under way end", async () => {
    const begun = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const slow: Route = {
      path: "/slow",
      async handle({ response }) {
        begun.resolve();
        await finish.promise;
        answerText(response, 200, '"late"');
      },
    };
    const { server } = await start(filesOf(TEST_SERVER_ONE).tls, [SAYS, slow]);
    const agent = new Agent({ keepAlive: true });
    closing.push(() => agent.destroy());
    await get(`${server.url}/say`, agent);
    const answer = get(`${server.url}/slow`);
    await begun.promise;
    const closed = server.close();
    finish.resolve();
    expect((await answer).text).toBe('"late"');
    await closed;
  });
});

describe("a server does not start", () => {
  it.each([
    ["a certificate that does not exist", "cert", undefined, /cert\.pem \(server\.tls\.cert\) does not exist\./],
    ["a certificate that is none", "cert", "hello", /cert\.pem \(server\.tls\.cert\) is not a certificate\./],
    ["a key that is none", "key", "hello", /key\.pem \(server\.tls\.key\) is not a private key\./],
    [
      "the key of another certificate",
      "key",
      TEST_SERVER_TWO.key,
      /key\.pem \(server\.tls\.key\) is the key of another/,
    ],
  ] as const)("with %s", async (_, which, text, message) => {
    const { tls, write } = filesOf(TEST_SERVER_ONE);
    if (text === undefined) rmSync(tls[which]);
    else write(tls[which], text);
    await expect(createHttpServer({ port: 0, routes: [], tls })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(message) as string,
      details: { field: `tls.${which}`, value: tls[which], fix: expect.any(String) as string },
    });
  });
});
