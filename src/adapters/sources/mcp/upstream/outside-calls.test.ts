import { afterEach, describe, expect, it } from "vitest";
import { startProtectedServer } from "../../../../../test/e2e/protected-server.ts";
import { startLegacyServer, type UpstreamServer } from "../../../../../test/mcp/upstream-server.ts";
import { mayReachInCall, withinDomains } from "../../../../guard/egress/domain-bound.ts";
import { createEgress } from "../../../../guard/egress/egress.ts";
import { createManualClock } from "../../../../testing/manual-clock.ts";
import { ownIdentity } from "../../../../mcp/client-identity.ts";
import { connect } from "../connection/connect.ts";
import { createKeeper } from "../connection/keep-connected.ts";
import { createOAuthProvider } from "../oauth/provider.ts";
import type { McpServerSettings } from "../settings.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const identity = ownIdentity();

async function startServer(): Promise<{ readonly server: UpstreamServer; readonly settings: McpServerSettings }> {
  const server = await startLegacyServer();
  ends.push(() => server.close());
  return { server, settings: { name: "sample", transport: { kind: "http", url: server.url } } };
}

describe("what all calls share is not bound by the call that came to need it", () => {
  it("a connection", async () => {
    const { settings } = await startServer();
    const connection = await withinDomains([], () => connect(settings, { identity }));
    ends.push(() => connection.close());
    await expect(withinDomains([], () => connection.request("tools/list"))).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
    });
    expect(await connection.request("tools/list")).toHaveProperty("tools");
  });

  it("a connection that is made again, at once or after a pause", async () => {
    const { server, settings } = await startServer();
    const clock = createManualClock();
    const seen: string[] = [];
    const note = (what: string): void =>
      void seen.push(`${what} ${mayReachInCall("elsewhere.test") ? "unbound" : "bound"}`);
    let away = false;
    let connected = Promise.withResolvers<void>();
    const keeper = createKeeper({
      name: "sample",
      clock,
      random: () => 0,
      explain: () => "",
      timeoutMs: 30_000,
      async connect(options) {
        note("connect");
        if (away) throw new Error("Nobody is there.");
        return connect(settings, { identity, ...options });
      },
      changed({ kind }) {
        note(kind);
        if (kind === "connected") connected.resolve();
      },
    });
    ends.push(() => keeper.close());
    await keeper.attempted;
    const connection = await keeper.ready();

    server.forgetSessions();
    away = true;
    seen.length = 0;
    await expect(withinDomains(["127.0.0.1"], () => connection.request("tools/list"))).rejects.toThrow(/session/i);
    await expect(keeper.ready()).rejects.toThrow(/Nobody is there/);
    expect(seen).toEqual(["connecting unbound", "connect unbound", "failed unbound"]);

    away = false;
    seen.length = 0;
    connected = Promise.withResolvers();
    // A timer runs in the call that set it.
    await withinDomains(["127.0.0.1"], () => clock.advance(500));
    await connected.promise;
    expect(seen).toEqual(["connecting unbound", "connect unbound", "connected unbound"]);
  });

  it("a token that is renewed", async () => {
    const server = await startProtectedServer();
    const egress = createEgress({ allowPrivate: true });
    ends.push(
      () => server.close(),
      () => egress.close(),
    );
    const provider = createOAuthProvider(
      { grant: "client_credentials", clientId: "job", clientSecret: "job-secret" },
      { serverName: "docs", egress, serverUrl: server.url },
    );
    const challenge = `Bearer resource_metadata="${new URL("/metadata-of-mcp", server.url).href}"`;
    const sent: unknown[] = [];
    const answer = await withinDomains([], () =>
      provider.authorized(
        async (token) => {
          sent.push([typeof token, mayReachInCall("127.0.0.1")]);
          return { status: token === undefined ? 401 : 200, headers: { "www-authenticate": challenge } };
        },
        () => {},
      ),
    );
    expect(answer.status).toBe(200);
    expect(server.requestsTo("/token")).toHaveLength(1);
    // The request itself stays the call's.
    expect(sent).toEqual([
      ["undefined", false],
      ["string", false],
    ]);
  });
});
