import { DIALECT_NAMES, toDialect } from "../../../src/adapters/dialects/built-in.ts";
import { geminiDialect } from "../../../src/adapters/dialects/gemini/gemini.ts";
import type { Dialect } from "../../../src/transcode/dialect.port.ts";

/** Every built-in dialect, and the closed subset of Gemini's. */
export const EVERY_DIALECT: readonly (readonly [name: string, dialect: Dialect])[] = [
  ...(await Promise.all(DIALECT_NAMES.map(async (name) => [name, await toDialect(name)] as const))),
  ["gemini-parameters", geminiDialect({ schema: "parameters" }) as Dialect],
];
