import { useState } from "preact/hooks";
import type { UsagePart, UsageRow } from "../../../src/client/index.ts";
import { usageCsv } from "../../../src/teams/usage-csv.ts";
import { gateway } from "../gateway.ts";
import { useAsk } from "../parts/ask.ts";
import { save } from "../parts/export-records.ts";
import { Choice } from "../parts/field.tsx";
import { Shown } from "../parts/shown.tsx";
import { type Column, Table } from "../parts/table.tsx";

const SUMS: readonly (readonly [value: string, text: string])[] = [
  ["tenant", "tenant"],
  ["tenant,key", "key"],
  ["tenant,tool", "tool"],
  ["day,tenant", "day"],
];

/** Shows calls, tokens and cost of the last 30 days, by tenant, key, tool or day. */
export function Usage() {
  const [by, setBy] = useState("tenant");
  const parts = by.split(",") as UsagePart[];
  const asked = useAsk(() => gateway().usage({ by: parts }), [by]);
  const named: readonly Column<UsageRow>[] = parts.map((part) => ({
    title: part[0]?.toUpperCase() + part.slice(1),
    cell: (row) => (row[part] === "" ? <span class="dim">none</span> : row[part]),
  }));
  return (
    <>
      <h1>Usage</h1>
      <p class="dim">The last 30 days, by UTC.</p>
      <Choice label="Add up by" value={by} values={SUMS} onChange={(value) => setBy(value === "" ? "tenant" : value)} />
      <Shown asked={asked}>
        {(usage) => (
          <>
            <Table
              caption="Usage"
              rows={usage}
              keyOf={({ day, tenant, key, tool }) => JSON.stringify([day, tenant, key, tool])}
              empty="No calls in the last 30 days."
              columns={[
                ...named,
                { title: "Calls", cell: ({ calls }) => calls.toLocaleString() },
                { title: "Errors", cell: ({ errors }) => errors.toLocaleString() },
                { title: "Tokens", cell: ({ tokens }) => tokens.toLocaleString() },
                { title: "Cost", cell: ({ cost }) => cost.toLocaleString(undefined, { maximumFractionDigits: 4 }) },
              ]}
            />
            {usage.length > 0 && (
              <button type="button" class="quiet" onClick={() => save([usageCsv(usage)], "usage.csv", "text/csv")}>
                Export as CSV
              </button>
            )}
          </>
        )}
      </Shown>
    </>
  );
}
