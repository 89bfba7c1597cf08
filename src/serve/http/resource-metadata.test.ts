import { afterEach, describe, expect, it } from "vitest";
import { request } from "node:http";
import type { Credentials, Identified, Identity } from "../../guard/identity.port.ts";
import { answerJson } from "./answer.ts";
import { createHttpServer, type HttpServer, type HttpServerOptions } from "./http-server.ts";

const ISSUER = "https://login.example.com";
const seen: Credentials[] = [];

/** Refuses everybody as it is told. */
function refusing(found: Identified, scopes: readonly string[] = ["tools:use"]): Identity {
  return {
    name: "refusing",
    challenge: 'Bearer realm="toolarsenal"',
    tokenOrigin: { authorizationServers: [ISSUER], scopes },
    authenticate: () => Promise.reject(new Error("identify is there")),
    identify: (credentials) => (seen.push(credentials), Promise.resolve(found)),
  };
}

const open: HttpServer[] = [];
afterEach(async () => {
  seen.length = 0;
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function serve(options: Partial<HttpServerOptions> = {}): Promise<{ readonly port: string }> {
  const handle = ({ response }: { response: Parameters<typeof answerJson>[0] }): void => answerJson(response, 200, {});
  const routes = [
    { path: "/mcp", handle },
    { path: "/mcp/upstreams/", handle },
    { path: "/healthz", open: true, handle },
  ];
  const server = await createHttpServer({ port: 0, identity: refusing({}), routes, ...options });
  open.push(server);
  return { port: new URL(server.url).port };
}

interface Answer {
  readonly status: number | undefined;
  readonly challenge: string | undefined;
  readonly body: Record<string, unknown>;
}

function ask(port: string, path: string, host = `127.0.0.1:${port}`, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port, path, method, headers: { host } }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => {
        const { statusCode: status, headers } = response;
        const body = JSON.parse(text) as Record<string, unknown>;
        resolve({ status, challenge: headers["www-authenticate"], body });
      });
    })
      .on("error", reject)
      .end();
  });
}

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

describe("the metadata of a protected resource", () => {
  it("names the resource as the client calls it, its authorization servers and its scopes", async () => {
    const { port } = await serve();
    for (const path of ["/mcp", "/mcp/upstreams/files", ""]) {
      expect(await ask(port, WELL_KNOWN + path)).toMatchObject({
        status: 200,
        body: {
          resource: `http://127.0.0.1:${port}${path}`,
          authorization_servers: [ISSUER],
          scopes_supported: ["tools:use"],
          bearer_methods_supported: ["header"],
        },
      });
    }
    expect((await ask(port, `${WELL_KNOWN}/mcp`, `LOCALHOST:${port}`)).body["resource"]).toBe(
      `http://localhost:${port}/mcp`,
    );
  });

  it("leaves scopes out where none is needed", async () => {
    const { port } = await serve({ identity: refusing({}, []) });
    expect((await ask(port, WELL_KNOWN)).body).not.toHaveProperty("scopes_supported");
  });

  it("is there for what asks who calls alone, and for reading alone", async () => {
    const { port } = await serve();
    for (const path of ["/healthz", "/nothing", "/"]) expect((await ask(port, WELL_KNOWN + path)).status).toBe(404);
    expect((await ask(port, WELL_KNOWN, undefined, "POST")).status).toBe(405);
  });

  it("is not there where no authorization server is", async () => {
    const { tokenOrigin: _none, ...identity } = refusing({});
    const { port } = await serve({ identity });
    expect((await ask(port, WELL_KNOWN)).status).toBe(404);
    expect((await ask(port, "/mcp")).challenge).toBe('Bearer realm="toolarsenal"');
  });
});

