import { createRequire } from "node:module";
import type { RE2JS } from "re2js";

/** Loads RE2, which runs patterns in linear time, on first use. */
export function re2(): typeof RE2JS {
  return (createRequire(import.meta.url)("re2js") as { readonly RE2JS: typeof RE2JS }).RE2JS;
}
