import { createRequire } from "node:module";
import type { RE2JS } from "re2js";

/** Patterns that run in linear time. The library is loaded on first use. */
export function re2(): typeof RE2JS {
  return (createRequire(import.meta.url)("re2js") as { readonly RE2JS: typeof RE2JS }).RE2JS;
}
