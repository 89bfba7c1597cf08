import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { TEST_AUTHORITY, TEST_SERVER_ONE } from "../../../test/test-certificates.ts";
import { createEgress, type Egress, type EgressParts, type ProgramRules } from "./egress.ts";
import { createProxyRoutes } from "./proxy.ts";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A forward proxy that reaches every name on this machine, and notes what it was asked for. */
async function startProxy({ password, refuses }: { password?: string; refuses?: number } = {}) {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const isAllowed = ({ headers }: IncomingMessage): boolean =>
    password === undefined || headers["proxy-authorization"] === `Basic ${btoa(`user:${password}`)}`;
  const server = createServer((incoming, response) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    if (!isAllowed(incoming)) return void response.writeHead(407).end();
    const { port, pathname } = new URL(incoming.url ?? "");
    const { "proxy-authorization": _, ...headers } = incoming.headers;
    const passed = request({ host: "127.0.0.1", port, path: pathname, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(passed);
  });
  server.on("connect", (incoming: IncomingMessage, socket: Socket) => {
    seen.push(`CONNECT ${incoming.url}`);
    sockets.add(socket);
    const status = isAllowed(incoming) ? (refuses ?? 200) : 407;
    socket.write(`HTTP/1.1 ${status} x\r\n\r\n`);
    if (status !== 200) return void socket.end();
    const target = connect(Number(incoming.url?.split(":")[1]), "127.0.0.1");
    sockets.add(target);
    for (const one of [socket, target]) one.on("error", () => {});
    socket.pipe(target).pipe(socket);
  });
  const port = await listen(server);
  opened.push(() => sockets.forEach((socket) => socket.destroy()));
  return { seen, url: `http://127.0.0.1:${port}`, port };
}

async function startTarget(secure: boolean): Promise<number> {
  const answer = (incoming: IncomingMessage, response: { end(body: string): void }): void =>
    response.end(`${incoming.url} ${incoming.headers["proxy-authorization"] ?? "without proof"}`);
  return listen(secure ? createSecureServer(TEST_SERVER_ONE, answer) : createServer(answer));
}

/** Only the proxy can resolve names. Every address counts as public. */
const nameless: EgressParts = {
  isPublic: () => true,
  resolve: (host, callback) => callback(new Error(`getaddrinfo ENOTFOUND ${host}`), []),
  environment: {},
};

function egress(rules: ProgramRules, parts: EgressParts = {}): Egress {
  const created = createEgress(rules, { ...nameless, ...parts });
  opened.push(() => created.close());
  return created;
}

const get = async (through: Egress, url: string): Promise<string> => text((await through.request(url)).body as never);

describe("a forward proxy", () => {
  it("carries http as a whole address and https through a tunnel, with its password and a file's authority", async () => {
    const proxy = await startProxy({ password: "s e" });
    const [plain, secure] = [await startTarget(false), await startTarget(true)];
    const proxied = egress({ proxy: `http://user:s%20e@127.0.0.1:${proxy.port}`, ca: TEST_AUTHORITY });
    expect(await get(proxied, `http://one.test:${plain}/a?b`)).toBe("/a without proof");
    expect(await get(proxied, `https://pinned.test:${secure}/c`)).toBe("/c without proof");
    expect(proxy.seen).toEqual([`GET http://one.test:${plain}/a?b`, `CONNECT pinned.test:${secure}`]);
  });

  it("keeps its tunnel for the next request to the same host", async () => {
    const proxy = await startProxy();
    const port = await startTarget(true);
    const proxied = egress({ proxy: proxy.url, ca: TEST_AUTHORITY });
    for (const path of ["/1", "/2", "/3"]) await get(proxied, `https://pinned.test:${port}${path}`);
    expect(proxy.seen).toEqual([`CONNECT pinned.test:${port}`]);
  });

  it("carries a connection for another protocol", async () => {
    const proxy = await startProxy();
    const port = await startTarget(true);
    const socket = egress({ proxy: proxy.url, ca: TEST_AUTHORITY }).connect(`https://pinned.test:${port}/`) as Socket;
    socket.write("GET /raw HTTP/1.1\r\nhost: one.test\r\nconnection: close\r\n\r\n");
    expect(await text(socket)).toContain("/raw without proof");
    expect(proxy.seen).toEqual([`CONNECT pinned.test:${port}`]);
  });

  it.each([
    ["a domain that is not allowed", { allowedDomains: ["example.org"] }, {}, "https://one.test/", "allowed domains"],
    ["a private address", {}, { isPublic: () => false }, "https://10.0.0.1/", "private network"],
    [
      "a name that resolves to a private address here",
      {},
      {
        isPublic: (address: string) => address !== "10.0.0.1",
        resolve: ((_host, callback) =>
          callback(null, [{ address: "10.0.0.1", family: 4 }])) as EgressParts["resolve"] & {},
      },
      "https://one.test/",
      "it resolves to 10.0.0.1",
    ],
  ])("does not reach %s", async (_what, rules, parts, url, message) => {
    const proxy = await startProxy();
    const proxied = egress({ ...rules, proxy: proxy.url }, parts);
    for (const given of [url, url.replace("https:", "http:")])
      await expect(proxied.request(given)).rejects.toMatchObject({
        code: "PERMISSION_DENIED",
        message: expect.stringContaining(message),
      });
    expect(proxy.seen).toEqual([]);
  });

  it("that refuses, wants a password or is not there is named, with the setting to change", async () => {
    const problem = async (proxy: string): Promise<string> => {
      const error: unknown = await egress({ proxy })
        .request("https://one.test/")
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "TRANSPORT_FAILED", details: { beforeSend: true } });
      return (error as Error).message;
    };
    const [refusing, asking] = [await startProxy({ refuses: 403 }), await startProxy({ password: "x" })];
    expect(await problem(refusing.url)).toContain(
      `The proxy ${refusing.url} (egress.proxy) refused a connection to one.test with status 403.`,
    );
    expect(await problem(`http://user:wrong@127.0.0.1:${asking.port}`)).toMatch(
      /status 407\. Name its user and password in egress\.proxy/,
    );
    expect(await problem("http://127.0.0.1:1")).toMatch(
      /^The proxy http:\/\/127\.0\.0\.1:1 \(egress\.proxy\) cannot be reached: /,
    );
  });
});

