import { DEFAULT_CONFIRMATION, patternsPolicy } from "../../adapters/policies/patterns.ts";
import { fixable } from "../../errors/arsenal-error.ts";
import type { Policy } from "../../guard/policy.port.ts";
import type { Clock } from "../../observe/clock.ts";
import { readerOf } from "../adapter-settings.ts";
import type { ResolvedConfig } from "./resolve-config.ts";

/**
 * Returns the policy of `security.policy_file`, created by the adapter for that file, or else the policy of the lists under `security`. `text` is the
 * content of the file, which is read if omitted.
 */
export function configuredPolicy({ security }: Pick<ResolvedConfig, "security">, clock: Clock, text?: string): Policy {
  const { policyFile } = security;
  if (policyFile === undefined) return patternsPolicy({ ...security, mode: security.policy });
  refuseLists(security);
  const rules = text ?? readPolicyText(policyFile);
  return fileAdapter(policyFile).create(rules, { name: policyFile, clock, mode: security.policy });
}

/** The exports of a policy module that reads files. `create` throws `CONFIG_INVALID` with file, line, field, value and fix. */
interface FileAdapter {
  create(
    text: string,
    parts: { readonly name: string; readonly clock: Clock; readonly mode: "standard" | "strict" },
  ): Policy;
}

/** Loads the module on first use. Synchronous, because the constructor of an arsenal throws if the file is invalid. */
function fileAdapter(path: string): FileAdapter {
  const { createRequire } = process.getBuiltinModule("node:module");
  const { extname } = process.getBuiltinModule("node:path");
  const file = readerOf("policies", extname(path)) ?? "";
  const module = import.meta.url.endsWith(".ts") ? file : file.replace(/\.ts$/, ".js");
  return createRequire(import.meta.url)(`../../adapters/${module}`) as FileAdapter;
}

/** Reads a policy file. Throws `CONFIG_INVALID` if it cannot be read. */
export function readPolicyText(path: string): string {
  try {
    return process.getBuiltinModule("node:fs").readFileSync(path, "utf8");
  } catch (cause) {
    const fix = "Check the path, or leave security.policy_file out.";
    const details = { field: "security.policy_file", value: path, cause };
    throw fixable("CONFIG_INVALID", `The policy file ${path} cannot be read.`, fix, details);
  }
}

/** Refuses lists next to a policy file, because they would be ignored or contradict it. */
function refuseLists({ allow, deny, humanInTheLoop, requireConfirmation }: ResolvedConfig["security"]): void {
  const byDefault = requireConfirmation.join("\n") === DEFAULT_CONFIRMATION.join("\n");
  const lists: readonly (readonly [field: string, value: readonly string[], effect: string])[] = [
    ["security.allow", allow, "allow"],
    ["security.deny", deny, "deny"],
    ["security.human_in_the_loop", humanInTheLoop, "require_approval"],
    ["security.require_confirmation", byDefault ? [] : requireConfirmation, "require_approval"],
  ];
  for (const [field, value, effect] of lists) {
    if (value.length === 0) continue;
    const fix = `Write it as a rule in the policy file: { id: …, effect: ${effect}, tools: [${value.map((tool) => JSON.stringify(tool)).join(", ")}] }.`;
    throw fixable("CONFIG_INVALID", `${field} cannot be combined with security.policy_file.`, fix, { field, value });
  }
}
