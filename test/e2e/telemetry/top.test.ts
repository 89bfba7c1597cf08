import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../../src/cli/run-cli.ts";
import { sparkline } from "../../../src/cli/commands/observe/top.ts";
import { runInMemory } from "../terminal.ts";
import { type BusyGateway, startBusyGateway } from "./busy-gateway.ts";

describe("toolarsenal top", () => {
  let gateway: BusyGateway;
  beforeAll(async () => {
    const prices = { currency: "EUR", perMillionInputTokens: 1_000_000 };
    gateway = await startBusyGateway({ telemetry: { prices } }, { withIdentity: true });
    await gateway.happen();
  });
  afterAll(() => gateway.close());

  const environment = { TOOLARSENAL_TOKEN: "operator-of-this-gateway" };

  it("prints one look at the gateway where there is no terminal", async () => {
    const { code, out } = await runInMemory(["top", "--url", gateway.url], { environment });
    expect(code).toBe(0);
    expect(out).toMatch(/calls +[1-9]\d* +[1-9]\d* errors/);
    expect(out).toContain("shop.ship_order: circuit breaker open");
    expect(out).toMatch(/! [1-9]\d* calls wait for approval/);
    expect(out).toMatch(/servers +1 +of 1 connected/);
    expect(out).toMatch(/tokens saved +\d+ +€[\d.,]+ saved/);
    expect(out).toMatch(/cost of calls +€0\.50/);
  });

  it("prints the figures as JSON", async () => {
    const { out } = await runInMemory(["top", "--url", gateway.url, "--json"], { environment });
    expect(JSON.parse(out)).toMatchObject({ openBreakers: ["shop.ship_order"], ensembles: [{ name: "greeter" }] });
  });

  it("draws on the terminal's other screen, and leaves it on Ctrl-C", async () => {
    const interrupt = new AbortController();
    let drawn = "";
    const out = {
      isTTY: true,
      write(text: string): void {
        drawn += text;
        if (drawn.includes("circuit breaker open")) interrupt.abort();
      },
    };
    const code = await runCli(["top", "--url", gateway.url, "--interval", "3600"], {
      out,
      err: { write: () => {} },
      folder: ".",
      environment,
      signal: interrupt.signal,
    });
    expect(code).toBe(0);
    expect(drawn.startsWith("\u001B[?1049h")).toBe(true);
    expect(drawn.endsWith("\u001B[?1049l")).toBe(true);
  });

  it("says what a caller without the role lacks", async () => {
    const { code, err } = await runInMemory(["top", "--url", gateway.url], {
      environment: { TOOLARSENAL_TOKEN: "agent-of-a-tenant-acme" },
    });
    expect(code).toBe(1);
    expect(err).toContain('lacks the role "operator"');
  });

  it("says where the credentials of a caller go that it has none of", async () => {
    const { code, err } = await runInMemory(["top", "--url", gateway.url], { environment: {} });
    expect(code).toBe(1);
    expect(err).toContain("Set TOOLARSENAL_TOKEN to a token or API key of an operator.");
  });

  it("draws numbers as bars of their height", () => {
    expect(sparkline([0, 1, 4, 8])).toBe(" ▁▄█");
    expect(sparkline([])).toBe("");
  });
});