describe("the way to an address", () => {
  const routes = (environment: Record<string, string>, settings = {}) => {
    const find = createProxyRoutes(settings, environment);
    return (url: string) => find(new URL(url))?.url.host;
  };

  it("is found in the environment, lower case first, each scheme in its own variable", () => {
    const way = routes({
      https_proxy: "http://a:1",
      HTTPS_PROXY: "http://b:1",
      HTTP_PROXY: "c:1",
      ALL_PROXY: "http://d:1",
    });
    expect([way("https://x.example"), way("http://x.example")]).toEqual(["a:1", "c:1"]);
    expect(routes({ ALL_PROXY: "http://d:1" })("http://x.example")).toBe("d:1");
    expect(routes({ HTTPS_PROXY: "http://b:1" })("http://x.example")).toBeUndefined();
    expect(routes({ HTTPS_PROXY: "http://b:1" }, { proxy: "http://own:1" })("http://x.example")).toBe("own:1");
    expect(routes({ HTTPS_PROXY: "http://b:1" }, { proxy: "none" })("https://x.example")).toBeUndefined();
  });

  it("is direct to this machine, and to the hosts that are listed", () => {
    const listed = "corp.example, .lan.example,*.wild.example 10.0.0.0/8,[fd00::1],port.example:8443";
    const way = routes({ HTTPS_PROXY: "http://p:1", NO_PROXY: listed });
    const hosts =
      "localhost 127.0.0.9 [::1] corp.example a.corp.example a.lan.example wild.example 10.9.9.9 [fd00::1] port.example:8443";
    for (const host of hosts.split(" ")) expect(way(`https://${host}/`), host).toBeUndefined();
    for (const host of "x.example notcorp.example 11.0.0.1 [fd00::2] port.example".split(" "))
      expect(way(`https://${host}/`), host).toBe("p:1");
    expect(routes({ HTTPS_PROXY: "http://p:1", NO_PROXY: "*" })("https://x.example")).toBeUndefined();
    expect(routes({ HTTPS_PROXY: "http://p:1", NO_PROXY: "x.example" }, { noProxy: [] })("https://x.example")).toBe(
      "p:1",
    );
  });

  it("is refused if it is not an HTTP proxy: a setting at once, a variable with the first request that needs it", () => {
    expect(() => routes({}, { proxy: "socks5://h:1" })).toThrow("egress.proxy is not the address of an HTTP proxy.");
    const way = routes({ ALL_PROXY: "socks5://user:secret@h:1", HTTPS_PROXY: "http://p:1" });
    expect(way("https://x.example")).toBe("p:1");
    expect(() => way("http://x.example")).toThrow(/^ALL_PROXY is not the address of an HTTP proxy\. (?!.*secret)/);
  });
});
