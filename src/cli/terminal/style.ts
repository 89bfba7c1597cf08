import { stripVTControlCharacters } from "node:util";
import type { Stream, Terminal } from "../command.ts";

type Paint = (text: string) => string;

/** Colours for a stream: only on a terminal, never with NO_COLOR. */
export function styles(
  stream: Stream,
  environment: Terminal["environment"],
): Record<"bold" | "dim" | "green" | "red" | "yellow" | "cyan", Paint> {
  const on = stream.isTTY === true && !environment["NO_COLOR"] && environment["TERM"] !== "dumb";
  const paint =
    (open: number, close: number): Paint =>
    (text) =>
      on ? `\u001B[${open}m${text}\u001B[${close}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    green: paint(32, 39),
    red: paint(31, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  };
}

/** Writes a line beside the data: dim, and not on the output. */
export function note({ err, environment }: Pick<Terminal, "err" | "environment">, text: string): void {
  err.write(styles(err, environment).dim(`${text}\n`));
}

/** Rows as aligned columns, two spaces apart. Numbers are set to the right. */
export function table(rows: readonly (readonly (string | number)[])[]): string {
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

function widthOf(cell: string | number): number {
  return stripVTControlCharacters(String(cell)).length;
}

export { onOneLine as clip } from "../../observe/event-text.ts";
