import { afterEach, describe, expect, it } from "vitest";
import { some } from "../kit/effort.ts";
import { accepted, type Called, modernClient } from "./replicas/clients.ts";
import { eventually } from "./replicas/eventually.ts";
import { type Fleet, startFleet } from "./replicas/fleet.ts";
import { STORES } from "./replicas/states.ts";
import { startUpstream, type Upstream } from "./replicas/upstream.ts";
import { type KeyedGateway, startKeyedGateway } from "./rest/keyed-gateway.ts";

/** Places of a server, and as many of them as one remote caller can take. */
const PLACES = 32;
const SHARE = 24;

/** Connections to a server that asks its callers, and as many of them as one remote caller can take. */
const CONNECTIONS = 8;
const CONNECTION_SHARE = 6;

const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

/** How many calls are under way in a gateway: running, and waiting for a place. */
async function underWay(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/stats`, { headers: { "x-api-key": key } });
  const { running, waiting } = (await response.json()) as { readonly running: number; readonly waiting: number };
  return running + waiting;
}

/** Has calls of the tool `hold` end as soon as they run. */
function letGo({ events, executed }: Upstream): void {
  events.on("held", (id) => events.emit("go", id));
  for (const id of executed.keys()) events.emit("go", id);
}

async function open(): Promise<{ upstream: Upstream; gateway: KeyedGateway }> {
  const upstream = await startUpstream("legacy");
  ending.push(() => upstream.close());
  const gateway = await startKeyedGateway({
    mode: "static",
    servers: { desk: { type: "http", url: upstream.url } },
    security: { max_requests_per_minute: 1_000_000 },
  });
  ending.push(async () => {
    // Asked to stop, it would wait for the calls that wait for their clients.
    await gateway.kill();
    await gateway.close();
  });
  return { upstream, gateway };
}

describe("a caller whose calls hang at one server", () => {
  it("leaves places for others", async () => {
    const { upstream, gateway } = await open();
    const { url } = gateway;
    const calls = Array.from({ length: PLACES + 8 }, (_, index) =>
      modernClient({ url, key: gateway.keyOf("guest") }).call("desk-hold", { id: `eve ${index}` }),
    );
    await eventually(
      "all calls of eve are under way",
      async () => (await underWay(url, gateway.keyOf("operator"))) === calls.length && upstream.executed.size >= SHARE,
      { withinMs: 30_000 },
    );
    const answer = await modernClient({ url, key: gateway.keyOf("guest-a") }).call("desk-book", { id: "seat" });
    expect(answer).toMatchObject({ said: "booked seat" });
    expect(upstream.executed.size).toBe(SHARE + 1);
    letGo(upstream);
    expect((await Promise.all(calls)).map(({ said }) => said)).toEqual(calls.map((_, index) => `held eve ${index}`));
  });

  it.each(some(STORES, 1, "fair-places"))(
    "leaves places for others, counted over replicas that share $name",
    async ({ open: openState }) => {
      const fleet: Fleet = await startFleet(openState, { size: 2 });
      ending.push(() => fleet.close());
      const { young, keys } = fleet;
      const urls = fleet.running().map(({ url }) => url);
      const [eve, ada] = [await fleet.addKey("eve"), await fleet.addKey("ada")];
      const calls = Array.from({ length: PLACES + 8 }, (_, index) =>
        modernClient({ url: urls[index % urls.length] ?? "", key: eve }).call("young-hold", { id: `eve ${index}` }),
      );
      await eventually(
        "all calls of eve are under way",
        async () => {
          const counts = await Promise.all(urls.map((url) => underWay(url, keys.operator)));
          return counts.reduce((sum, count) => sum + count, 0) === calls.length && young.executed.size >= SHARE;
        },
        { withinMs: 30_000 },
      );
      const answers = await Promise.all(
        urls.map((url, index) => modernClient({ url, key: ada }).call("young-book", { id: `ada ${index}` })),
      );
      expect(answers.map(({ said }) => said)).toEqual(["booked ada 0", "booked ada 1"]);
      expect([...young.executed.keys()].filter((id) => id.startsWith("eve"))).toHaveLength(SHARE);
      letGo(young);
      expect((await Promise.all(calls)).map(({ said }) => said)).toEqual(calls.map((_, index) => `held eve ${index}`));
    },
    90_000,
  );
});

describe("a caller who answers no question of a server", () => {
  it("leaves connections to that server for others", async () => {
    const { gateway } = await open();
    const { url } = gateway;
    const greet = (key: string, id: string, more = {}): Promise<Called> =>
      modernClient({ url, key }, { asks: true }).call("desk-greet", { id }, more);
    const suspended: Called[] = [];
    const asked = CONNECTIONS + 4;
    for (let index = 0; index < asked; index++)
      void greet(gateway.keyOf("guest"), `eve ${index}`).then((called) => suspended.push(called));
    await eventually(
      "all calls of eve are under way",
      async () => (await underWay(url, gateway.keyOf("operator"))) === asked && suspended.length >= CONNECTION_SHARE,
      { withinMs: 30_000 },
    );
    const ada = gateway.keyOf("guest-a");
    const question = await greet(ada, "ada");
    expect(question.result).toMatchObject({ resultType: "input_required" });
    expect(await modernClient({ url, key: ada }).call("desk-book", { id: "seat" })).toMatchObject({
      said: "booked seat",
    });
    expect(await greet(ada, "ada", accepted(question, { name: "Ada" }))).toMatchObject({ said: "hello Ada" });
    expect(suspended.map(({ result }) => result?.["resultType"])).toEqual(
      Array.from({ length: CONNECTION_SHARE }, () => "input_required"),
    );
  });
});
