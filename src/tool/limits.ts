import type { Annotations, Capability, RiskLevel } from "./tool.ts";

export const NAME_PATTERN: RegExp = /^[a-z][a-z0-9_]{0,127}$/;

/** The pattern of a namespace: lower-case words of letters, digits, `_` and `-`, joined by dots. */
export const NAMESPACE_PATTERN: RegExp = /^[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9][a-z0-9_-]*)*$/;

/** `major.minor.patch` */
export const VERSION_PATTERN: RegExp = /^\d+\.\d+\.\d+$/;

/** Names that every surface reserves for the arsenal's own operations, which it lists next to tools. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(["register", "retrieve", "execute", "list", "delete"]);

/** Limits on lengths (in characters), counts and times (in milliseconds). */
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

export const DEFAULT_VERSION = "1.0.0";

export const DEFAULT_NAMESPACE = "default";

/** Derives the default risk of a tool from its capabilities. */
export function riskOf(capabilities: readonly Capability[], annotations: Partial<Annotations>): RiskLevel {
  const has = (capability: Capability): boolean => capabilities.includes(capability);
  if (annotations.destructive === true || has("delete_data") || has("financial")) return "high";
  if (has("write_data") || has("execute_code") || has("network_access")) return "medium";
  return "low";
}

/** Counts the characters of a text. A character outside the basic plane, such as most emoji, counts once. */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let index = 1; index < text.length; index++) {
    if ((text.charCodeAt(index) & 0xfc00) === 0xdc00 && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800) count--;
  }
  return count;
}
