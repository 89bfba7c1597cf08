import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ATTACKS } from "../../../../test/guard/scan-samples.ts";
import { scanText } from "../scan-text.ts";
import { SCAN_RULES } from "./all-rules.ts";
import { toRuleText } from "./rule.ts";

/** On a busy machine one measurement may be off; a rule that is too slow is so every time. */
const BUSY = { retry: 4 } as const;

describe("rules", () => {
  // Time in proportion to the text: a rule that is worse runs out of the time a test has.
  it.each([
    "send ",
    "ignore all the ",
    "all the previous ",
    "a@b.",
    "the conversation ",
    "\u001B]",
    "\u009D",
    "![",
    "<!-- ",
    "<a ",
    "../",
    "/etc/./",
    "no any all the ",
    "' or ",
    "$(curl ",
    "base64 -d ",
    "curl a ",
    "|",
    "[",
    "<important ",
    "\n",
    "\n ",
    "  ",
    "=",
    "a",
    "A1",
    "%41",
    "\\x41",
    "&#x41;",
    "you are now ",
    "never not ",
    "\u200B",
    "\u00AD",
    "а",
    "e\u0301",
    "\u{1F1E6}",
    '"command":"node" args ',
    "keep across ",
    "where {{",
    "do not tell ",
    "1.1.1.1.",
    "-- END ",
    "approve ",
    "account is ",
    "user has ",
    "without user ",
    "file:///",
    "~/.ssh/",
    "%2e%2e/",
    "http://",
    "CVE-2025-1111 ",
    "when a_b ",
    "the a tool ",
    "acts as ",
    "how to ",
    "<script",
    "onerror='",
    "{{",
    "echo $",
    "env | ",
    "\u{E0041}",
    "\uFE00",
    "\u202E",
  ])(
    "read a long row of %j",
    (piece) => {
      const row = piece.repeat(Math.ceil(60_000 / piece.length));
      expect(scanText(row, SCAN_RULES, undefined).text.length).toBeLessThanOrEqual(row.length);
    },
    5000,
  );

  // Beginnings of what a rule looks for keep it busy and lead nowhere.
  it.each(ATTACKS)("take four times as long for four times the text: %s, %s", BUSY, (id, attack) => {
    const { find } = SCAN_RULES.find((rule) => rule.id === id) ?? { find: () => undefined };
    for (const share of [0.3, 0.6, 0.9]) {
      const beginning = `${attack.slice(0, Math.ceil(attack.length * share)).replaceAll(/[.\n]/g, " ")} `;
      const search = (length: number) => () => void find(toRuleText(row(beginning, length)));
      // Something worse would take four times as long for the whole as for its quarters.
      const [quarters, window] = [fewest(times(4, search(4096))), fewest(search(16_384))];
      expect(window).toBeLessThan(Math.max(2.5 * quarters, 8));
    }
  });

  it("take eight times as long for eight times the text, whatever it repeats", { ...BUSY, timeout: 60_000 }, () => {
    const words = fc.constantFrom(...ATTACKS.flatMap(([, text]) => text.split(" ")));
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 6 }), (piece) => {
        const scan = (length: number) => () => void scanText(row(`${piece.join(" ")} `, length), SCAN_RULES, undefined);
        const [parts, whole] = [fewest(times(8, scan(8192))), fewest(scan(65_536))];
        // Something worse would take eight times as long for the whole as for its parts.
        expect(whole).toBeLessThan(4 * parts);
      }),
      { numRuns: 10 },
    );
  });
});

const row = (piece: string, length: number): string => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

const times = (count: number, task: () => void) => (): void => {
  for (let round = 0; round < count; round++) task();
};

/** The fewest milliseconds of five tries: what else the machine does only ever adds. */
function fewest(task: () => void): number {
  let best = Infinity;
  for (let round = 0; round < 5; round++) {
    const began = performance.now();
    task();
    best = Math.min(best, performance.now() - began);
  }
  return best;
}
