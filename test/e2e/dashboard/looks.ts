import { some } from "../../kit/effort.ts";

/** A theme, and the width of a window: a desk's or a phone's. */
export interface Look {
  readonly colorScheme: "light" | "dark";
  readonly width: number;
}

const LOOKS: readonly Look[] = [1440, 375].flatMap((width) =>
  (["light", "dark"] as const).map((colorScheme) => ({ colorScheme, width })),
);

/** The looks in which a page is shown: one in each run, which the seed decides, and all of them in a deep run. */
export const looksOf = (page: string): readonly Look[] => some(LOOKS, 1, page);
