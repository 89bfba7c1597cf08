import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { jwtIdentity } from "../../src/adapters/identity/index.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { createClient } from "../../src/client/index.ts";
import { ToolArsenal } from "../../src/index.ts";
import { AGGREGATE_METHODS } from "../../src/serve/mcp/aggregate/answer-request.ts";
import { SURFACES as HTTP_SURFACES } from "../../src/serve/surfaces.ts";
import { OPERATIONS } from "../../src/serve/rest/operations/all.ts";
import { CODE_TOOL_NAMES } from "../../src/serve/meta-tools/code-tools.ts";
import { META_TOOL_NAMES } from "../../src/serve/meta-tools/definitions.ts";
import { TRANSPARENT_METHODS } from "../../src/serve/mcp/transparent/pass-request.ts";
import { CASES } from "./no-bypass/cases.ts";
import {
  AGGREGATE_PLANE,
  CLIENT,
  COMMAND_LINE,
  type Does,
  LIBRARY,
  META_TOOLS,
  REST_API,
  SURFACE_ROUTES,
  TRANSPARENT_PLANE,
} from "./no-bypass/every-surface.ts";
import { type CallRecord, createPlace, type Place } from "./no-bypass/place.ts";
import type { Seen } from "./no-bypass/surface.ts";
import { SURFACES } from "./no-bypass/surfaces.ts";
import { startUpstream, type Upstream } from "./no-bypass/upstream.ts";
import { WORKFLOWS } from "./no-bypass/workflow.ts";

let upstream: Upstream;
beforeAll(async () => void (upstream = await startUpstream("modern")));
afterAll(() => upstream.close());

/** A record without what differs from call to call. */
function essence({ toolId, principal, decision, status, code, attempts, arguments: args, ...rest }: CallRecord) {
  const waits = rest.confirmationId !== undefined;
  return { toolId, principal, decision, status, code, waits, attempts, arguments: args };
}

describe.each(SURFACES)("a call through $name", (surface) => {
  const { leavesChecks = false, serversOnly = false, oneCallEach = false } = surface;
  const origins = serversOnly ? [""] : ["", "_own"];
  const cases = CASES.filter(({ what }) => !(oneCallEach && what === "limited"));
  const calls = origins.flatMap((origin) =>
    cases.map((each) => ({ ...each, namespace: each.verdict + origin, of: origin === "" ? "server" : "function" })),
  );
  let place: Place;
  let records: readonly CallRecord[];
  let reached: number;
  const seen: Seen[] = [];

  beforeAll(async () => {
    place = await createPlace(upstream.url);
    const before = upstream.reached.length;
    const open = await surface.open(place);
    for (const { namespace, tool, args } of calls) seen.push(await open.call(namespace, tool, args));
    await open.close();
    records = (await place.records()).filter(({ toolId }) => !toolId.startsWith(`${WORKFLOWS}.`));
    reached = upstream.reached.length - before;
  });
  afterAll(() => place.remove());

  it.each(calls.map((each, index) => ({ ...each, index })))(
    "that is $what, of a $of, is decided and recorded as everywhere",
    ({ index, what, namespace, tool, seen: expected, record }) => {
      expect(seen[index]).toEqual(expected);
      // The server's own check comes after the guard, which has then allowed the call.
      const isServersCheck = leavesChecks && what === "of wrong arguments";
      expect(records[index] && essence(records[index])).toEqual({
        toolId: `${namespace}.${tool}`,
        principal: "local",
        waits: what === "pending",
        code: undefined,
        ...record,
        ...(isServersCheck ? { decision: { effect: "allowed" }, attempts: 1 } : {}),
      });
    },
  );

  it("leaves one record each [000-3.2-every-surface] [002-identity-authorize]", () => {
    expect(records.length).toBe(calls.length);
  });

  it("reaches the server with nothing but what may run", () => {
    expect(reached).toBe(leavesChecks ? 2 : 1);
  });
});

describe("every way into the program", () => {
  const shown = new Set(SURFACES.map(({ name }) => name));

  /** Each way there is must be told of, and each that runs tools must be in the matrix. */
  function expectKnown(ways: Iterable<string>, known: Readonly<Record<string, Does>>, table: string): void {
    const found = [...new Set(ways)];
    const fix = `Say in test/e2e/no-bypass/every-surface.ts, under ${table}, what each does with tools; one that runs them goes into SURFACES (surfaces.ts) as well.`;
    const unknown = found.filter((way) => !Object.hasOwn(known, way));
    expect(unknown, `Nobody says whether these can run a tool past the guard. ${fix}`).toEqual([]);
    const gone = Object.keys(known).filter((way) => !found.includes(way));
    expect(gone, `These are told of in ${table} and there is no such thing. Remove them.`).toEqual([]);
    for (const [way, does] of Object.entries(known))
      for (const surface of typeof does === "object" && "runs" in does ? does.runs : [])
        expect(shown, `${way} runs tools, and the matrix has no "${surface}".`).toContain(surface);
  }

  it("of the library is known to run tools under the guard, to list what may be seen, or neither", () => {
    const ours = (name: string): boolean => !["constructor", "length", "name", "prototype"].includes(name);
    const names = [ToolArsenal.prototype, ToolArsenal].flatMap((each) => Object.getOwnPropertyNames(each));
    expectKnown(names.filter(ours), LIBRARY, "LIBRARY");
  });

  it("over HTTP is known likewise", async () => {
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
    // All routes there are: those too that only a server with tokens has.
    const tokenOrigin = { authorizationServers: [], scopes: [] };
    const { signIn } = jwtIdentity({ issuer: "https://login.example.com", signIn: { clientId: "gateway" } });
    const signing = signIn && { signIn };
    const identity = {
      name: "nobody",
      challenge: "Bearer",
      tokenOrigin,
      ...signing,
      authenticate: async () => undefined,
    };
    const gateway = await arsenal.serve({ port: 0, identity });
    const { error } = (await (await fetch(`${gateway.url}/nothing`)).json()) as { error: { message: string } };
    await gateway.close();
    const [, paths = ""] = /Paths: (.+)\.$/.exec(error.message) ?? [];
    const { host: _host, ...ofSurfaces } = SURFACE_ROUTES;
    const fix = "Say in test/e2e/no-bypass/every-surface.ts, under SURFACE_ROUTES, what each surface does with tools.";
    expect(Object.keys(ofSurfaces), fix).toEqual(Object.keys(HTTP_SURFACES));
    expectKnown(paths.split(", "), Object.assign({}, ...Object.values(SURFACE_ROUTES)), "SURFACE_ROUTES");
  });

  it("through REST is known likewise", () => {
    expectKnown(
      OPERATIONS.map(({ id }) => id),
      REST_API,
      "REST_API",
    );
  });

  it("through toolarsenal/client is known likewise", () => {
    expectKnown(Object.keys(createClient({ url: "http://127.0.0.1" })), CLIENT, "CLIENT");
  });

  it("on the command line is known likewise", () => {
    expectKnown(Object.keys(COMMANDS), COMMAND_LINE, "COMMAND_LINE");
  });

  it("through MCP is known likewise, on either plane", () => {
    expectKnown(AGGREGATE_METHODS, AGGREGATE_PLANE, "AGGREGATE_PLANE");
    expectKnown(TRANSPARENT_METHODS, TRANSPARENT_PLANE, "TRANSPARENT_PLANE");
    expectKnown([...META_TOOL_NAMES, ...CODE_TOOL_NAMES], META_TOOLS, "META_TOOLS");
  });
});
