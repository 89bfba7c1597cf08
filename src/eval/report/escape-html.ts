import { harmless } from "../../errors/show-value.ts";
import { shownText } from "../../errors/visible-text.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Safe markup: written here, or escaped. */
export interface Markup {
  readonly markup: string;
}

type TemplateValue = Markup | string | number | undefined | readonly Markup[];

/** Markup from a template: a value in `${…}` that is not markup is escaped, and control and hidden characters are removed or named. */
export function html(strings: TemplateStringsArray, ...parts: readonly TemplateValue[]): Markup {
  return { markup: strings.reduce((text, next, index) => text + toMarkup(parts[index - 1]) + next) };
}

function toMarkup(part: TemplateValue): string {
  if (part === undefined) return "";
  if (typeof part === "string" || typeof part === "number") return escapeHtml(String(part));
  return "markup" in part ? part.markup : part.map(({ markup }) => markup).join("");
}

/** Text as a page shows it, in an element or in a quoted attribute. */
export function escapeHtml(text: string): string {
  return shownText(harmless(text)).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}
