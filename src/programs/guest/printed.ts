const LINE_LENGTH = 2_000;

/** Passes on the lines that a program prints, up to `most` characters in total. Long lines are shortened, and further lines are dropped. */
export function createPrinted(most: number, keep: (line: string) => void) {
  let room = most;
  return {
    /** Returns false if this line was dropped. All later lines are then dropped too, so the program only needs to count them. */
    add(line: string): boolean {
      const shown = line.length <= LINE_LENGTH ? line : `${line.slice(0, LINE_LENGTH)}… (${line.length} characters)`;
      room -= shown.length + 1;
      if (room >= 0) keep(shown);
      return room >= 0;
    },
    /** Passes on the number of dropped lines, if any. `dropped` is undefined if the program could not report the number. */
    end(dropped: number | undefined): void {
      if (room < 0)
        keep(dropped === undefined ? "… More lines were dropped." : `… ${dropped} more lines were dropped.`);
    },
  };
}
