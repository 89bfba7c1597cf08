import { describe, expect, it } from "vitest";
import { files, read } from "./project.ts";

/** Wordings of comments that read as translated, each with a replacement. */
const COMMENTS: readonly (readonly [RegExp, string])[] = [
  [/^what\b/i, "say what the thing is or does"],
  [/\bwhere absent\b/i, "write: Defaults to …"],
  [/(?<!\bthere )\bis no (?!longer\b|more\b|such\b)[a-z]+[.:,;]/, "write: is not a …"],
  [/\b(?:told|tells?)\b/i, "write: reports, or name the call"],
  [/\b(?:nobody|somebody|anybody|whoever)\b/i, "name the caller, the operator or the process"],
  [/\bso many\b/i, "write: this many, or name the number"],
  [/\b(?:is|are|was) away\b/, "write: is unavailable"],
  [/\bmend(?:s|ed)?\b/i, "write: fix"],
  [/\bstands? for (?:itself|themselves)\b/i, "write: is independent of the others, or what it has not"],
  [/(?:^|[.:] )Of two\b/, "write: If two …"],
  [/\blook(?:s|ed)? at\b/i, "write: read, check or review"],
  [/\bmay know of\b/i, "write: may see"],
  [/\bwhat ends\b/i, "write: a function that stops …"],
  [/\bg[ia]ves? way\b/i, "write: is dropped to make room for …"],
  [/\bis there\b/i, "write: exists, is present or is given"],
  [/\bfor ever\b|\bbe had\b|\bno two of\b/i, "write: always, is available, or two of them cannot"],
];

/** Wordings of messages. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/\b(?:is|are) there (?:\d|\$\{)/, "write: is given twice"],
  [/\bwhere absent\b/i, "write: Defaults to …"],
  [/\bgave way\b|\bnobody (?:here|would)\b|\bnone that\b/i, "write: was dropped, no client, or not one that"],
  [
    /\b(?:what (?:became|becomes|would become|must come) of|ha(?:s|ve) fared)\b/i,
    "write: the outcome, the result or the health",
  ],
  [/\b(?:the|it) (?:is|are) tried again\b|\bthe page before\b/i, "write: is retried, the previous page"],
  [/\bis no reference\b|\bis no (?:number|name|list|text|id)\b/, "write: is not a …"],
  [/\bmend(?:s|ed)?\b/i, "write: fix"],
  [/\bstands? for (?:itself|themselves)\b/i, "write: is independent of the others, or what it has not"],
];

/** Type names that do not name the thing. */
const NAMES =
  /^ *(?:export )?(?:interface|type) (?:Asked|Answers?|Around|Counted|Found|Given|Judged|Kept|Known|Opened|Part|Place|Said|Seen|Stored|Told|Waiting|Wanted|Written)\b/gm;

interface Finding {
  readonly text: string;
  readonly fix: string;
}

/** The findings in a program: comments, messages and names of types. */
function findingsIn(program: string): readonly Finding[] {
  const comments = Array.from(program.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm), ([comment]) =>
    comment.replaceAll(/^\/\*+\s*|^\/\/ |\s*\*\/$|\n\s*\*/g, "").trim(),
  );
  const code = program.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm, "");
  const messages = code.match(/"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g) ?? [];
  const against = (texts: readonly string[], patterns: typeof COMMENTS): readonly Finding[] =>
    texts.flatMap((text) => patterns.flatMap(([pattern, fix]) => (pattern.test(text) ? [{ text, fix }] : [])));
  return [
    ...against(comments, COMMENTS),
    ...against(messages, MESSAGES),
    ...Array.from(code.matchAll(NAMES), ([text]) => ({ text, fix: "name the thing: SearchRequest, ToolLocation" })),
  ];
}

describe("plain English", () => {
  it.each([
    ["/** What a tool returned. */", "say what the thing is or does"],
    ["/** The process's own where absent. */", "write: Defaults to …"],
    ["// What is no pin is refused: a text is no pin.", "say what the thing is or does"],
    ["/** Tells the other processes. */", "write: reports, or name the call"],
    ["/**\n * Ends the wait, so that\n * nobody waits.\n */", "name the caller, the operator or the process"],
    ["/** At most so many rows. */", "write: this many, or name the number"],
    ["// The store is away.", "write: is unavailable"],
    ["// Of two tools with one name, the first has it.", "write: If two …"],
    ["/** A request that stands for itself. */", "write: is independent of the others, or what it has not"],
    ["throw new Error(`The query parameter ${name} is there ${count} times.`);", "write: is given twice"],
    ["/** Returns what ends the watch. */", "write: a function that stops …"],
    ["// Older entries give way to newer ones.", "write: is dropped to make room for …"],
    ['throw new Error("The session gave way to a newer one.");', "write: was dropped, no client, or not one that"],
    ['short("What became of each tool.");', "write: the outcome, the result or the health"],
    ["interface Asked {", "name the thing: SearchRequest, ToolLocation"],
  ])("refuses %s", (program, fix) => expect(findingsIn(program).map((finding) => finding.fix)).toContain(fix));

  it.each([
    "/** The output of a tool. Defaults to none. */",
    "// The tool is no longer offered.",
    'const QUERY = "what is the weather?"; // a request',
    "interface SearchRequest {",
  ])("accepts %s", (program) => expect(findingsIn(program)).toEqual([]));

  it("is written in every file of src", () => {
    const found = files("src/**/*.ts")
      .filter((path) => !path.endsWith(".test.ts"))
      .flatMap((path) => findingsIn(read(path)).map((finding) => ({ path, ...finding })));
    expect(found).toEqual([]);
  });
});
