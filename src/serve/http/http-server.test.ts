import { once } from "node:events";
import { connect } from "node:net";
import { type IncomingHttpHeaders, request } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { bearerToken } from "../../adapters/identity/bearer-token.ts";
import { localOperator } from "../../guard/principal.ts";
import { answerJson } from "./answer.ts";
import { createHttpServer, type HttpServer, type HttpServerOptions } from "./http-server.ts";
import type { Route } from "../surface.ts";

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const TOKEN = "a-token-of-enough-letters";
const identity = bearerToken({ tokens: [TOKEN] });

/** Says which route took the request, and what it was given. */
function telling(path: string, more: Partial<Route> = {}): Route {
  return {
    path,
    handle: ({ response, principal, url }) =>
      answerJson(response, 200, { path, principal: principal.id, at: url.pathname, query: url.search }),
    ...more,
  };
}

const open: HttpServer[] = [];

async function serve(options: Partial<HttpServerOptions> = {}): Promise<HttpServer> {
  const server = await createHttpServer({ port: 0, routes: [telling("/mcp")], ...options });
  open.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

/** Sends the target as it is written, and headers that `fetch` forbids. */
function ask(url: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> {
  const [, hostname, port, path] = /^http:\/\/([^:/]+):(\d+)(.*)$/.exec(url) ?? [];
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, headers, method, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    })
      .on("error", reject)
      .end();
  });
}

function messageOf({ text }: Answer): string {
  return (JSON.parse(text) as { error: { message: string } }).error.message;
}

describe("routes", () => {
  const routes = ["/mcp", "/mcp/upstreams/", "/mcp/upstreams/files/", "/"].map((path) => telling(path));

  it.each([
    ["/mcp", "/mcp", "/mcp", ""],
    ["/mcp?a=1&b=/mcp/upstreams/", "/mcp", "/mcp", "?a=1&b=/mcp/upstreams/"],
    ["/mcp/upstreams/git", "/mcp/upstreams/", "/mcp/upstreams/git", ""],
    ["/mcp/upstreams/files/x?y", "/mcp/upstreams/files/", "/mcp/upstreams/files/x", "?y"],
    ["/mcp/upstreams/../../mcp", "/mcp", "/mcp", ""],
    ["/mcp/upstreams/%2e%2e/elsewhere", "/", "/mcp/elsewhere", ""],
    ["/mcpx", "/", "/mcpx", ""],
    ["//evil.example/mcp", "/", "//evil.example/mcp", ""],
  ])("%s is taken by %s", async (target, path, at, query) => {
    const { url } = await serve({ routes });
    const answer = await ask(url + target);
    expect(JSON.parse(answer.text)).toEqual({ path, principal: "local", at, query });
  });

  it("names the paths that exist where there is none", async () => {
    const { url } = await serve({ routes: [telling("/mcp"), telling("/mcp/upstreams/")] });
    const answer = await ask(`${url}/nothing`);
    expect([answer.status, answer.headers["content-type"]]).toEqual([404, "application/json"]);
    expect(messageOf(answer)).toBe("There is nothing at this path. Paths: /mcp, /mcp/upstreams/….");
  });

  it("answer 500 without a word about why where one throws, and tell the owner", async () => {
    const failures: unknown[] = [];
    const failing: Route = { path: "/mcp", handle: () => Promise.reject(new Error("the password is hunter2")) };
    const { url } = await serve({ routes: [failing], onError: (error) => failures.push(error) });
    const answer = await ask(`${url}/mcp`);
    expect(answer.status).toBe(500);
    expect(JSON.parse(answer.text)).toEqual({
      jsonrpc: "2.0",
      error: { code: -32_603, message: "The server failed to answer." },
      id: null,
    });
    expect(String(failures)).toBe("Error: the password is hunter2");
  });

  it("that fail in the middle of an answer cut the connection", async () => {
    const failing: Route = {
      path: "/mcp",
      handle({ response }) {
        response.writeHead(200, { "content-length": "100" }).write("half");
        throw new Error("in the middle");
      },
    };
    const { url } = await serve({ routes: [failing, telling("/other")] });
    await expect(fetch(`${url}/mcp`).then((response) => response.text())).rejects.toThrow(TypeError);
    expect((await ask(`${url}/other`)).status).toBe(200);
  });
});

