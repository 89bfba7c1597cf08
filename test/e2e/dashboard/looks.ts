import { some } from "../../kit/effort.ts";

/** A theme, and the width of a window: a desk's or a phone's. */
export interface Look {
  readonly colorScheme: "light" | "dark";
  readonly width: number;
}

const PAIRS: readonly (readonly Look[])[] = [
  [
    { colorScheme: "light", width: 1440 },
    { colorScheme: "dark", width: 375 },
  ],
  [
    { colorScheme: "dark", width: 1440 },
    { colorScheme: "light", width: 375 },
  ],
];

/** The looks in which a page is shown: both themes and both widths in each run, combined as the seed decides, and all combinations in a deep run. */
export const looksOf = (page: string): readonly Look[] => some(PAIRS, 1, page).flat();
