import { harmless } from "../../errors/show-value.ts";
import { shownText } from "../../errors/visible-text.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Safe markup: a literal template of this program, or escaped text. */
export interface Markup {
  readonly markup: string;
}

type TemplateValue = Markup | string | number | undefined | readonly Markup[];

/** Creates markup from a template. Escapes each `${…}` that is not markup, and removes or names control and hidden characters. */
export function html(strings: TemplateStringsArray, ...parts: readonly TemplateValue[]): Markup {
  return { markup: strings.reduce((text, next, index) => text + toMarkup(parts[index - 1]) + next) };
}

function toMarkup(part: TemplateValue): string {
  if (part === undefined) return "";
  if (typeof part === "string" || typeof part === "number") return escapeHtml(String(part));
  return "markup" in part ? part.markup : part.map(({ markup }) => markup).join("");
}

/** Escapes text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return shownText(harmless(text)).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}