describe("who may call", () => {
  it("refuses to start where others can reach it and nobody is asked who they are", async () => {
    for (const host of ["0.0.0.0", "::", "", "192.0.2.1", "gateway.internal"]) {
      await expect(serve({ host })).rejects.toMatchObject({
        code: "CONFIG_INVALID",
        message: expect.stringContaining("TOOLARSENAL_TOKEN") as string,
        details: { field: "host", value: host },
      });
    }
  });

  it("starts there with an identity", async () => {
    const { url } = await serve({ host: "0.0.0.0", identity });
    expect(url).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/);
    const { port } = new URL(url);
    const answer = await ask(`http://127.0.0.1:${port}/mcp`, { authorization: `Bearer ${TOKEN}` });
    expect(JSON.parse(answer.text)).toMatchObject({ principal: "token-1" });
  });

  it("takes everybody for the local operator where none is asked", async () => {
    let seen: unknown;
    const route: Route = {
      path: "/mcp",
      handle: ({ response, principal }) => ((seen = principal), void response.end()),
    };
    const { url } = await serve({ routes: [route] });
    await ask(`${url}/mcp`);
    expect(seen).toEqual(localOperator());
  });

  it("refuses with the challenge whom the identity does not know", async () => {
    const { url } = await serve({ identity });
    for (const headers of [{}, { authorization: "Bearer wrong" }]) {
      const answer = await ask(`${url}/mcp`, headers as Record<string, string>);
      expect([answer.status, answer.headers["www-authenticate"]]).toEqual([401, 'Bearer realm="toolarsenal"']);
      expect(messageOf(answer)).toBe("Missing or invalid credentials.");
    }
  });

  it("answers 503 where the identity cannot tell", async () => {
    const failures: unknown[] = [];
    const authenticate = (): Promise<never> => Promise.reject(new Error("no key server"));
    const broken = { name: "broken", challenge: "Bearer", authenticate };
    const { url } = await serve({ identity: broken, onError: (error) => failures.push(error) });
    expect((await ask(`${url}/mcp`)).status).toBe(503);
    expect(String(failures)).toBe("Error: no key server");
  });

  it("asks nobody on an open route, and gives nobody a right there", async () => {
    const { url } = await serve({ identity, routes: [telling("/healthz", { open: true })] });
    expect(JSON.parse((await ask(`${url}/healthz`)).text)).toMatchObject({ principal: "anonymous" });
  });

  it("hands the identity the headers and the caller's address", async () => {
    let given: unknown;
    const curious = {
      name: "curious",
      challenge: "None",
      authenticate: (credentials: unknown) => ((given = credentials), Promise.resolve(undefined)),
    };
    const { url } = await serve({ identity: curious });
    await ask(`${url}/mcp`, { "X-Key": "k" });
    expect(given).toMatchObject({ headers: { "x-key": "k" }, remoteAddress: "127.0.0.1" });
  });
});

describe("web pages", () => {
  const page = "http://localhost:6274";

  it("of its own origin may call and read the session id", async () => {
    const { url } = await serve();
    const { status, headers } = await ask(`${url}/mcp`, { origin: url });
    expect(status).toBe(200);
    expect(headers["access-control-allow-origin"]).toBe(url);
    expect(headers["access-control-expose-headers"]).toContain("Mcp-Session-Id");
    expect(headers.vary).toBe("Origin");
  });

  it("at the public address may call", async () => {
    const { url } = await serve({ publicUrl: "https://tools.example" });
    expect((await ask(`${url}/mcp`, { origin: "https://tools.example" })).status).toBe(200);
  });

  it("of an allowed origin get their preflight answered without credentials", async () => {
    const { url } = await serve({ identity, allowedOrigins: [page] });
    const asked = { "access-control-request-method": "POST", "access-control-request-headers": "mcp-session-id" };
    const { status, headers } = await ask(`${url}/mcp`, { origin: page, ...asked }, "OPTIONS");
    expect(status).toBe(204);
    expect(headers["access-control-allow-origin"]).toBe(page);
    expect(headers["access-control-allow-methods"]).toContain("POST");
    expect(headers["access-control-allow-methods"]).toContain("DELETE");
    expect(headers["access-control-allow-headers"]).toBe("mcp-session-id");
  });

  it.each(["https://evil.example", page])("at %s get neither", async (origin) => {
    const { url } = await serve();
    const asked = { origin, "access-control-request-method": "POST" };
    for (const answer of [await ask(`${url}/mcp`, { origin }), await ask(`${url}/mcp`, asked, "OPTIONS")]) {
      expect(answer.status).toBe(403);
      expect(answer.headers["access-control-allow-origin"]).toBe(undefined);
      expect(messageOf(answer)).toContain("server.allowed_origins");
    }
  });

  it("elsewhere may call where their origin was allowed", async () => {
    const { url } = await serve({ allowedOrigins: ["https://app.example"] });
    expect((await ask(`${url}/mcp`, { origin: "https://app.example" })).status).toBe(200);
  });

  it("leave no trace in the answer to a program", async () => {
    const { url } = await serve();
    expect(Object.keys((await ask(`${url}/mcp`)).headers).filter((name) => name.startsWith("access-"))).toEqual([]);
  });

  it("are what OPTIONS without an Origin is not about: the route decides", async () => {
    const { url } = await serve();
    expect((await ask(`${url}/mcp`, {}, "OPTIONS")).status).toBe(200);
  });
});

