/** The longest line that a program prints. */
const LINE_LENGTH = 2_000;

/** Passes on the lines that a program prints, up to a number of characters. Long lines are shortened, and further lines are dropped. */
export function createPrinted(most: number, keep: (line: string) => void) {
  let room = most;
  return {
    /** Returns false if this line was dropped. All later ones will be too, so the program only counts them. */
    add(line: string): boolean {
      const shown = line.length <= LINE_LENGTH ? line : `${line.slice(0, LINE_LENGTH)}… (${line.length} characters)`;
      room -= shown.length + 1;
      if (room >= 0) keep(shown);
      return room >= 0;
    },
    /** Passes on how many lines were dropped, if there are any. Undefined if the program can no longer say. */
    end(dropped: number | undefined): void {
      if (room < 0)
        keep(dropped === undefined ? "… More lines were dropped." : `… ${dropped} more lines were dropped.`);
    },
  };
}
