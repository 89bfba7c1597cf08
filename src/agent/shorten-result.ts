/**
 * A result as a model is given it: at most so many characters, so that one answer cannot fill its context. What is longer becomes text that ends with
 * how much is missing. Images and other media, which a provider counts in its own way, are left as they are.
 */
export function shortenResult(result: unknown, most: number): unknown {
  const text = typeof result === "string" ? result : (JSON.stringify(result) ?? "");
  if (text.length <= most || (typeof result !== "string" && /"mime_?type"/i.test(text))) return result;
  const shown = text.slice(0, most).toWellFormed();
  return `${shown}\n[The first ${most} of ${text.length} characters. Ask the tool for less to see the rest.]`;
}
