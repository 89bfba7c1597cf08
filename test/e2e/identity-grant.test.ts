import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/arsenal.ts";
import { mcp, type WrittenMcpServer } from "../../src/adapters/sources/mcp/settings.ts";
import { localOperator } from "../../src/guard/principal.ts";
import { type ProtectedServer, startProtectedServer } from "./protected-server.ts";

type Form = Readonly<Record<string, string>>;

const folder = mkdtempSync(join(tmpdir(), "toolarsenal-identity-"));
const identityToken = (id: string): string => `identity-token-of-${id}`;
/** An identity provider that knows ann, bob and the gateway itself, in front of a protected server that accepts its grants. */
const exchanges: Form[] = [];
const holders = new Map<string, string>();
let refusal: string | undefined;
let protectedServer: ProtectedServer;
let arsenal: ToolArsenal;

const provider = createServer((request, response) => {
  void text(request).then((body) => {
    const send = (status: number, answer: object): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    if (request.url === "/.well-known/oauth-authorization-server")
      return send(200, {
        issuer: issuerOfIdentity(),
        authorization_endpoint: `${issuerOfIdentity()}/authorize`,
        token_endpoint: `${issuerOfIdentity()}/token`,
        response_types_supported: ["code"],
      });
    if (request.url !== "/token") return send(404, {});
    const form = Object.fromEntries(new URLSearchParams(body));
    exchanges.push(form);
    const whose = /^identity-token-of-(.+)$/.exec(form["subject_token"] ?? "")?.[1];
    if (refusal !== undefined || whose === undefined)
      return send(400, { error: "invalid_grant", error_description: `${refusal}: ${form["subject_token"]}` });
    return send(200, {
      access_token: `grant-for-${whose}`,
      issued_token_type: "urn:ietf:params:oauth:token-type:id-jag",
      token_type: "N_A",
    });
  });
});
const issuerOfIdentity = (): string => `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;

const settings = (oauth: WrittenMcpServer["oauth"] = {}) =>
  mcp({
    name: "notes",
    url: protectedServer.url,
    oauth: {
      grant: "id_jag",
      clientId: "gateway-at-server",
      clientSecret: "secret-at-server",
      issuer: protectedServer.issuer,
      account: "user",
      scope: "read write",
      identity: {
        issuer: issuerOfIdentity(),
        clientId: "gateway-at-provider",
        clientSecret: "secret-at-provider",
        token: `file:${folder}/{principal}`,
      },
      ...oauth,
    },
  });

beforeAll(async () => {
  for (const id of ["_default", "ann", "bob"])
    writeFileSync(join(folder, id), identityToken(id === "_default" ? "gateway" : id), { mode: 0o600 });
  await new Promise<void>((listening) => void provider.listen(0, "127.0.0.1", listening));
  protectedServer = await startProtectedServer({
    token({ grant_type: grant, assertion = "" }) {
      const whose = /^grant-for-(.+)$/.exec(assertion)?.[1];
      if (grant !== "urn:ietf:params:oauth:grant-type:jwt-bearer" || whose === undefined) return undefined;
      const token = protectedServer.grant("read write");
      holders.set(token, whose);
      return { status: 200, body: JSON.stringify({ access_token: token, token_type: "Bearer" }) };
    },
  });
  arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  await arsenal.add(settings());
});

afterAll(async () => {
  await arsenal.close();
  await protectedServer.close();
  provider.closeAllConnections();
  await new Promise((closed) => void provider.close(closed));
  rmSync(folder, { recursive: true, force: true });
});

const call = (id: string) =>
  arsenal.execute({ toolName: "notes.note", arguments: {}, principal: localOperator({ id, local: false }) });
/** The person whose token the server got last. */
const seenUpstream = (): string | undefined =>
  holders.get(protectedServer.lastHeaders.authorization?.replace(/^Bearer /, "") ?? "");

describe("an identity provider that vouches for callers", () => {
  it("lists tools with the gateway's own identity", () => {
    expect(exchanges).toEqual([
      {
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        requested_token_type: "urn:ietf:params:oauth:token-type:id-jag",
        audience: protectedServer.issuer,
        resource: protectedServer.url,
        subject_token: identityToken("gateway"),
        subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
        client_id: "gateway-at-provider",
        client_secret: "secret-at-provider",
        scope: "read write",
      },
    ]);
    expect([...holders.values()]).toEqual(["gateway"]);
  });

  it("gets each caller's calls a token of that caller, without a sign-in", async () => {
    expect((await call("ann")).status).toBe("success");
    expect(seenUpstream()).toBe("ann");
    expect((await call("bob")).status).toBe("success");
    expect(seenUpstream()).toBe("bob");
    expect((await call("ann")).status).toBe("success");
    expect(seenUpstream()).toBe("ann");
    expect(exchanges).toHaveLength(3);
  });

  it("exchanges the identity again when the server refuses an expired token", async () => {
    protectedServer.expireTokens();
    expect((await call("ann")).status).toBe("success");
    expect(seenUpstream()).toBe("ann");
    expect(exchanges.at(-1)?.["subject_token"]).toBe(identityToken("ann"));
  });

  it("refuses a caller without an identity token, and never uses the gateway's instead", async () => {
    const before = exchanges.length;
    const { status, error } = await call("eve");
    expect([status, error?.code]).toEqual(["failure", "CONFIG_INVALID"]);
    expect(error?.message).toContain("oauth.identity.token");
    expect(exchanges).toHaveLength(before);
  });

  it("reports what the identity provider refused, without the identity token", async () => {
    refusal = "the token has expired";
    protectedServer.expireTokens();
    const { error } = await call("bob");
    refusal = undefined;
    expect(error?.code).toBe("SOURCE_UNAVAILABLE");
    expect(error?.message).toContain(
      `The identity provider ${issuerOfIdentity()} gave no grant for ${protectedServer.url}: Token exchange failed: invalid_grant - the token has expired`,
    );
    expect(JSON.stringify(error)).not.toContain(identityToken("bob"));
  });

  it.each([
    ["oauth.identity", { identity: undefined }],
    ["oauth.issuer", { issuer: undefined }],
    ["oauth.grant", { grant: "client_credentials" }],
    ["oauth.account", { account: "user_or_gateway" }],
    ["oauth.identity.token", { account: "gateway" }],
    ["oauth.identity.token", { identity: { issuer: "http://127.0.0.1:1", clientId: "a", token: "env:TOKEN" } }],
  ])("refuses settings that do not fit, and names %s", async (field, changed) => {
    const adding = arsenal.add({ ...settings(changed as never), name: "other" });
    await expect(adding).rejects.toMatchObject({ code: "CONFIG_INVALID", details: { field } });
  });
});
