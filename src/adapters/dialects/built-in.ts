import { ArsenalError } from "../../errors/arsenal-error.ts";
import { nearest, showValue } from "../../errors/show-value.ts";
import type { Dialect } from "../../transcode/dialect.port.ts";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { openai } from "./openai.ts";

/** The name of a built-in dialect. */
export type DialectName = "openai" | "anthropic" | "gemini";

const DIALECTS: Readonly<Record<DialectName, () => Dialect>> = { openai, anthropic, gemini };

/** A dialect by its name, or the given one. Throws QUERY_INVALID for what is neither. */
export function toDialect(given: Dialect | DialectName): Dialect {
  if (typeof given === "string" && Object.hasOwn(DIALECTS, given)) return DIALECTS[given]();
  if (typeof given === "object" && typeof given?.fromCanonical === "function") return given;
  const known = Object.keys(DIALECTS);
  const near = typeof given === "string" ? nearest(given, known) : undefined;
  const fix = `Use ${near ?? `one of ${known.join(", ")}`}, or a dialect of your own.`;
  const details = { field: "dialect", value: given, fix };
  throw new ArsenalError("QUERY_INVALID", `dialect is ${showValue(given)}, which is no dialect. ${fix}`, details);
}
