/** Shortens a result for the model to `most` characters. A shortened result becomes text that states its full length. Media are not shortened. */
export function shortenResult(result: unknown, most: number): unknown {
  const text = typeof result === "string" ? result : (JSON.stringify(result) ?? "");
  if (text.length <= most || (typeof result !== "string" && /"mime_?type"/i.test(text))) return result;
  const shown = text.slice(0, most).toWellFormed();
  return `${shown}\n[The first ${most} of ${text.length} characters. Ask the tool for less to see the rest.]`;
}
