import type { Annotations, Capability, RiskLevel } from "./tool.ts";

/** The pattern of a tool's name. */
export const NAME_PATTERN: RegExp = /^[a-z][a-z0-9_]{0,127}$/;

/** The pattern of a namespace: lower-case words of letters, digits, `_` and `-`, joined by dots. */
export const NAMESPACE_PATTERN: RegExp = /^[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9][a-z0-9_-]*)*$/;

/** `major.minor.patch` */
export const VERSION_PATTERN: RegExp = /^\d+\.\d+\.\d+$/;

/** Names of operations of the arsenal itself, on every surface that shows tools next to operations. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(["register", "retrieve", "execute", "list", "delete"]);

/** The limits on lengths and counts. Lengths are in characters, times in milliseconds. */
export const LIMITS = {
  nameLength: 128,
  namespaceLength: 128,
  descriptionMin: 10,
  descriptionMax: 2000,
  extendedDescriptionMax: 10_000,
  examples: 10,
  timeoutMinMs: 100,
  timeoutMaxMs: 300_000,
} as const;

/** The default version of a tool. */
export const DEFAULT_VERSION = "1.0.0";

/** The default namespace of a tool. */
export const DEFAULT_NAMESPACE = "default";

/** The default risk of a tool, derived from its capabilities. */
export function riskOf(capabilities: readonly Capability[], annotations: Partial<Annotations>): RiskLevel {
  const has = (capability: Capability): boolean => capabilities.includes(capability);
  if (annotations.destructive === true || has("delete_data") || has("financial")) return "high";
  if (has("write_data") || has("execute_code") || has("network_access")) return "medium";
  return "low";
}

/** The number of characters of a text, counting one outside the basic plane (most emoji) once. */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let index = 1; index < text.length; index++) {
    if ((text.charCodeAt(index) & 0xfc00) === 0xdc00 && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800) count--;
  }
  return count;
}