describe("listening", () => {
  it("is on 127.0.0.1 where nothing else is said", async () => {
    expect((await serve()).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it("on a port in use names the port and --port", async () => {
    const port = Number(new URL((await serve()).url).port);
    await expect(serve({ port })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: `Port ${port} on 127.0.0.1 cannot be used: another program listens there. Give another with --port; --port 0 takes a free one.`,
    });
  });

  it.each([-1, 65_536, 80.5, Number.NaN])("on port %d is refused", async (port) => {
    await expect(serve({ port })).rejects.toMatchObject({ code: "CONFIG_INVALID", details: { field: "port" } });
  });

  it("on an address of another machine names the host", async () => {
    await expect(serve({ host: "192.0.2.1", identity })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      details: { field: "host", value: "192.0.2.1" },
    });
  });
});

describe("closing", () => {
  it("ends open streams and resolves, twice as well as once", async () => {
    const stream: Route = {
      path: "/stream",
      handle: ({ response }) =>
        void response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n"),
    };
    const server = await serve({ routes: [stream], timeouts: { closeMs: 60_000 } });
    const response = await fetch(`${server.url}/stream`);
    await Promise.all([server.close(), server.close()]);
    expect(await response.text()).toBe("data: 1\n\n");
    await expect(ask(`${server.url}/stream`)).rejects.toThrow("ECONNREFUSED");
  });

  it("does not mind a route that goes on writing to a stream", async () => {
    const ended = Promise.withResolvers<void>();
    const stream: Route = {
      path: "/stream",
      handle({ response }) {
        response.on("prefinish", () => {
          response.write("late", () => ended.resolve());
        });
        response.writeHead(200).write("early");
      },
    };
    const server = await serve({ routes: [stream] });
    const response = await fetch(`${server.url}/stream`);
    await server.close();
    await ended.promise;
    expect(await response.text()).toBe("early");
  });

  it("lets an answer under way finish", async () => {
    const entered = Promise.withResolvers<() => void>();
    const slow: Route = {
      path: "/slow",
      handle: ({ response }) => entered.resolve(() => answerJson(response, 200, "done")),
    };
    const server = await serve({ routes: [slow], timeouts: { closeMs: 60_000 } });
    const asked = fetch(`${server.url}/slow`);
    const answer = await entered.promise;
    const closed = server.close();
    answer();
    const response = await asked;
    expect([response.headers.get("connection"), await response.json()]).toEqual(["close", "done"]);
    await closed;
  });

  it("destroys what is left after its grace", async () => {
    const entered = Promise.withResolvers<void>();
    const silent: Route = { path: "/silent", handle: () => entered.resolve() };
    const server = await serve({ routes: [silent], timeouts: { closeMs: 10 } });
    const asked = ask(`${server.url}/silent`).catch((error: unknown) => String(error));
    await entered.promise;
    await server.close();
    expect(await asked).toBe("Error: socket hang up");
  });

  it("does not wait for a connection that has said nothing", async () => {
    const server = await serve({ timeouts: { closeMs: 60_000 } });
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    await once(socket, "connect");
    await (await fetch(`${server.url}/mcp`)).text();
    await server.close();
    if (!socket.closed) await once(socket.resume(), "close");
    await expect(fetch(server.url)).rejects.toThrow();
  });
});
