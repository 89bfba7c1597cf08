import type { Figures } from "./recorded.ts";

/** A quoted figure: `<!--figure GROUP.NAME-->TEXT<!--/figure-->`. Renderers show only the text. */
const QUOTE = /<!--figure (?<group>[\w-]+)\.(?<name>[\w.@-]+)-->(?<text>[^<]*)<!--\/figure-->/g;

export interface Quote {
  readonly group: string;
  readonly name: string;
  readonly text: string;
}

/** The figures that a page quotes. */
export function quotesIn(page: string): readonly Quote[] {
  return [...page.matchAll(QUOTE)].map(({ groups }) => groups as unknown as Quote);
}

/** A page whose quotes are the recorded figures. Quotes of figures that nothing recorded stay as they are. */
export function withFigures(page: string, figures: Figures): string {
  return page.replaceAll(QUOTE, (quote: string, group: string, name: string) => {
    const value = figures[group]?.values[name];
    return value === undefined ? quote : `<!--figure ${group}.${name}-->${value}<!--/figure-->`;
  });
}
