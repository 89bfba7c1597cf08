import { isPlainObject } from "../../tool/json-schema.ts";
import type { Evidence, EvidenceRow } from "./evidence.ts";

/** Everything learned, as plain data for a file. Words are hashes; tools and principals are numbered where they first occur. */
export interface UsageSnapshot {
  readonly version: 1;
  /** The tenant used longest ago first. */
  readonly tenants: readonly TenantSnapshot[];
}

/** What one tenant's calls taught. */
export interface TenantSnapshot {
  readonly tenant: string;
  readonly tools: readonly string[];
  readonly principals: readonly string[];
  /** Word's hash, index into tools, index into principals, evidence for, evidence against, milliseconds since the epoch. */
  readonly shares: readonly (readonly [number, number, number, number, number, number])[];
}

/** Writes one tenant's evidence down. */
export function toTenantSnapshot(tenant: string, evidence: Evidence): TenantSnapshot {
  const tools = new Map<string, number>();
  const principals = new Map<string, number>();
  const shares = [...evidence.rows()].map(
    ({ term, toolId, principal, up, down, at }) =>
      [term, numberOf(toolId, tools), numberOf(principal, principals), up, down, at] as const,
  );
  return { tenant, tools: [...tools.keys()], principals: [...principals.keys()], shares };
}

/** The tenants of a snapshot and their rows, undefined if it is none. What cannot be read in it is left out: it is only a prior. */
export function fromSnapshot(
  value: unknown,
): readonly { readonly tenant: string; readonly rows: readonly EvidenceRow[] }[] | undefined {
  if (!isPlainObject(value) || value["version"] !== 1 || !Array.isArray(value["tenants"])) return undefined;
  return value["tenants"].flatMap((entry: unknown) => {
    if (!isPlainObject(entry) || typeof entry["tenant"] !== "string") return [];
    const { tenant, tools, principals, shares } = entry;
    if (!Array.isArray(tools) || !Array.isArray(principals) || !Array.isArray(shares)) return [];
    return [{ tenant, rows: shares.flatMap((share) => toRow(share, tools, principals)) }];
  });
}

function toRow(share: unknown, tools: readonly unknown[], principals: readonly unknown[]): readonly EvidenceRow[] {
  if (!Array.isArray(share) || share.length !== 6 || !share.every(Number.isFinite)) return [];
  const [term, tool, by, up, down, at] = share as [number, number, number, number, number, number];
  const toolId = tools[tool];
  const principal = principals[by];
  if (typeof toolId !== "string" || typeof principal !== "string") return [];
  return [{ term, toolId, principal, up, down, at }];
}

function numberOf(name: string, numbers: Map<string, number>): number {
  const known = numbers.get(name);
  if (known !== undefined) return known;
  numbers.set(name, numbers.size);
  return numbers.size - 1;
}
