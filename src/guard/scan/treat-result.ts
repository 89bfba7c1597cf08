import { type BoundedTexts, cleanTexts, gatherTexts, kindOf } from "./texts/bounded-texts.ts";
import type { Scanner } from "./scanner.ts";
import { mapTexts } from "./texts/value-texts.ts";
import { wrapUntrusted } from "./wrap-untrusted.ts";

/** A result without what it hides and without its bad parts; undefined where what is left, read together, is still bad. */
export function neutraliseResult(
  scanner: Scanner,
  value: unknown,
  texts: BoundedTexts,
): { readonly value: unknown } | undefined {
  const cleaned = cleanTexts(value, texts, (text) => scanner.neutraliseText(text, "result").value);
  const { action } = scanner.scanText(gatherTexts(cleaned).text, "result");
  return action === "allow" ? { value: cleaned } : undefined;
}

/** The same for the texts that have to keep their shape: structured data, names, links. */
export function neutraliseData(scanner: Scanner, value: unknown, texts: BoundedTexts): unknown {
  return cleanTexts(value, texts, (text, path, name) =>
    kindOf(path, name) === "prose" ? text : scanner.neutraliseText(text, "result").value,
  );
}

/** A result whose texts stand between marks that say they are data. */
export function wrapResult(value: unknown, source: string): unknown {
  return mapTexts(value, (text, path, name) =>
    text !== "" && kindOf(path, name) === "prose" ? wrapUntrusted(text, { source }) : text,
  );
}
