import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { createServer as createSecureServer, getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { TEST_AUTHORITY, TEST_SERVER_ONE } from "../../../test/test-certificates.ts";
import { withinDomains } from "./domain-bound.ts";
import { createEgress, type Egress, type EgressParts, type ProgramRules } from "./egress.ts";

const before = getCACertificates("default");
beforeAll(() => setDefaultCACertificates([TEST_AUTHORITY]));
afterAll(() => setDefaultCACertificates(before));

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

/** A server that sends back what it is sent, and how many reached it. */
async function serveEcho(
  host = "127.0.0.1",
  secure = false,
  onName: (name: string) => void = () => {},
): Promise<{ readonly port: number; reached: number }> {
  const echo = (socket: Socket): void => {
    served.reached++;
    socket.on("error", () => {});
    socket.pipe(socket);
  };
  const named = (name: string, done: (error: null) => void): void => {
    onName(name);
    done(null);
  };
  const server: Server = secure
    ? createSecureServer({ ...TEST_SERVER_ONE, SNICallback: named }, echo)
    : createServer(echo);
  await new Promise<void>((listening) => void server.listen(0, host, listening));
  opened.push(() => new Promise((closed) => void server.close(closed)));
  const served = { port: (server.address() as AddressInfo).port, reached: 0 };
  return served;
}

/** What `connect` returns is a socket of Node; our types name only a part of it. */
interface Out extends Egress {
  connect(...given: Parameters<Egress["connect"]>): Socket;
  fork(): Out;
}

function egress(rules?: ProgramRules, parts?: EgressParts): Out {
  const created = createEgress(rules, parts) as Out;
  opened.push(() => created.close());
  return created;
}

/** A resolver that knows some names; 127.0.0.2 stands for the public internet. */
const names: EgressParts = {
  isPublic: (address) => address === "127.0.0.2",
  resolve: (host, callback) =>
    callback(null, [{ address: host === "inside.test" ? "127.0.0.1" : "127.0.0.2", family: 4 }]),
};

async function say(socket: Socket, words: string): Promise<string> {
  socket.end(words);
  return text(socket);
}

describe("a connection for another protocol", () => {
  it("carries what both sides say", async () => {
    const { port } = await serveEcho();
    expect(await say(egress().connect(`http://127.0.0.1:${port}/`, { trusted: true }), "hello")).toBe("hello");
    expect(await say(egress().connect(new URL(`http://127.0.0.1:${port}`), { allowPrivate: true }), "")).toBe("");
  });

  it("is refused before there is a socket where a request would be", async () => {
    const served = await serveEcho();
    const url = `http://127.0.0.1:${served.port}`;
    const pins = { "pinned.test": TEST_SERVER_ONE.pin };
    expect(() => egress().connect(url)).toThrow(/is this machine or a private network/);
    expect(() => egress({ allowedDomains: ["a.test"] }).connect(url, { allowPrivate: true })).toThrow(/not among/);
    expect(() => egress().connect(url, { trusted: true, allowedDomains: ["a.test"] })).toThrow(/not among/);
    expect(() => withinDomains(["a.test"], () => egress().connect(url, { trusted: true }))).toThrow(/this call/);
    expect(() => egress({ certificatePins: pins }).connect("http://pinned.test/")).toThrow(/plain http has none/);
    expect(() => egress().connect("ws://a.test/")).toThrow(/only http and https/);
    expect(served.reached).toBe(0);
  });

  it("leads to the address that was checked, and the name is resolved once", async () => {
    const [outside, inside] = [await serveEcho("127.0.0.2"), await serveEcho()];
    let asked = 0;
    const resolve: EgressParts["resolve"] = (_host, callback) =>
      callback(null, [{ address: asked++ === 0 ? "127.0.0.2" : "127.0.0.1", family: 4 }]);
    const rebinding = egress({}, { ...names, resolve });
    expect(await say(rebinding.connect(`http://rebind.test:${outside.port}/`), "out")).toBe("out");
    expect(asked).toBe(1);
    const [error] = await once(rebinding.connect(`http://rebind.test:${inside.port}/`), "error");
    expect(error).toMatchObject({
      code: "PERMISSION_DENIED",
      message: expect.stringContaining("rebind.test is refused: it resolves to 127.0.0.1"),
    });
    expect(inside.reached).toBe(0);
    const trusted = egress({}, names).connect(`http://inside.test:${inside.port}/`, { trusted: true });
    expect(await say(trusted, "in")).toBe("in");
  });

  it("is encrypted where the address says https, to a server with a good certificate of that name", async () => {
    const { port } = await serveEcho("127.0.0.2", true);
    const out = egress({}, names);
    expect(await say(out.connect(`https://pinned.test:${port}/`), "hello")).toBe("hello");
    const [error] = await once(out.connect(`https://wrong.test:${port}/`), "error");
    expect(error).toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
    setDefaultCACertificates([]);
    try {
      const [unknown] = await once(egress({}, names).connect(`https://pinned.test:${port}/`), "error");
      expect(unknown).toMatchObject({ code: "SELF_SIGNED_CERT_IN_CHAIN" });
    } finally {
      setDefaultCACertificates([TEST_AUTHORITY]);
    }
  });

  it("asks for the certificate of the name, and of no name where the address is a number", async () => {
    const asked: string[] = [];
    const { port } = await serveEcho("127.0.0.2", true, (name) => asked.push(name));
    await say(egress({}, names).connect(`https://pinned.test.:${port}/`), "");
    const [error] = await once(egress({}, names).connect(`https://127.0.0.2:${port}/`), "error");
    expect([asked, error.message]).toEqual([
      ["pinned.test"],
      expect.stringContaining("IP: 127.0.0.2 is not in the cert's list"),
    ]);
  });

  it.each([
    ["http://255.255.255.255/", "255.255.255.255", 80],
    ["https://255.255.255.255/", "255.255.255.255", 443],
    ["http://[ff02::1:2]/", "ff02::1:2", 80],
  ])("to %s leads to %s, port %i", async (url, address, port) => {
    // Nobody can be there, and the failure says where nobody was.
    const [error] = await once(egress().connect(url, { trusted: true }), "error");
    expect(error).toMatchObject({ syscall: "connect", address, port });
  });

  it("is ended when the way out is closed, and another way out's is not", async () => {
    const { port } = await serveEcho();
    const out = egress();
    const open = (way: Out): Socket => way.connect(`http://127.0.0.1:${port}/`, { trusted: true });
    const [own, forked] = [open(out), open(out.fork())];
    await Promise.all([once(own, "connect"), once(forked, "connect")]);
    const ended = once(own, "close");
    out.close();
    await ended;
    expect([own.destroyed, forked.destroyed]).toEqual([true, false]);
    forked.destroy();
  });
});
