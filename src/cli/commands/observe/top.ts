import { setTimeout as pause } from "node:timers/promises";
import { type ArsenalClient, type ArsenalEvent, createClient } from "../../../client/index.ts";
import { fixable, isArsenalError } from "../../../errors/arsenal-error.ts";
import { showMoney } from "../../../observe/money.ts";
import type { GatewayOverview } from "../../../serve/administration.ts";
import { readSettings } from "../../arsenal/open-arsenal.ts";
import type { Command, Input, Terminal } from "../../command.ts";
import { readNumber } from "../../input.ts";
import { clip, styles, table } from "../../terminal/style.ts";

type FinishedCall = ArsenalEvent<"call-finished">;

const SHOWN_CALLS = 12;

const CLEAR = "\u001B[H\u001B[2J\u001B[3J";
const OTHER_SCREEN = { open: "\u001B[?1049h\u001B[?25l", close: "\u001B[?25h\u001B[?1049l" };

const BARS = "▁▂▃▄▅▆▇█";

export const command: Command = {
  options: {
    url: { value: "URL", description: "URL of the gateway", fallback: "the configured address, http://127.0.0.1:8080" },
    interval: { value: "S", description: "Seconds between two updates, 1 to 3600", fallback: "2" },
    once: { description: "Print the figures once and exit; the default if stdout is not a terminal" },
  },
  examples: ["top", "top --url https://tools.example.com", "top --once --json"],
  runsUntilInterrupted: true,
  async run(input, terminal) {
    const everyS = readNumber(input, "interval", { min: 1, max: 3600, fallback: 2 });
    const { out, environment, signal } = terminal;
    const url = input.options["url"] ?? (await configuredUrl(input, terminal));
    const { TOOLARSENAL_TOKEN: token } = environment;
    await using gateway = createClient({ url, signal, ...(token ? { token } : {}) });
    if (input.json || input.flags.has("once") || out.isTTY !== true) {
      const seen = await firstLook(gateway, url);
      out.write(input.json ? `${JSON.stringify(seen, undefined, 2)}\n` : `${look(seen, [], url, terminal)}\n`);
      return 0;
    }
    return follow(gateway, url, everyS * 1000, terminal);
  },
};

/** Fetches the figures of a gateway. If it requires credentials, the error explains how to pass them. */
async function firstLook(gateway: ArsenalClient, url: string): Promise<GatewayOverview> {
  try {
    return await gateway.stats();
  } catch (error) {
    if (!isArsenalError(error) || error.code !== "UNAUTHENTICATED") throw error;
    const fix = "Set TOOLARSENAL_TOKEN to a token or API key of an operator.";
    throw fixable("UNAUTHENTICATED", `The gateway at ${url} refused the request: ${error.message}`, fix, {});
  }
}

/** Redraws on the terminal's alternate screen until Ctrl-C. */
async function follow(gateway: ArsenalClient, url: string, everyMs: number, terminal: Terminal): Promise<number> {
  const { out, signal } = terminal;
  const first = await firstLook(gateway, url);
  const calls: FinishedCall[] = [];
  const end = gateway.subscribe(
    (event) => {
      if (event.name === "call-finished") calls.splice(0, calls.length, event, ...calls.slice(0, SHOWN_CALLS - 1));
    },
    { names: ["call-finished"] },
  );
  // A caller without the right to read events sees all figures, but no individual calls.
  end.connected.catch(() => {});
  out.steer?.(OTHER_SCREEN.open);
  try {
    for (let seen = first; ; seen = await gateway.stats()) {
      out.steer?.(CLEAR);
      out.write(`${look(seen, calls, url, terminal)}\n`);
      await pause(everyMs, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return 0;
  } finally {
    end();
    out.steer?.(OTHER_SCREEN.close);
  }
}

function look(
  seen: GatewayOverview,
  calls: readonly FinishedCall[],
  url: string,
  { out, environment }: Terminal,
): string {
  const { bold, dim, green, red, yellow } = styles(out, environment);
  const {
    callMs,
    retrievalMs,
    tokens,
    ensembles,
    openBreakers,
    conflicts,
    approvalsPending = 0,
    droppedEvents = 0,
  } = seen;
  const money = (amount: number): string => showMoney(amount, seen.currency, "en");
  const ms = (value: number | undefined): string => (value === undefined ? "–" : `${value.toFixed(1)} ms`);
  const attention = [
    ...ensembles
      .filter(({ state }) => state === "failed")
      .map(({ name, problem = "failed" }) => `${name}: ${clip(problem, 100)}`),
    ...openBreakers.map((id) => `${id}: circuit breaker open`),
    ...conflicts.map((id) => `${id}: the catalog has a different definition, which is not used`),
    ...(approvalsPending > 0 ? [`${approvalsPending} calls wait for approval`] : []),
    ...(droppedEvents > 0 ? [`${droppedEvents} events dropped`] : []),
    ...(seen.folded === true ? ["some calls of your tenant are counted with calls of other tenants"] : []),
  ];
  const connected = ensembles.filter(({ state }) => state === "connected").length;
  return [
    `${bold("ToolArsenal")} ${dim(`${url}, since ${new Date(seen.since).toLocaleString()}`)}`,
    "",
    table([
      ["calls", seen.calls, seen.errors === 0 ? green("no errors") : red(`${seen.errors} errors`)],
      ...(seen.running === undefined ? [] : [["", seen.running, `running, ${seen.waiting} waiting`]]),
      ["call time", ms(callMs.p50), `P95 ${ms(callMs.p95)}`],
      ["searches", seen.retrievals, `P50 ${ms(retrievalMs.p50)}, P95 ${ms(retrievalMs.p95)}`],
      ["tokens saved", tokens.saved, tokens.savedCost === undefined ? "" : `${money(tokens.savedCost)} saved`],
      ["tokens sent", tokens.returned, ""],
      ["cost of calls", money(seen.cost), ""],
      ["servers", connected, `of ${ensembles.length} connected`],
    ]),
    "",
    ...(seen.minutes === undefined
      ? []
      : [`${dim("calls a minute, last hour")} ${sparkline(seen.minutes.map((minute) => minute.calls))}`, ""]),
    ...(attention.length === 0 ? [green("Nothing needs attention.")] : attention.map((line) => yellow(`! ${line}`))),
    ...(calls.length === 0 ? [] : ["", table(calls.map((call) => row(call, styles(out, environment))))]),
  ].join("\n");
}

function row({ at, data }: FinishedCall, { green, red }: ReturnType<typeof styles>): readonly string[] {
  const { toolId, status, latencyMs, principal } = data;
  const time = new Date(at).toLocaleTimeString();
  const shown = status === "success" ? green(status) : red(status);
  return [time, clip(toolId, 40), shown, `${Math.round(latencyMs)} ms`, clip(principal, 20)];
}

/** Draws numbers as a line of bars. The highest number fills its cell. */
export function sparkline(values: readonly number[]): string {
  const most = Math.max(...values);
  return values
    .map((value) => (value === 0 ? " " : (BARS[Math.ceil((value / most) * BARS.length) - 1] ?? "")))
    .join("");
}

async function configuredUrl(input: Input, terminal: Terminal): Promise<string> {
  const { publicUrl, port, tls } = (await readSettings(input, terminal)).server;
  return publicUrl ?? `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`;
}
