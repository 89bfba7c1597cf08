import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ToolArsenalConfig } from "../../src/index.ts";
import { SAMPLE_TOOLS, startModernServer } from "../mcp/upstream-server.ts";
import { type ArsenalProcess, endProcesses, type Said, startArsenal } from "./arsenal-process.ts";
import { STATES, type StateService } from "./replicas/states.ts";

const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});
afterAll(endProcesses);

/** How many calls ended with each status. */
function counted(results: readonly { readonly status: string }[]): Record<string, number> {
  return Object.fromEntries(
    [...Map.groupBy(results, ({ status }) => status)].map(([status, each]) => [status, each.length]),
  );
}

function isEvent(name: string, toolId?: string): (said: Said) => boolean {
  return (said) =>
    said.said === "event" &&
    said.name === name &&
    (toolId === undefined || (said.data as { readonly toolId?: string }).toolId === toolId);
}

describe.each(STATES)("two processes on $name", ({ name, open }) => {
  const folder = mkdtempSync(join(tmpdir(), "arsenal-two-"));
  let state: StateService;
  beforeAll(async () => void (state = await open(folder)));
  afterAll(async () => {
    await state.close();
    rmSync(folder, { recursive: true });
  });

  /** Each has its own arsenal. */
  async function startTwo(
    config: ToolArsenalConfig,
    mcpUrl?: string,
  ): Promise<readonly [ArsenalProcess, ArsenalProcess]> {
    const shared = { telemetry: { enabled: false }, ...config, ...(await state.renew()) };
    const started = await Promise.all([startArsenal(shared, mcpUrl), startArsenal(shared, mcpUrl)]);
    opened.push(...started);
    return started;
  }
  /** A test can move the clock of processes, not that of a server. */
  const goesByServer = name !== "a SQLite file";

  it("admit together exactly what a rate allows", async () => {
    const processes = await startTwo({ security: { maxRequestsPerMinute: 7 } });
    const calls = Array.from({ length: 20 }, (_, index) =>
      processes[index % 2 === 0 ? 0 : 1].call({ toolName: "works" }),
    );
    expect(counted(await Promise.all(calls))).toEqual({ success: 7, failure: 13 });
  });

  it("run together no more calls at once than there are places, and run all", async () => {
    const processes = await startTwo({ execution: { maxConcurrent: 2 } });
    const holding: (() => void)[] = [];
    let most = 0;
    for (const process of processes)
      process.onSaid((said) => {
        if (said.said !== "holding") return;
        holding.push(() => void process.ask({ end: said.call }));
        most = Math.max(most, holding.length);
        tellNext();
      });
    let tellNext = (): void => {};
    const calls = Array.from({ length: 12 }, (_, index) =>
      processes[index % 2 === 0 ? 0 : 1].call({ toolName: "holds" }),
    );
    await expect.poll(() => holding.length).toBe(2);
    // Time enough for calls to start that must not.
    await Promise.all(processes.map((process) => process.ask({ turns: 100 })));
    tellNext = () => holding.shift()?.();
    while (holding.length > 0) tellNext();
    expect(counted(await Promise.all(calls))).toEqual({ success: 12 });
    expect(most).toBe(2);
  });

  it("get back the places of one that was killed", async () => {
    const [one, other] = await startTwo({ execution: { maxConcurrent: 1 } });
    void one.call({ toolName: "holds", timeoutMs: 300_000, retryCount: 1 });
    await one.said(({ said }) => said === "holding");
    await one.kill();
    expect(await other.call({ toolName: "works", timeoutMs: 300_000 })).toMatchObject({ status: "success" });
  });

  it("open a circuit together, both know of it, and one of many calls probes it once it may", async () => {
    const [one, other] = await startTwo({ execution: { circuitBreakerThreshold: 4, circuitBreakerTimeoutS: 60 } });
    const heard = other.said(isEvent("health-changed", "default.fails"));
    for (const process of [one, other, one]) await process.call({ toolName: "fails" });
    await heard;
    const opening = other.said(isEvent("health-changed", "default.fails"));
    await one.call({ toolName: "fails" });
    expect((await other.call({ toolName: "fails" })).status).toBe("circuit_open");
    await opening;
    expect(await other.ask({ health: "default.fails" })).toMatchObject({ circuitOpen: true, totalCalls: 1 });
    if (goesByServer) return;
    for (const process of [one, other]) {
      await process.ask({ recover: true });
      await process.ask({ advance: 60_000 });
    }
    const closing = one.said(isEvent("health-changed", "default.fails"));
    const calls = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? one : other).call({ toolName: "fails" }));
    const results = await Promise.all(calls);
    // A call that comes after the probe ended finds the circuit closed.
    expect(counted(results)["success"]).toBeGreaterThanOrEqual(1);
    expect(counted(results)["failure"]).toBeUndefined();
    await closing;
    for (const process of [one, other]) expect((await process.call({ toolName: "fails" })).status).toBe("success");
  });

  it("let one approve what the other was asked for, and one of them use it, once", async () => {
    const [one, other] = await startTwo({});
    const asked = await one.call({ toolName: "refund" });
    expect(asked.status).toBe("pending_confirmation");
    const { confirmationId = "" } = asked;
    await other.ask({ approve: confirmationId });
    const calls = [one, other, one, other].map((process) => process.call({ toolName: "refund", confirmationId }));
    expect(counted(await Promise.all(calls))).toEqual({ success: 1, permission_denied: 3 });
  });

  it("refuse a tool that changed until one of them accepts it", async () => {
    const server = await startModernServer();
    opened.push(server);
    const processes = await startTwo({}, server.url);
    const [one, other] = processes;
    const echo = { toolName: "sample.echo", arguments: { text: "hi" } };
    for (const process of processes) expect((await process.call(echo)).status).toBe("success");
    const changes = processes.map((process) => process.said(isEvent("tool-changed")));
    server.pages = [
      SAMPLE_TOOLS.map((tool) => (tool["name"] === "echo" ? { ...tool, description: "Echoes, differently." } : tool)),
    ];
    await server.listChanged();
    await Promise.all(changes);
    for (const process of processes) expect((await process.call(echo)).status).toBe("permission_denied");
    const replaced = one.said(isEvent("tool-replaced", "sample.echo"));
    await other.ask({ accept: "sample.echo" });
    await replaced;
    for (const process of processes) expect((await process.call(echo)).status).toBe("success");
  });
});
