import { stripVTControlCharacters, styleText } from "node:util";
import type { Refusal } from "../../guard/policy.port.ts";
import type { Input, Stream, Terminal } from "../command.ts";

const COLOURS = ["bold", "dim", "green", "red", "yellow", "cyan"] as const;

/** Returns colours for a stream. Only on a terminal, and never with NO_COLOR. */
export function styles(stream: Stream, environment: Terminal["environment"]) {
  const on = stream.isTTY === true && !environment["NO_COLOR"] && environment["TERM"] !== "dumb";
  const paints = COLOURS.map((colour) => {
    return [colour, (text: string) => (on ? styleText(colour, text, { validateStream: false }) : text)] as const;
  });
  return Object.fromEntries(paints) as Record<(typeof COLOURS)[number], (text: string) => string>;
}

export function note({ err, environment }: Pick<Terminal, "err" | "environment">, text: string): void {
  err.write(styles(err, environment).dim(`${text}\n`));
}

type Rows = readonly (readonly (string | number)[])[];

/** Prints a list: the data with `--json`; otherwise a table, and a remark on stderr. */
export function printList({ json }: Input, terminal: Terminal, data: unknown, rows: Rows, remark = ""): void {
  if (json) terminal.out.write(`${JSON.stringify(data, undefined, 2)}\n`);
  else if (rows.length > 0) terminal.out.write(`${table(rows)}\n`);
  if (!json && remark !== "") note(terminal, remark);
}

/** Returns a tool's description, marked if the user may not call the tool. */
export function withMark(description: string, refused: Refusal | undefined): string {
  return refused === undefined ? description : `(refused by ${refused.rule}) ${description}`;
}

/** Returns `, 3 of them refused`; empty if the user may call all of the tools. */
export function countRefused(tools: readonly { readonly refused?: Refusal }[]): string {
  const refused = tools.filter((tool) => tool.refused !== undefined).length;
  return refused === 0 ? "" : `, ${refused} of them refused`;
}

/** Formats rows as aligned columns, two spaces apart. Numbers are right-aligned. */
export function table(rows: Rows): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          const gap = " ".repeat(width - widthOf(cell));
          return typeof cell === "number" ? gap + cell : cell + gap;
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Formats names and descriptions as two columns. Long descriptions wrap within their column. */
export function definitions(rows: readonly (readonly [name: string, description: string])[], out: Stream): string {
  const indent = Math.max(0, ...rows.map(([name]) => widthOf(name))) + 2;
  const columns = out.isTTY === true ? (out.columns ?? Infinity) : Infinity;
  // In a narrow column, single words would be harder to read than lines that the terminal wraps.
  if (columns - indent < 20) return table(rows);
  return rows
    .map(([name, description]) => flow(`${name.padEnd(indent)}${description}`, columns, " ".repeat(indent)))
    .join("\n");
}

/** Wraps lines between words at a width, and indents continuation lines by two spaces. Colours have no width. Longer words are not split. */
export function wrap(text: string, width: number): string {
  return flow(text, width, "  ");
}

/** Wraps lines between words at a width, and starts continuation lines with an indent. */
function flow(text: string, width: number, indent: string): string {
  return text
    .split("\n")
    .map((line) => {
      let used = 0;
      return line.replaceAll(/(\s*)(\S+)/g, (piece: string, _: string, word: string) => {
        const breaks = used > 0 && used + widthOf(piece) > width;
        used = breaks ? indent.length + widthOf(word) : used + widthOf(piece);
        return breaks ? `\n${indent}${word}` : piece;
      });
    })
    .join("\n");
}

function widthOf(cell: string | number): number {
  return stripVTControlCharacters(String(cell)).length;
}

export { onOneLine as clip } from "../../observe/event-text.ts";
