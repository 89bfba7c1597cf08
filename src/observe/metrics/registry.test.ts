import { describe, expect, it } from "vitest";
import { expositionFor, toExposition } from "./exposition.ts";
import { createMetricRegistry } from "./registry.ts";

describe("createMetricRegistry", () => {
  it("adds up counters by their labels", async () => {
    const registry = createMetricRegistry();
    const calls = registry.counter("calls_total", "Calls.", ["tenant", "status"]);
    calls.add(1, "acme", "success");
    calls.add(2, "acme", "success");
    calls.add(1, "acme", "failure");
    expect((await registry.collect()).find(({ name }) => name === "calls_total")?.series).toEqual([
      { labels: { tenant: "acme", status: "success" }, value: 3 },
      { labels: { tenant: "acme", status: "failure" }, value: 1 },
    ]);
  });

  it("puts each value of a histogram into the first bucket that holds it", async () => {
    const registry = createMetricRegistry();
    const seconds = registry.histogram("seconds", "Time.", [], [0.1, 1]);
    for (const value of [0.05, 0.1, 0.5, 7]) seconds.observe(value);
    expect((await registry.collect()).find(({ name }) => name === "seconds")?.series).toEqual([
      {
        labels: {},
        count: 4,
        sum: 7.65,
        buckets: [
          { upTo: 0.1, count: 2 },
          { upTo: 1, count: 1 },
        ],
      },
    ]);
  });

  it("gives the first values of a label their own series, counts the others as one, and says how many samples that were", async () => {
    const registry = createMetricRegistry({ maxValues: 2 });
    const calls = registry.counter("calls_total", "Calls.", ["tenant"]);
    for (const tenant of ["a", "b", "c", "d", "a", "c"]) calls.add(1, tenant);
    const [folded, counted] = await registry.collect();
    expect(counted?.series).toEqual([
      { labels: { tenant: "a" }, value: 2 },
      { labels: { tenant: "b" }, value: 1 },
      { labels: { tenant: "other" }, value: 3 },
    ]);
    expect(folded?.series).toEqual([{ labels: { label: "tenant" }, value: 3 }]);
  });

  it("bounds the series of a metric, whatever its labels are combined to", async () => {
    const registry = createMetricRegistry({ maxSeries: 10 });
    const calls = registry.counter("calls_total", "Calls.", ["namespace", "tenant"]);
    for (let at = 0; at < 400; at++) calls.add(1, `n${at % 20}`, `t${Math.floor(at / 20)}`);
    const series = (await registry.collect())[1]?.series ?? [];
    expect(series).toHaveLength(11);
    expect(series.at(-1)).toEqual({ labels: { namespace: "other", tenant: "other" }, value: 390 });
  });

  it("asks collectors before each reading, and one that fails spoils nothing", async () => {
    const registry = createMetricRegistry();
    const depth = registry.gauge("depth", "Depth.");
    let now = 3;
    registry.onCollect(() => depth.set(now));
    registry.onCollect(() => Promise.reject(new Error("away")));
    expect((await registry.collect())[1]?.series).toEqual([{ labels: {}, value: 3 }]);
    now = 4;
    expect((await registry.collect())[1]?.series).toEqual([{ labels: {}, value: 4 }]);
  });

  it("shares one reading among those that overlap", async () => {
    const registry = createMetricRegistry();
    let readings = 0;
    registry.onCollect(() => void readings++);
    await Promise.all([registry.collect(), registry.collect()]);
    expect(readings).toBe(1);
  });
});

describe("toExposition", () => {
  const registry = createMetricRegistry();
  registry.counter("calls_total", "Calls so far.", ["tool"]).add(2, 'a"\\\n\u001B[2Jb');
  registry.histogram("seconds", "Time.", [], [0.5, 1]).observe(0.7);

  it("writes the text format", async () => {
    expect(toExposition(await registry.collect(), "text")).toBe(
      [
        "# HELP calls_total Calls so far.",
        "# TYPE calls_total counter",
        'calls_total{tool="a\\"\\\\\\n\uFFFD[2Jb"} 2',
        "# HELP seconds Time.",
        "# TYPE seconds histogram",
        'seconds_bucket{le="0.5"} 0',
        'seconds_bucket{le="1"} 1',
        'seconds_bucket{le="+Inf"} 1',
        "seconds_sum 0.7",
        "seconds_count 1",
        "",
      ].join("\n"),
    );
  });

  it("writes OpenMetrics: counters named without their suffix, bounds as floats, and an end", async () => {
    const lines = toExposition(await registry.collect(), "openmetrics").split("\n");
    expect(lines.slice(0, 2)).toEqual(["# HELP calls Calls so far.", "# TYPE calls counter"]);
    expect(lines).toContain('seconds_bucket{le="1.0"} 1');
    expect(lines.slice(-2)).toEqual(["# EOF", ""]);
  });

  it("chooses the format by Accept", () => {
    expect(expositionFor("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1")).toBe(
      "openmetrics",
    );
    expect([expositionFor(undefined), expositionFor("*/*")]).toEqual(["text", "text"]);
  });
});
