import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../index.ts";
import type { ArsenalEvent } from "../../observe/events.ts";
import { createMetricRegistry } from "../../observe/metrics/registry.ts";
import type { Sink } from "../../observe/sink.port.ts";
import { sinkContract } from "../../testing/sink.contract.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { check, datadogSink } from "./datadog.ts";
import { startCollector } from "../../../test/doubles/otlp-collector.ts";
import { resolveConfig } from "../../config/load/resolve-config.ts";
import { createSurroundings } from "../../wire/surroundings.ts";

let agent: ReturnType<typeof createSocket>;
let datagrams: Buffer[];
let port: number;

beforeEach(async () => {
  datagrams = [];
  agent = createSocket("udp4").on("message", (datagram) => void datagrams.push(datagram));
  agent.bind(0, "127.0.0.1");
  await once(agent, "listening");
  ({ port } = agent.address());
});
afterEach(() => void agent.close());

/** Every line that the Agent got once it got one that ends like this. */
async function linesUntil(end: string): Promise<readonly string[]> {
  const lines = (): readonly string[] => datagrams.flatMap((datagram) => datagram.toString().split("\n"));
  while (!lines().some((line) => line.startsWith(end))) await once(agent, "message");
  return lines();
}

describe("datadogSink, as a sink", () => {
  for (const { name, run } of sinkContract(() => ({ adapter: datadogSink({ port }) }))) it(name, run);
});

describe("datadogSink", () => {
  it("sends counters as what they grew by, and gauges as they are, in datagrams that an Agent reads whole", async () => {
    const clock = createManualClock(0);
    const registry = createMetricRegistry();
    const calls = registry.counter("toolarsenal_calls_total", "Calls.", ["tenant"]);
    const last = registry.gauge("toolarsenal_last", "Sent last.");
    const sink = datadogSink({ port, tags: { env: "prod" } }, { clock, metrics: async () => registry });
    for (let tenant = 0; tenant < 40; tenant++) calls.add(2, `tenant-${tenant}-with-a-long-name`);
    calls.add(1, "a|b,c#d:e\nf");
    last.set(1);
    await sink.write([]);
    await clock.advance(10_000);
    const lines = await linesUntil("toolarsenal.last:1");
    expect(lines).toContain("toolarsenal.calls:2|c|#env:prod,tenant:tenant-0-with-a-long-name");
    expect(lines).toContain("toolarsenal.calls:1|c|#env:prod,tenant:a_b_c_d_e_f");
    expect(datagrams.length).toBeGreaterThan(1);
    expect(Math.max(...datagrams.map(({ length }) => length))).toBeLessThanOrEqual(1_432);
    calls.add(3, "tenant-0-with-a-long-name");
    last.set(2);
    await sink.close?.();
    const later = (await linesUntil("toolarsenal.last:2")).slice(lines.length);
    expect(later.filter((line) => line.startsWith("toolarsenal.calls"))).toEqual([
      "toolarsenal.calls:3|c|#env:prod,tenant:tenant-0-with-a-long-name",
    ]);
  });

  it("sends metrics by DogStatsD, and traces by OTLP, of an arsenal whose telemetry.type is datadog [000-5.5-datadog]", async () => {
    const posted: string[] = [];
    const collector = createServer((request, response) => {
      posted.push(request.url ?? "");
      request.resume().once("end", () => response.end());
    }).listen(0, "127.0.0.1");
    await once(collector, "listening");
    const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    const arsenal = new ToolArsenal({ telemetry: { type: "datadog", datadog: { port }, otlp: { endpoint } } });
    const cost = { monetaryCost: 0.5 };
    arsenal.register({ name: "pay", namespace: "shop", description: "Pays.", parameters: {}, cost }, () => "paid");
    await arsenal.execute({ toolName: "shop.pay", arguments: {} });
    await arsenal.close();
    const lines = await linesUntil("toolarsenal.build_info");
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^toolarsenal\.call_duration_seconds:[\d.e-]+\|d\|#namespace:shop,tenant:none,status:success$/,
      ),
    );
    expect(lines).toContain("toolarsenal.calls:1|c|#namespace:shop,tenant:none,status:success");
    expect(lines).toContain("toolarsenal.call_cost:0.5|c|#namespace:shop,tenant:none");
    expect(posted).toContain("/v1/traces");
    expect(posted).not.toContain("/v1/metrics");
    collector.close();
  });

  it("sends gauges again and again, also while nothing is called", async () => {
    const clock = createManualClock(0);
    const registry = createMetricRegistry();
    const up = registry.gauge("toolarsenal_upstream_up", "Whether it is connected.");
    const sink = datadogSink({ port }, { clock, metrics: async () => registry });
    up.set(1);
    await clock.advance(10_000);
    expect(await linesUntil("toolarsenal.upstream_up:1")).toEqual(["toolarsenal.upstream_up:1|g"]);
    up.set(0);
    await clock.advance(10_000);
    expect(await linesUntil("toolarsenal.upstream_up:0")).toContain("toolarsenal.upstream_up:0|g");
    await sink.close?.();
  });

  it("wants what it sends, and what is traced", () => {
    const plain = datadogSink({ port });
    const asked = [
      ["call-finished", "info"],
      ["retrieval-finished", "info"],
      ["audit-failed", "error"],
    ] as const;
    expect(asked.map(([name, level]) => plain.wants?.(name, level))).toEqual([true, true, false]);
    const wants: Sink["wants"] = (_name, level) => level === "error";
    const traced = datadogSink({ port }, { traces: { name: "traces", wants, write: () => {} } });
    expect(asked.map(([name, level]) => traced.wants?.(name, level))).toEqual([true, true, true]);
    expect(traced.wants?.("circuit-closed", "info")).toBe(false);
  });

  it("loses what it sends while the Agent is away, and holds up nobody", async () => {
    agent.close();
    await once(agent, "close");
    agent = createSocket("udp4");
    const sink = datadogSink({ port });
    const data = { toolId: "a.b", attempts: 1, latencyMs: 1, status: "success" };
    const call = { name: "call-finished", level: "info", at: 0, data } as unknown as ArsenalEvent;
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => sink.write([call])));
    expect(outcomes).toHaveLength(20);
    await sink.close?.();
  });
});

