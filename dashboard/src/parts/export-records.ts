import type { RemoteAuditQuery } from "../../../src/client/index.ts";
import { gateway } from "../gateway.ts";

const PAGE = 1_000;
/** Maximum number of records, because a tab holds the file in memory until it is saved. */
const MOST = 200_000;
/** Time for a browser to start saving the file, in milliseconds. */
const KEPT_MS = 60_000;

/** Reads all matching records, newest first, and saves them as one file. Returns a sentence about the result. */
export async function exportRecords(asking: RemoteAuditQuery, onProgress: (count: number) => void): Promise<string> {
  const lines: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await gateway().audit.query({ ...asking, limit: PAGE, ...(cursor !== undefined && { cursor }) });
    for (const record of page.records) lines.push(`${JSON.stringify(record)}\n`);
    cursor = page.next;
    onProgress(lines.length);
  } while (cursor !== undefined && lines.length < MOST);
  save(lines, `audit-${new Date().toISOString().slice(0, 10)}.jsonl`);
  const count = lines.length === 1 ? "1 record was" : `${lines.length.toLocaleString()} records were`;
  const rest = cursor === undefined ? "" : " There are more: choose a shorter time to export the others.";
  return `${count} exported.${rest}`;
}

export function save(lines: readonly string[], name: string, type = "application/x-ndjson"): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([...lines], { type }));
  link.download = name;
  link.click();
  // Some browsers read the link only after this turn.
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}
