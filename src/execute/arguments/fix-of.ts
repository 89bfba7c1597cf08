import { nearest } from "../../errors/show-value.ts";
import type { Problem } from "../validator.port.ts";

/** Returns a sentence on how to fix a problem. `names` are the candidates that a misspelt name could mean. */
export function fixOf({ field, expected, received }: Problem, names: Iterable<string>): string {
  if (isUnknown({ expected })) {
    const near = nearest(field, names);
    return near === undefined ? "Leave it out." : `Did you mean ${near}?`;
  }
  if (received === "nothing") return `Add ${field}.`;
  if (!expected.startsWith("one of ")) return `Change it to ${expected}.`;
  const [, written = ""] = /^string "(.*)"$/.exec(received) ?? [];
  const near = nearest(
    written,
    [...expected.matchAll(/"([^"]+)"/g)].map(([, value = ""]) => value),
  );
  return near === undefined ? "Change it to one of these." : `Did you mean "${near}"?`;
}

export function isUnknown({ expected }: Pick<Problem, "expected">): boolean {
  return expected.startsWith("nothing (");
}