describe("doctor's check of a Datadog Agent", () => {
  const checked = async (datadog: object, otlp: object): Promise<unknown> => {
    const surroundings = createSurroundings(resolveConfig({}), { environment: {} });
    const answer = await check({ datadog: datadog as never, otlp }, surroundings).catch((error: unknown) => error);
    surroundings.egress.close();
    return answer;
  };
  const agentAt = { host: "127.0.0.1", tags: {}, intervalMs: 10_000 };

  it("reaches the DogStatsD port and the OTLP receiver", async () => {
    const collector = await startCollector();
    expect(await checked({ ...agentAt, port }, { endpoint: collector.url })).toBe(
      `DogStatsD at 127.0.0.1:${port} takes datagrams; ${collector.url} accepts traces, logs`,
    );
    await collector.close();
    expect(await checked({ ...agentAt, port }, { endpoint: collector.url })).toMatchObject({
      details: { field: "telemetry.otlp.endpoint" },
    });
    expect(await checked({ ...agentAt, port }, { traces: false, logs: false })).toBe(
      `DogStatsD at 127.0.0.1:${port} takes datagrams`,
    );
  });

  it("names the port that no Agent listens on, and the host that does not exist", async () => {
    const closed = createSocket("udp4");
    closed.bind(0, "127.0.0.1");
    await once(closed, "listening");
    const free = closed.address().port;
    closed.close();
    await once(closed, "close");
    expect(await checked({ ...agentAt, port: free }, { traces: false, logs: false })).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`127.0.0.1:${free}`),
      details: { field: "telemetry.datadog", fix: expect.stringContaining("Start the Datadog Agent") },
    });
    expect(await checked({ ...agentAt, host: "agent.invalid", port }, { traces: false, logs: false })).toMatchObject({
      details: { field: "telemetry.datadog" },
    });
  });
});
