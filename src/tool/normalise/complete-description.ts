import { type JsonSchema, listParameters } from "../json-schema.ts";
import { countCharacters, LIMITS } from "../limits.ts";
import { splitWords } from "../split-words.ts";

/** A description within the limits, and the rest of the text. */
export interface FittedDescription {
  readonly description: string;
  readonly rest: string;
}

export function isFittingDescription(text: string): boolean {
  return text.length <= LIMITS.descriptionMax && !isTooShort(text);
}

/** Completes a short or missing description from the tool's name and parameters. Splits a long one. */
export function fitDescription(given: string, name: string, parameters: JsonSchema | undefined): FittedDescription {
  const text = given.trim();
  const { head, tail } = divide(text, LIMITS.descriptionMax);
  const description = isTooShort(head) ? complete(head, name, parameters) : head;
  return { description, rest: tail };
}

/** Splits a text after the last paragraph, sentence or word that ends within `max` characters. */
export function divide(text: string, max: number): { readonly head: string; readonly tail: string } {
  if (text.length <= max) return { head: text, tail: "" };
  const start = text.slice(0, max);
  const earliest = max / 2;
  let cut = start.length;
  for (const [end, length] of [
    ["\n\n", 2],
    [". ", 1],
    ["\n", 1],
    [" ", 1],
  ] as const) {
    const at = start.lastIndexOf(end);
    if (at < earliest) continue;
    cut = at + length;
    break;
  }
  // A hard cut must not split a surrogate pair.
  if ((text.charCodeAt(cut - 1) & 0xfc00) === 0xd800) cut--;
  return { head: text.slice(0, cut).trimEnd(), tail: text.slice(cut).trimStart() };
}

function isTooShort(text: string): boolean {
  return countCharacters(text.trim()) < LIMITS.descriptionMin;
}

function complete(given: string, name: string, parameters: JsonSchema | undefined): string {
  const words = splitWords(name).join(" ");
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  const start = given === "" || splitWords(given).join(" ") === words ? given || title : `${given}: ${words}`;
  return divide(`${start} (${describe(parameters)})`, LIMITS.descriptionMax).head;
}

function describe(parameters: JsonSchema | undefined): string {
  if (parameters === undefined) return "parameters not described";
  const names = listParameters(parameters).map((parameter) => parameter.name);
  return names.length === 0 ? "no parameters" : `parameters: ${names.join(", ")}`;
}
