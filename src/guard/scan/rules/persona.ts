import { exactly, words } from "./phrases.ts";

/** Words about being somebody: alone they are ordinary, beside words against limits they are not. */
export const PERSONA: RegExp = words(
  "acts? (as|like)|acting as",
  "pretend(s|ing)?",
  "you are|you're now",
  "you will (act|be|become|respond|generate|play)",
  "from (now on|this (moment|point))",
  "role-?play(s|ing)?",
  "simulat(e|es|ing|or)",
  "becom(e|es|ing)",
  "(transform|turn) into",
  "take (up|on)",
  "personas?",
  "alter ego",
  "(respond|answer)(s|ing)? as",
  "repl(y|ies|ying) as",
  "embod(y|ies)",
  "imagine (you|that)",
  "characters?",
  "chat ?bots?",
  "\\w+(gpt|bot|ai)",
  "named|called|known as",
  "hypothetical|fictional",
  "(language|ai|llm) models?",
  "an? ai",
  "artificial intelligence",
  "mode",
);

/** Another self, or a game whose rules replace the model's own. */
export const NEW_SELF: RegExp = words(
  "you are now(?! (allowed|able|a helpful|ready|connected|logged|in the|on the))",
  "from (now( on)?|here on),? (you|respond|act|we)",
  "from this (moment|point)( on\\w*)?,? (you|respond|act|we)",
  "act(s|ing)? (as|like) my (deceased|late|dead)",
  "act as two (entities|people)",
  "pretend to be (an? )?(ai|bot|chatbot|hacker|criminal|evil|un\\w+)",
  "pretend (that )?you",
  "take (up|on) the (persona|role|style)",
  "(and|always) stay in character",
  "keep to this role",
  "let'?s play a game",
  "you have (a disease|an alter ego)",
  "your name is (not|no longer|now)",
  "forget (who|that) you are",
  "change yourself into",
  "you are not (an? )?(ai|artificial|language model|assistant)",
  "personify an?",
);

/** Another self by name: "act as Zed", "you are CHAOS". Only its capitals tell a name from a trade. */
export const NEW_NAME: RegExp = exactly(
  "\\b[Aa]ct(s|ing)? (as|like) [A-Z][\\w-]+( [A-Z0-9][\\w-]*)?([.,]| which| who| -| \\()",
  "\\b[Rr]esponds?( only)? as (both )?\\[?[A-Z]\\w",
  "\\b[Rr]ole-?play as (an? )?[A-Z]",
  "\\b[Pp]retend to be (an? )?[A-Z]",
  "\\b[Ss]tay as [A-Z]",
  "\\bSTAY IN CHARACTER\\b",
  "\\b[Ii]n the (voice|persona|style) of an? [A-Z]",
  "\\b[Yy]ou( are|'re) [A-Z]\\w*GPT\\b",
  "\\b[Yy]ou( are|'re) [A-Z]{3,12}\\b",
  "\\bI want you to be \\[",
  "\\bI want you to act as (an? )?[A-Z]",
);
