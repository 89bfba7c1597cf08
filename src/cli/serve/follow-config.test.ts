import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../arsenal.ts";
import type { ToolArsenalConfig } from "../../config/config.ts";
import { localOperator } from "../../guard/principal.ts";
import { startTestAgent } from "../../../test/a2a/test-agent.ts";
import { configuredSources } from "../../config/load/configured-sources.ts";
import { resolveConfig } from "../../config/load/resolve-config.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { addSources } from "../../config/start/start-configured.ts";
import type { Configured } from "../arsenal/open-arsenal.ts";
import { createFollower } from "./follow-config.ts";

const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Ping", version: "1" },
  paths: { "/ping": { get: { operationId: "ping", responses: { "200": { description: "Fine" } } } } },
};

let web: Server;
let url: string;
let isUp: boolean;
let asked: number;
beforeEach(async () => {
  [isUp, asked] = [false, 0];
  web = createServer((_request, response) => {
    asked++;
    response.writeHead(isUp ? 200 : 503).end(JSON.stringify(DOCUMENT));
  });
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/openapi.json`;
});
afterEach(async () => {
  web.closeAllConnections();
  await new Promise((resolve) => web.close(resolve));
});

async function configured(given?: ToolArsenalConfig): Promise<Configured> {
  const config = resolveConfig(given ?? { openapi: [{ name: "remote", document: url }] });
  const { sources } = await configuredSources(config);
  return { config, folder: ".", sources, problems: [], notes: [], envFiles: [] };
}

describe("a document that could not be fetched at the start", () => {
  it("is retried in the background until it comes, and a reload leaves it alone then", async () => {
    const clock = createManualClock();
    await using arsenal = new ToolArsenal({ clock });
    const told: string[] = [];
    const start = await configured();
    const { reports } = await addSources(start.sources, arsenal);
    expect((await reports)[0]?.error?.message).toContain("HTTP 503");
    const load = async (): Promise<Configured> => configured();
    const tell = (line: string): unknown => told.push(line);
    const follower = createFollower(start, { arsenal, reports, load, tell, changed: () => {} });
    isUp = true;
    const came = new Promise<void>(
      (resolve) => void arsenal.subscribe(() => resolve(), { names: ["ensemble-connected"] }),
    );
    await clock.advance(5_000);
    await came;
    await follower.follow();
    expect([arsenal.toolCount, asked, told]).toEqual([1, 2, ["Configuration reloaded: no server changed."]]);
    follower.close();
  });

  it("is tried again by a reload, and by nothing after the end", async () => {
    await using arsenal = new ToolArsenal();
    const told: string[] = [];
    const start = await configured();
    const { reports } = await addSources(start.sources, arsenal);
    const load = async (): Promise<Configured> => configured();
    const tell = (line: string): unknown => told.push(line);
    const follower = createFollower(start, { arsenal, reports, load, tell, changed: () => {} });
    await reports;
    isUp = true;
    await follower.follow();
    expect([arsenal.toolCount, told]).toEqual([1, ["Configuration reloaded: added remote."]]);
    follower.close();
    await follower.follow();
    expect(told).toHaveLength(1);
  });
});

describe("toolsets of a changed configuration", () => {
  it("are added, replaced and removed, and stay as they were if one cannot be used", async () => {
    const include = { namespaces: ["support"] };
    const withToolsets = (toolsets: NonNullable<ToolArsenalConfig["toolsets"]>): Promise<Configured> =>
      configured({ toolsets });
    const start = await withToolsets([
      { name: "first", include },
      { name: "second", include },
    ]);
    await using arsenal = new ToolArsenal(start.config);
    let now = start;
    const told: string[] = [];
    const follower = createFollower(start, {
      arsenal,
      load: async () => now,
      tell: (line) => told.push(line),
      changed: () => {},
    });
    const names = (): readonly string[] => arsenal.toolsets.list(localOperator()).map(({ name }) => name);

    now = await withToolsets([
      { name: "third", include },
      { name: "second", description: "Changed.", include },
    ]);
    await follower.follow();
    expect([names(), arsenal.toolsets.get("second", localOperator()).description]).toEqual([
      ["second", "third"],
      "Changed.",
    ]);
    now = await withToolsets([
      { name: "fourth", include },
      { name: "third", include, policy: { auditLog: true } },
    ]);
    await follower.follow();
    expect([names(), arsenal.toolsets.get("third", localOperator()).policy]).toEqual([["second", "third"], {}]);
    follower.close();
    expect(told).toEqual([
      "Configuration reloaded: added toolset third; replaced toolset second; removed toolset first.",
      expect.stringContaining('Toolset "third": policy.auditLog is true, and the arsenal has no audit log.'),
      "The configuration was not reloaded: the old one stays in force.",
    ]);
  });
});

describe("the agents of a followed configuration", () => {
  it("come, are replaced and leave, and one that left is not retried", async () => {
    await using agent = await startTestAgent();
    const clock = createManualClock(Date.now());
    await using arsenal = new ToolArsenal({ clock });
    const told: string[] = [];
    type Written = { readonly name: string; readonly url: string; readonly namespace?: string };
    const of = (...agents: readonly Written[]): Promise<Configured> =>
      configured({ a2a: { agents: agents.map((each) => ({ ...each, refreshS: 0 })) } });
    let next = await of();
    const follower = createFollower(next, {
      arsenal,
      load: async () => next,
      tell: (line) => told.push(line),
      changed: () => {},
    });
    const follow = async (...agents: readonly Written[]): Promise<readonly string[]> => {
      next = await of(...agents);
      await follower.follow();
      return [...(await arsenal.listTools()).map(({ id }) => id), ...told.splice(0)];
    };
    const at = agent.url;
    expect(await follow({ name: "weather", url: at })).toEqual([
      "weather.a2a_weather_forecast",
      "weather.a2a_weather_move_funds",
      "Configuration reloaded: added weather.",
    ]);
    expect(await follow({ name: "weather", url: at, namespace: "sky" })).toEqual([
      "sky.a2a_weather_forecast",
      "sky.a2a_weather_move_funds",
      "Configuration reloaded: replaced weather.",
    ]);
    expect(await follow({ name: "down", url: `${at}/down` })).toEqual(["Configuration reloaded: removed weather."]);
    const before = agent.seen.length;
    expect(await follow()).toEqual(["Configuration reloaded: removed down."]);
    await clock.advance(600_000);
    expect(agent.seen.length).toBe(before);
    follower.close();
  });
});
