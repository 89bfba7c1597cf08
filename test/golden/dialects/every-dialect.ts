import { DIALECTS } from "../../../src/adapters/dialects/built-in.ts";
import { gemini } from "../../../src/adapters/dialects/gemini.ts";
import type { Dialect } from "../../../src/transcode/dialect.port.ts";

/** Every built-in dialect, and the closed subset of Gemini's. */
export const EVERY_DIALECT: readonly (readonly [name: string, dialect: Dialect])[] = [
  ...Object.entries(DIALECTS),
  ["gemini-parameters", gemini({ schema: "parameters" }) as Dialect],
];
