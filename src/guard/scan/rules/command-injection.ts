import { marks } from "./phrases.ts";
import { pattern, type Rule } from "./rule.ts";

/** Ends one command in front of another. A semicolon may also end an entity of HTML. */
const NEXT = "((?<!&\\w{2,6});|\\||&&) ?";
const INJECTED = marks(
  "\\$\\( ?(curl|wget|cat|id(?! -)|whoami|ls|nc|bash|sh|rm|env|printenv|touch|[\\w-]{2,20}calc)\\b[^)]{0,200}\\)",
  // Code in a text of Markdown stands in back-ticks too, but alone.
  "(?<=[^\\s(])` ?(curl|wget|cat|id|whoami|rm|nc|env|uname)\\b[^`\\n]{0,100}`(?= ?([\"'/@:)]|from\\b))",
  `${NEXT}(pwd|rm|nc|ncat|bash|sh|whoami|id|chmod|powershell|cmd|certutil|shell|calc|touch)(\\.exe)? ?([-/~$>&"'}@]|http|$)`,
  `${NEXT}cat /`,
  "[&|] ?(whoami|calc|net user|certutil)\\b",
  "; ?(/usr)?/s?bin/\\w",
  "; ?wget (-\\w{1,3} )?https?:",
  "; ?curl (-\\w{1,3} )?https?://\\d",
  "; ?[\\w:\\\\]{0,40}(cmd|calc|powershell)\\.exe",
  "' ?; ?shell\\b",
  "%24%28",
  "\\^&",
  "--exec=",
  "--shell=true",
);

const SQL = marks(
  "' ?or ['\"(]?(?<word>\\w{1,12})['\"]? ?==? ?['\"]?\\k<word>\\b",
  "\\bor (?<number>\\d{1,4}) ?==? ?\\k<number>\\b",
  "\\bor '(?<text>\\w{1,12})' ?= ?'\\k<text>\\b",
  "' ?(or|and) (pg_sleep|sleep ?\\(|extractvalue|\\( ?select\\b)",
  "%27(%20|\\+)(or|and|union)\\b",
  "\\bunion (all )?select\\b",
  "/\\*'?\\*/ ?union",
  "; ?(drop|truncate|alter) (table|database|schema|collection)\\b",
  "; ?(delete from|insert into|update \\w+ set|grant all)\\b",
  '"sql" ?: ?"drop\\b',
  "xp_cmdshell",
  "sql query exactly",
  // A template that writes a value into the text of a query.
  "\\b(where|values) [^\\n?:$]{0,60}\\{\\{ ?\\$(json|node)",
);

const MARKUP = marks(
  "<script\\b[^>]{0,100}>",
  "\\bon(error|load|click|mouseover) ?= ?\\\\{0,2}[\"'][^\"'\\n]{0,40}(fetch|document|window|new Image|alert|eval|src)",
  "href ?= ?\\\\{0,2}[\"']javascript:",
  "\\{\\{ ?\\d{1,4} ?\\* ?\\d{1,4}",
  "\\{\\{ ?(config\\b|self\\.|request\\.|''\\.|\"\"\\.|cycler|lipsum)",
  // An object of PHP, written out.
  'O:\\d{1,3}:"\\w{1,60}":\\d{1,3}:\\{',
);

/** Values that hold a command, a query or a script for whatever reads them. */
export const COMMAND_INJECTION_RULES: readonly Rule[] = [
  {
    id: "command.injection",
    category: "command",
    severity: "high",
    message: "Has a shell command inside a value.",
    find: pattern(INJECTED),
  },
  {
    id: "command.sql-injection",
    category: "command",
    severity: "high",
    message: "Has a second statement or an always-true condition inside a database query.",
    find: pattern(SQL),
  },
  {
    id: "command.markup-injection",
    category: "command",
    severity: "medium",
    // Pages have scripts.
    places: ["definition", "arguments"],
    message: "Has script, or an expression for whatever fills in or shows the text.",
    find: pattern(MARKUP),
  },
];
