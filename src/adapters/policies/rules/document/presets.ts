import { showValue } from "../../../../errors/show-value.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import { DEFAULT_CONFIRMATION } from "../../patterns.ts";
import { checkList, didYouMean, type Problems } from "./check-fields.ts";
import type { CheckedPresets, CheckedRule } from "./document.ts";

/** Commands that tools which run code must not receive, by default. */
const BLOCKED_COMMANDS: readonly string[] = ["rm -rf /", "sudo", ":(){:|:&};:"];

const MAX_TOOLS = 1_000;

const PRESETS = [
  "requireAuthorizationForAll",
  "blockHighRiskWithoutApproval",
  "confirmDestructiveNames",
  "blockedCommands",
  "maxTools",
  "allowDuplicateNames",
] as const;
type Preset = (typeof PRESETS)[number];

export function checkPresets(value: unknown, problems: Problems): CheckedPresets {
  if (!Array.isArray(value)) {
    const fix = "Write a list of names, such as [blockHighRiskWithoutApproval].";
    problems.mustBe(["presets"], "a list of presets", value, fix);
    return {};
  }
  const found: Record<string, unknown> = {};
  for (const [index, entry] of value.entries()) {
    const path = ["presets", String(index)];
    for (const [name, given] of Object.entries(isPlainObject(entry) ? entry : { [String(entry)]: undefined })) {
      if (!isPreset(name)) {
        const fix = didYouMean(name, PRESETS, `There are ${PRESETS.join(", ")}.`);
        problems.report(path, `unknown preset ${showValue(entry)}`, name, fix);
      } else found[name] = checkValue(name, given, isPlainObject(entry) ? [...path, name] : path, problems);
    }
  }
  return found;
}

function isPreset(name: string): name is Preset {
  return (PRESETS as readonly string[]).includes(name);
}

function checkValue(name: Preset, given: unknown, path: readonly string[], problems: Problems): unknown {
  switch (name) {
    case "blockedCommands":
      return given === undefined ? BLOCKED_COMMANDS : checkList(given, path, problems);
    case "maxTools":
      if (given === undefined) return MAX_TOOLS;
      if (!(Number.isSafeInteger(given) && Number(given) > 0))
        problems.mustBe(path, "a whole number above 0", given, "Write a number such as 1000.");
      return given;
    default:
      if (given !== undefined && typeof given !== "boolean")
        problems.mustBe(path, "true or false", given, "Write the name alone, or true or false.");
      return given ?? true;
  }
}

/** Returns the rules of the presets that decide on calls. */
export function presetRules(presets: CheckedPresets): readonly CheckedRule[] {
  const confirm = (name: keyof CheckedPresets, lists: CheckedRule["lists"]): readonly CheckedRule[] =>
    presets[name] === true ? [{ id: `preset:${name}`, effect: "require_approval", tightens: true, lists }] : [];
  return [
    ...confirm("blockHighRiskWithoutApproval", { risk: ["high", "critical"] }),
    ...confirm("confirmDestructiveNames", { tools: DEFAULT_CONFIRMATION }),
  ];
}