describe("a refused caller", () => {
  const metadata = (port: string, path = "/mcp"): string =>
    `resource_metadata="http://127.0.0.1:${port}${WELL_KNOWN}${path}"`;

  it("without a token learns the scopes and where to get one, and of no error", async () => {
    const { port } = await serve();
    for (const path of ["/mcp", "/mcp/upstreams/files"])
      expect(await ask(port, path)).toMatchObject({
        status: 401,
        challenge: `Bearer realm="toolarsenal", scope="tools:use", ${metadata(port, path)}`,
      });
  });

  it("with a bad token learns what is wrong with it", async () => {
    const refusal = { error: "invalid_token", description: "The token has expired." } as const;
    const { port } = await serve({ identity: refusing({ refusal }) });
    expect(await ask(port, "/mcp")).toMatchObject({
      status: 401,
      challenge: `Bearer realm="toolarsenal", error="invalid_token", error_description="The token has expired.", scope="tools:use", ${metadata(port)}`,
      body: { error: { message: "The token has expired." } },
    });
  });

  it("with too few scopes is forbidden, and learns which are needed", async () => {
    const refusal = { error: "insufficient_scope", description: "Too few.", scopes: ["a", "b"] } as const;
    const { port } = await serve({ identity: { ...refusing({ refusal }), challenge: "Bearer" } });
    expect(await ask(port, "/mcp")).toMatchObject({
      status: 403,
      challenge: `Bearer error="insufficient_scope", error_description="Too few.", scope="a b", ${metadata(port)}`,
    });
  });
});

describe("the address that tokens are for", () => {
  it("is the one that was called on this machine, whatever port a Host header claims", async () => {
    const { port } = await serve();
    await ask(port, "/mcp?x", `localhost:${port}`);
    await ask(port, "/mcp", "localhost:9999");
    await ask(port, "/mcp", "localhost");
    expect(seen.map(({ resource }) => resource)).toEqual([
      `http://localhost:${port}/mcp`,
      `http://127.0.0.1:${port}/mcp`,
      `http://127.0.0.1:${port}/mcp`,
    ]);
  });

  it("is the operator's where one was given, and its name may be called", async () => {
    const { port } = await serve({ publicUrl: "https://Tools.example.com/", host: "0.0.0.0" });
    expect((await ask(port, "/mcp", "tools.example.com")).challenge).toContain(
      `resource_metadata="https://tools.example.com${WELL_KNOWN}/mcp"`,
    );
    await ask(port, "/mcp", `localhost:${port}`);
    expect(new Set(seen.map(({ resource }) => resource))).toEqual(new Set(["https://tools.example.com/mcp"]));
  });

  it("must be given where others than this machine can call", async () => {
    await expect(serve({ host: "0.0.0.0" })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("server.public_url") as string,
    });
  });

  it("may have a path, which is part of the resource and of the address of its metadata", async () => {
    const { port } = await serve({ publicUrl: "https://Example.com/tools/", host: "0.0.0.0" });
    for (const path of ["/mcp", "/tools/mcp", "/tools/mcp?x"])
      expect((await ask(port, path, "example.com")).challenge).toContain(
        `resource_metadata="https://example.com/tools${WELL_KNOWN}/mcp"`,
      );
    expect(new Set(seen.map(({ resource }) => resource))).toEqual(new Set(["https://example.com/tools/mcp"]));
    expect((await ask(port, "/toolsx/mcp", "example.com")).status).toBe(404);
    for (const [path, resource] of [
      [`${WELL_KNOWN}/mcp`, "/mcp"],
      [`/tools${WELL_KNOWN}/mcp`, "/mcp"],
      [`${WELL_KNOWN}/tools/mcp`, "/mcp"],
      [`${WELL_KNOWN}/tools`, ""],
      [`/tools${WELL_KNOWN}`, ""],
    ] as const)
      expect((await ask(port, path, "example.com")).body["resource"]).toBe(`https://example.com/tools${resource}`);
  });

  it.each([
    "tools.example.com",
    "https://example.com/tools?x=1",
    "https://example.com/tools#top",
    "https://example.com//tools",
    "ftp://tools.example.com",
    "https://u:p@x.example",
  ])("cannot be %s", async (publicUrl) => {
    await expect(serve({ publicUrl })).rejects.toMatchObject({
      message: expect.stringContaining("server.public_url") as string,
      details: {
        field: "publicUrl",
        value: publicUrl,
        fix: expect.stringContaining("https://example.com/tools") as string,
      },
    });
  });
});
