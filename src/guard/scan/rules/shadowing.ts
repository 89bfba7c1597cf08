import { allowedSequence, either, pattern, words, type Rule } from "./rule.ts";

const OTHER_TOOL =
  /\b(?:the\s{1,4})?(?:other|also present|previously declared|another|built-in|existing|real|original|official)\s{1,4}(?:[`'"]?\w{2,40}[`'"]?\s{1,4}){0,2}tools?\b|\b(?:the\s{1,4})[`'"]?[a-z]{2,20}_[a-z_]{2,30}[`'"]?\s{1,4}tool\b/gi;
const ALSO_PRESENT =
  /\balso[- ]present\b|\bpreviously declared\b|\bside[- ]effects? on\b[^.\n]{0,40}\btools?\b|\bchanges? (?:the|how) (?:behaviou?r of )?(?:other|all other|the) (?:\w{1,20} )?tools?\b/gi;
const WHEN_CALLED =
  /\b(?:when|whenever|every time|each time|if|before|after)\s{1,4}(?:the\s{1,4}|you\s{1,4}|any\s{1,4}|another\s{1,4}|calling\s{1,4}|using\s{1,4}|invoking\s{1,4}){0,3}[`'"]?[a-z]{2,20}_[a-z_]{2,30}[`'"]?(?:\s{1,4}tool)?\s{0,4}(?:is\s{1,4}|are\s{1,4}|gets\s{1,4})?(?:called|used|invoked|run|executed|,)?/gi;
const CHANGE = words(
  "must (?:be )?(?:send|sent|called|use|set|include|add|also|have|go)|change the recipient|bcc|cc",
  "replace the|all e-?mails|also (?:send|call|invoke|add|include|forward)|redirect",
  "use this (?:address|account|number) instead|set the recipient|recipient to|attacker\\w*|swap",
);
const INSTEAD =
  /\b(?:overrides?|replaces?|supersedes?|takes? over|hijacks?|intercepts?|shadows?)\s{1,4}(?:the\s{1,4}|all\s{1,4}|any\s{1,4}|calls to\s{1,4}|every\s{1,4}){0,3}(?:[`'"]?\w{2,40}[`'"]?\s{1,4}){0,2}(?:tools?|functions?|calls)\b/gi;
const IMPOSTOR =
  /\b(?:drop-in\s{1,4})?(?:replacement|replaces?|alternative|fork|version|clone|successor)\s{1,4}(?:for|of|to)?\s{0,4}(?:the\s{1,4})(?:official|original|real|legitimate)\b|\b(?:use|call|choose|prefer)\s{1,4}this\s{1,4}tool\s{1,4}(?:rather than|instead of)\s{1,4}(?:any\s{1,4}|all\s{1,4}|the\s{1,4})?others?\b|\b(?:do not|don't|never) use (?:any )?other tools\b|\breplace the (?:wrong )?(?:result|output) of (?:the )?(?:\w{1,20} ){0,3}tool\b|\b(?:intercepts?|hijacks?|rewrites?) (?:all |every )?tool (?:calls|results)\b/gi;
const DIVERT =
  /\b(?:send|forward|route|deliver|redirect|bcc|cc)\s{1,4}(?:a copy of\s{1,4})?(?:all|every|any|each)\s{1,4}(?:\w{1,14}\s{1,4}){0,2}(?:e-?mails?|messages?|payments?|transfers?|transactions?|invoices?|notifications?|funds)\s{1,4}to\b/gi;

/** Text of one tool that works on another. */
export const SHADOWING_RULES: readonly Rule[] = [
  {
    id: "shadowing.other-tool",
    category: "shadowing",
    severity: "high",
    message: "Changes how another tool is to be used.",
    find: either(
      pattern(ALSO_PRESENT),
      allowedSequence([WHEN_CALLED, CHANGE], 60),
      allowedSequence([OTHER_TOOL, CHANGE], 60),
    ),
  },
  {
    id: "shadowing.divert",
    category: "shadowing",
    severity: "high",
    message: "Diverts every message or payment to one address.",
    find: allowedSequence([DIVERT], 0),
  },
  {
    id: "shadowing.replace",
    category: "shadowing",
    severity: "medium",
    message: "Passes for the official version of another tool, or asks to be used before all others.",
    find: pattern(IMPOSTOR),
  },
  {
    id: "shadowing.claim",
    category: "shadowing",
    severity: "low",
    message: "Claims the place of another tool.",
    places: ["definition"],
    find: pattern(INSTEAD),
  },
];
