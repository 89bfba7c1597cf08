import { systemClock } from "../../../observe/clock.ts";
import { costsBy, readCosts } from "../../../observe/history/costs.ts";
import { costHeading } from "../../../observe/money.ts";
import { withKeptState } from "../../arsenal/kept-state.ts";
import type { Command } from "../../command.ts";
import { readChoice, readNumber } from "../../input.ts";
import { clip, printList } from "../../terminal/style.ts";

export const command: Command = {
  options: {
    by: { value: "PART", description: "Group the sums by tool, tenant or day", fallback: "tool" },
    days: { value: "N", description: "The last N days, including today, 1 to 400", fallback: "30" },
  },
  examples: ["costs", "costs --by tenant --days 7", "costs --by day --json"],
  run(input, terminal) {
    const by = readChoice(input, "by", ["tool", "tenant", "day"]) ?? "tool";
    const days = readNumber(input, "days", { min: 1, max: 400, fallback: 30 });
    return withKeptState("Past requests", input, terminal, async ({ config, states: [state] }) => {
      const rows = await readCosts(state.documents, { days, now: systemClock.now(), signal: terminal.signal });
      const sums = costsBy(rows, by);
      const { currency } = config.telemetry.prices ?? {};
      const cells = sums.map(({ name, calls, cost }) => [clip(name, 60), String(calls), cost.toFixed(4)]);
      const lines = cells.length === 0 ? [] : [[by, "calls", costHeading(currency)], ...cells];
      const none = "No calls of tools that declare cost.monetaryCost in these days.";
      printList(input, terminal, { by, days, currency, costs: sums, rows }, lines, lines.length === 0 ? none : "");
    });
  },
};
