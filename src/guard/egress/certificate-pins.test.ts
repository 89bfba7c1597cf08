import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  TEST_AUTHORITY,
  TEST_SERVER_ONE,
  TEST_SERVER_TWO,
  type TestServerCertificate,
} from "../../../test/test-certificates.ts";
import { createEgress, type Egress } from "./egress.ts";

const before = getCACertificates("default");
beforeAll(() => setDefaultCACertificates([TEST_AUTHORITY]));
afterAll(() => setDefaultCACertificates(before));

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

/** A server on loopback, and how often it was sent a request. */
async function serve(
  certificate: TestServerCertificate & { readonly ticketKeys?: Buffer },
  at = 0,
): Promise<{ readonly port: number; readonly requests: string[] }> {
  const requests: string[] = [];
  const server: Server = createServer(certificate, (request, response) => {
    requests.push(request.url ?? "");
    response.end("hello");
  });
  await new Promise<void>((listening) => void server.listen(at, "127.0.0.1", listening));
  opened.push({
    close() {
      server.closeAllConnections();
      return new Promise((closed) => void server.close(closed));
    },
  });
  return { port: (server.address() as AddressInfo).port, requests };
}

function pinning(certificatePins: Readonly<Record<string, string>>): Egress {
  const loopback = [{ address: "127.0.0.1", family: 4 }];
  const created = createEgress(
    { certificatePins, allowPrivate: true },
    { resolve: (_host, answer) => answer(null, loopback) },
  );
  opened.push(created);
  return created;
}

async function get(egress: Egress, url: string): Promise<string> {
  return text((await egress.request(url)).body);
}

describe("a host whose certificate is pinned", () => {
  it("is reached where its key is the pinned one, or one of several", async () => {
    const { port } = await serve(TEST_SERVER_ONE);
    const { pin: one } = TEST_SERVER_ONE;
    const { pin: two } = TEST_SERVER_TWO;
    for (const pins of [one, `${two} ${one}`, ` ${one}\n${two} `])
      expect(await get(pinning({ "PINNED.test": pins }), `https://pinned.test:${port}/`)).toBe("hello");
    await expect(get(pinning({ "Pinned.Test.": two }), `https://pinned.test:${port}/`)).rejects.toThrow(/not pinned/);
  });

  it("is sent nothing where its key is another, and the failure says which", async () => {
    const { port, requests } = await serve(TEST_SERVER_TWO);
    const egress = pinning({ "pinned.test": TEST_SERVER_ONE.pin });
    for (const url of [`https://pinned.test:${port}/secret`, `https://Pinned.Test.:${port}/secret`])
      await expect(egress.request(url)).rejects.toMatchObject({
        code: "TRANSPORT_FAILED",
        message: expect.stringContaining(`has the key ${TEST_SERVER_TWO.pin}, which is not pinned`),
        details: {
          field: "url",
          beforeSend: true,
          fix: `If the server's key was changed on purpose, add ${TEST_SERVER_TWO.pin} to security.certificate_pins; otherwise the server may be an impostor.`,
        },
      });
    expect(requests).toEqual([]);
  });

  it("is checked on every connection, and other hosts are not", async () => {
    const { port, requests } = await serve(TEST_SERVER_TWO);
    const egress = pinning({ "pinned.test": TEST_SERVER_ONE.pin });
    expect(await get(egress, `https://other.test:${port}/`)).toBe("hello");
    await expect(egress.fork().request(`https://pinned.test:${port}/`)).rejects.toMatchObject({
      code: "TRANSPORT_FAILED",
    });
    const [error] = await once(egress.connect(`https://pinned.test:${port}/`) as Socket, "error");
    expect(error).toMatchObject({ code: "TRANSPORT_FAILED", message: expect.stringContaining("not pinned") });
    expect(requests).toEqual(["/"]);
  });

  it("is checked also where TLS could go on with an earlier session, in which no certificate is shown", async () => {
    const ticketKeys = Buffer.alloc(48, 1);
    const first = await serve({ ...TEST_SERVER_ONE, ticketKeys });
    const egress = pinning({ "pinned.test": TEST_SERVER_ONE.pin });
    const url = `https://pinned.test:${first.port}/`;
    const answer = await egress.request(url, { headers: { connection: "close" } });
    expect(await text(answer.body)).toBe("hello");
    await opened.shift()?.close();
    const second = await serve({ ...TEST_SERVER_TWO, ticketKeys }, first.port);
    await expect(egress.request(url)).rejects.toThrow(/not pinned/);
    expect(second.requests).toEqual([]);
  });

  it("is checked also where a header names another host", async () => {
    const { port, requests } = await serve(TEST_SERVER_TWO);
    const egress = pinning({ "pinned.test": TEST_SERVER_ONE.pin });
    const headers = { host: "other.test" };
    await expect(egress.request(`https://pinned.test:${port}/`, { headers })).rejects.toThrow(/not pinned/);
    expect(requests).toEqual([]);
  });

  it("is not asked over plain http, where no certificate is shown", async () => {
    const egress = pinning({ "pinned.test": TEST_SERVER_ONE.pin });
    await expect(egress.request("http://pinned.test/")).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
      message:
        "A request to http://pinned.test/ is refused: its certificate is pinned, but plain http has none. Use its https address.",
    });
  });

  it("must have a certificate that is good without the pin, too", async () => {
    const { port, requests } = await serve(TEST_SERVER_ONE);
    const named = pinning({ "wrong.test": TEST_SERVER_ONE.pin });
    await expect(named.request(`https://wrong.test:${port}/`)).rejects.toThrow(/altnames/);
    setDefaultCACertificates([]);
    try {
      const unknown = pinning({ "pinned.test": TEST_SERVER_ONE.pin });
      await expect(unknown.request(`https://pinned.test:${port}/`)).rejects.toMatchObject({
        code: "TRANSPORT_FAILED",
        details: { beforeSend: true },
      });
    } finally {
      setDefaultCACertificates([TEST_AUTHORITY]);
    }
    expect(requests).toEqual([]);
  });
});

describe("a pin", () => {
  it.each([
    ["api.example.com", "sha256/short="],
    ["api.example.com", TEST_SERVER_ONE.pin.slice("sha256/".length)],
    ["api.example.com", `${TEST_SERVER_ONE.pin},${TEST_SERVER_TWO.pin}`],
    ["api.example.com", ""],
    ["https://api.example.com", TEST_SERVER_ONE.pin],
    ["*.example.com", TEST_SERVER_ONE.pin],
  ])("for %j that reads %j is refused when the program starts", (host, pin) => {
    expect(() => createEgress({ certificatePins: { [host]: pin } })).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        details: expect.objectContaining({ field: `security.certificate_pins.${host}` }),
      }),
    );
  });

  it("that is refused is told with what to write", () => {
    const fix = "Write a host's name and sha256/ with the base64 SHA-256 hash of its public key, 44 characters.";
    const refused = (pins: string, value: string): void =>
      expect(() => createEgress({ certificatePins: { "a.test": pins } })).toThrow(
        expect.objectContaining({
          message: `security.certificate_pins.a.test is not a certificate pin: "${value}". ${fix}`,
          details: { field: "security.certificate_pins.a.test", value, fix },
        }),
      );
    refused(`${TEST_SERVER_ONE.pin} nonsense`, "nonsense");
    refused(" ", " ");
  });
});
