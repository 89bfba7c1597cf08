import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { memoryState } from "../../../src/adapters/state/memory.ts";
import { sqliteState } from "../../../src/adapters/state/sqlite.ts";
import { CAPABILITIES, type Principal, type ToolArsenal } from "../../../src/index.ts";
import type { SharedState } from "../../../src/state/shared-state.ts";
import { operate, type OperatedGateway, type Person } from "./operated-gateway.ts";

interface Streamed {
  readonly id: string;
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- because tests look into events of every name
  readonly data: any;
}

/** Reads a stream, an event at a time. */
async function* eventsOf(response: Response): AsyncGenerator<Streamed, void, undefined> {
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  let rest = "";
  const decoder = new TextDecoder();
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    rest += decoder.decode(part, { stream: true });
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const lines = rest.slice(0, end).split("\n");
      rest = rest.slice(end + 2);
      const field = (name: string): string =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
      if (field("data") !== "") yield { id: field("id"), event: field("event"), data: JSON.parse(field("data")) };
    }
  }
}

const SECRET = "sk-live-4242424242424242";

const fill = (arsenal: ToolArsenal): void => {
  arsenal.register({ name: "greet", description: "Says hello.", parameters: { type: "object" } }, () => "hello");
  arsenal.register({ name: "leak", description: "Fails with a secret.", parameters: { type: "object" } }, () => {
    throw new Error(`no access with ${SECRET}`);
  });
};

const caller = (id: string, tenant?: string): Principal => ({
  id,
  roles: [],
  capabilities: CAPABILITIES,
  scopes: ["*"],
  local: false,
  ...(tenant !== undefined && { tenant }),
});
const call = (gateway: OperatedGateway, toolName = "greet", principal = caller("ann")): Promise<unknown> =>
  gateway.arsenal.execute({ toolName, arguments: {}, principal });

const FINISHED = "/events?names=call-finished";

/** So many events from a new stream, once `act` was done. */
async function stream(gateway: OperatedGateway, path = FINISHED, who: Person = "olga", after?: string) {
  const events = eventsOf(await gateway.open(who, path, after === undefined ? {} : { "last-event-id": after }));
  return async (count: number): Promise<readonly Streamed[]> => {
    const taken: Streamed[] = [];
    while (taken.length < count) {
      const next = await events.next();
      if (next.done === true) break;
      taken.push(next.value);
    }
    return taken;
  };
}

describe("GET /api/v1/events", () => {
  it("streams what happens from the moment the caller has its headers, as the library tells it", async () => {
    const gateway = await operate({}, { fill });
    const take = await stream(gateway);
    await call(gateway);
    expect(await take(1)).toMatchObject([
      {
        event: "event",
        id: expect.stringMatching(/./),
        data: { name: "call-finished", level: "info", data: { toolId: "default.greet", status: "success" } },
      },
    ]);
  });

  it("filters by name and level, and says no secret", async () => {
    const gateway = await operate({}, { fill });
    const loud = await stream(gateway, "/events?level=warn&names=call-started,call-finished");
    await call(gateway);
    await call(gateway, "leak");
    const [failed] = await loud(1);
    expect(failed?.data).toMatchObject({ name: "call-finished", data: { toolId: "default.leak" } });
    expect(JSON.stringify(failed)).not.toContain(SECRET);
  });

  it("goes on after the event that Last-Event-ID names, and says if it cannot", async () => {
    const gateway = await operate({}, { fill });
    const take = await stream(gateway);
    for (const id of ["a", "b", "c"]) await call(gateway, "greet", caller(id));
    const [first] = await take(3);
    const resumed = await stream(gateway, FINISHED, "olga", first?.id);
    expect((await resumed(2)).map(({ data }) => data.data.principal)).toEqual(["b", "c"]);
    const lost = await stream(gateway, FINISHED, "olga", "of-another-process-12");
    expect(await lost(1)).toMatchObject([
      { event: "gap", data: { name: "gap", data: { reason: expect.any(String) } } },
    ]);
  });

  it("shows an operator of a tenant that tenant's calls and nothing else", async () => {
    const gateway = await operate({}, { fill });
    const take = await stream(gateway, "/events", "nora");
    for (const tenant of [undefined, "south", "north"]) await call(gateway, "greet", caller("p", tenant));
    expect(await take(1)).toMatchObject([{ data: { name: "call-finished", data: { tenant: "north" } } }]);
  });

  it("ends when the gateway shuts down, and does not hold it up", async () => {
    const gateway = await operate({}, { fill });
    const take = await stream(gateway);
    await gateway.close();
    expect(await take(1)).toEqual([]);
  });

  it("is for operators, and refuses names and levels that there are not", async () => {
    const gateway = await operate({}, { fill });
    for (const who of ["guest", "ada"] as const) expect((await gateway.ask(who, "GET", "/events")).status).toBe(403);
    for (const query of ["names=call-ended", "level=loud", "since=1"])
      expect((await gateway.ask("olga", "GET", `/events?${query}`)).body).toMatchObject({
        status: 400,
        code: "INPUT_INVALID",
      });
  });

  it.each(["memory", "SQLite"])("shows the calls of every process on one state: %s", async (kind) => {
    const states = await statesOf(kind);
    const gateways: OperatedGateway[] = [];
    for (const state of states) gateways.push(await operate({}, { fill, parts: { state } }));
    const [one, other] = gateways as [OperatedGateway, OperatedGateway];
    const heard = new Promise((resolve) => void states[1]?.changes.subscribe("events/watched", resolve));
    const take = await stream(one);
    await heard;
    await call(other, "greet", caller("there"));
    await call(one, "greet", caller("here"));
    const principals = (await take(2)).map(({ data }) => data.data.principal);
    expect(principals.toSorted()).toEqual(["here", "there"]);
  });
});

async function statesOf(kind: string): Promise<readonly SharedState[]> {
  if (kind === "memory") {
    const state = memoryState();
    return [state, state];
  }
  const folder = await mkdtemp(join(tmpdir(), "arsenal-rest-events-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "state.sqlite");
  return [1, 2].map(() => {
    const state = sqliteState({ file });
    onTestFinished(() => state.close());
    return state;
  });
}
