/** The longest line that a program prints. */
const LINE_LENGTH = 2_000;

/** Passes on the lines that a program prints, up to a number of characters. Long lines are shortened, and further ones are counted. */
export function createPrinted(most: number, keep: (line: string) => void) {
  let room = most;
  let skipped = 0;
  return {
    add(line: string): void {
      const shown = line.length <= LINE_LENGTH ? line : `${line.slice(0, LINE_LENGTH)}… (${line.length} characters)`;
      room -= shown.length + 1;
      if (room >= 0) keep(shown);
      else skipped++;
    },
    /** Passes on how many lines were dropped, if there are any. */
    end(): void {
      if (skipped > 0) keep(`… ${skipped} more lines were dropped.`);
    },
  };
}
