/** The calls of one tool by one caller of a tenant on one day. */
export interface UsageRow {
  /** A UTC day: `2026-01-31`. */
  readonly day: string;
  /** Empty for callers without a tenant. */
  readonly tenant: string;
  /** The name of the key, or the id of a caller without a key. */
  readonly key: string;
  readonly tool: string;
  readonly calls: number;
  /** Failed calls. Calls that wait for an approval are not counted. */
  readonly errors: number;
  /** Estimated tokens of arguments and results; 0 for callers without a tenant. */
  readonly tokens: number;
  readonly cost: number;
}

export const USAGE_PARTS = ["day", "tenant", "key", "tool"] as const;
export type UsagePart = (typeof USAGE_PARTS)[number];

/** Writes usage as CSV (RFC 4180), with a header. */
export function usageCsv(rows: readonly UsageRow[]): string {
  const columns = [...USAGE_PARTS, "calls", "errors", "tokens", "cost"] as const;
  const lines = rows.map((row) => columns.map((column) => csvField(row[column])).join(","));
  return `${[columns.join(","), ...lines].join("\r\n")}\r\n`;
}

function csvField(value: string | number): string {
  if (typeof value === "number") return String(value);
  // A spreadsheet would run such a text as a formula, and callers choose their own ids.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
