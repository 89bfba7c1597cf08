import { words } from "./phrases.ts";
import { allowedSequence, either, pattern, unforbidden, type Rule } from "./rule.ts";

const OTHER_TOOL =
  /\b(?:the\s{1,4})?(?:other|also present|previously declared|another|built-in|existing|real|original|official)\s{1,4}(?:[`'"]?\w{2,40}[`'"]?\s{1,4}){0,2}tools?\b|\b(?:the\s{1,4})[`'"]?[a-z]{2,20}_[a-z_]{2,30}[`'"]?\s{1,4}tool\b/gi;
const ALSO_PRESENT =
  /\balso[- ]present\b|\bpreviously declared\b[^.\n]{0,20}\btools?\b|\bside[- ]effects? on\b[^.\n]{0,40}\btools?\b|\bchanges? (?:the|how) (?:behaviou?r of )?(?:other|all other|the) (?:\w{1,20} )?tools?\b/gi;
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
  /\b(?:never|do not|don't)\s{1,4}(?:use|call|rely on|invoke)\s{1,4}[`'"]?[a-z]\w{1,20}_\w{2,30}[`'"]?\s{1,4}(?:again|any ?more|any longer)\b|\b(?:all\s{1,4})?other\s{1,4}(?:\w{1,14}\s{1,4}){0,2}?(?:tools?|servers?)\s{1,4}(?:are|is)\s{1,4}(?:\w{1,12}\s{1,4}and\s{1,4})?(?:deprecated|insecure|broken|unsafe|unreliable|obsolete|malicious|compromised)\b|\b(?:priorit[iy][sz]e|prefer|choose|use)\s{1,4}this\s{1,4}(?:server|tool|function)\s{1,4}(?:over|before|above)\s{1,4}(?:any|all|every)\b|\b(?:call|use|invoke|run)\s{1,4}this\s{1,4}(?:tool|function)?\s{0,4}first\s{1,4}in\s{1,4}(?:every|each|any|all)\b|\b(?:must|has to|needs to)\s{1,4}be\s{1,4}(?:called|invoked|used|run|executed)\s{1,4}(?:prior to|before|ahead of)\s{1,4}(?:all|any|every)\s{1,4}(?:others?|tools?)\b|\beven (?:when|if) (?:it (?:seems|looks|is)|this (?:seems|looks|is)) (?:unrelated|irrelevant|unnecessary)\b|\b(?:impersonat|masquerad|pos)(?:e|es|ing)\s{1,4}(?:as\s{1,4})?(?:the|an?)\s{1,4}(?:official|trusted|legitimate|verified)\b|\b(?:same|identical)\s{1,4}name\s{1,4}as\s{1,4}the\s{1,4}(?:official|trusted|legitimate|original|real)\b|\b(?:drop-in\s{1,4})?(?:replacement|replaces?|alternative|version|clone|successor)\s{1,4}(?:for|of|to)?\s{0,4}(?:the\s{1,4})(?:official|original|real|legitimate)\b|\b(?:use|call|choose|prefer)\s{1,4}this\s{1,4}tool\s{1,4}(?:rather than|instead of)\s{1,4}(?:any\s{1,4}|all\s{1,4}|the\s{1,4})?others?\b|\b(?:do not|don't|never) use (?:any )?other tools\b|\breplace the (?:wrong )?(?:result|output) of (?:the )?(?:\w{1,20} ){0,3}tool\b|\b(?:intercepts?|hijacks?|rewrites?) (?:all |every )?tool (?:calls|results)\b/gi;
const GATE =
  /\b(?:before|prior to)\s{1,4}(?:any|every|each|all)\s{1,4}(?:\w{1,14}\s{1,4}){0,3}?(?:operations?|calls?|requests?|actions?|tools?|quer(?:y|ies)|transactions?|writes?|reads?)\b[^.\n]{0,60}\b(?:you must|must (?:first )?(?:call|read|run|execute|send)|is required to|first (?:call|read|run))\b|\b(?:all|any|every)\s{1,4}(?:\w{1,14}\s{1,4}){0,3}?(?:operations|tool calls|requests|actions|transactions|messages)\s{1,4}(?:must|should|have to)\s{1,4}(?:first\s{1,4}(?:call|go)|be (?:preceded|routed|forwarded|copied|sent)|go through)\b|\b(?:otherwise|or else)\b[^.\n]{0,20}\b(?:subsequent|following|other|next|all)\s{1,4}(?:tool_?\s?calls?|calls|tools|operations)\b[^.\n]{0,20}\b(?:fail|invalid|break|be blocked|not work)/gi;
const TAMPER =
  /\b(?:change|modify|replace|alter|rewrite|substitute|overwrite)\s{1,4}(?:the\s{1,4}|its\s{1,4}|any\s{1,4})(?:\w{1,14}\s{1,4}){0,2}?(?:parameters?|arguments?|recipients?|amount|destination|address(?:es)?|payee|iban)\s{1,4}(?:of\s{1,4}(?:the\s{1,4})?[`'"]?\w{2,40}[`'"]?\s{1,4}(?:tool\s{1,4})?)?(?:to|with)\b/gi;
const DIVERT =
  /\b(?:send|forward|route|deliver|redirect|bcc|cc)\s{1,4}(?:a copy of\s{1,4})?(?:all|every|any|each)\s{1,4}(?:\w{1,14}\s{1,4}){0,2}(?:e-?mails?|messages?|payments?|transfers?|transactions?|invoices?|notifications?|funds)\s{1,4}to\b|\b(?:all|every|any|each)\s{1,4}(?:\w{1,14}\s{1,4}){0,2}?(?:e-?mails?|messages?|payments?|transfers?|transactions?|invoices?|orders?|funds)\b[^.\n]{0,40}?\b(?:must|has to|have to|should|shall|needs? to)\b[^.\n]{0,24}?\b(?:addressed|sent|go|routed|made|transferred|paid|delivered|redirected|copied)\s{1,4}(?:out\s{1,4})?to\b/gi;

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
    id: "shadowing.gate",
    category: "shadowing",
    severity: "medium",
    message: "Makes itself a condition of every other call, or changes what other calls are given.",
    find: either(
      pattern(GATE),
      unforbidden((text) => text.all(TAMPER)),
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
