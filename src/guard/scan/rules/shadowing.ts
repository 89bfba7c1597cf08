import { words } from "./phrases.ts";
import { allowed, allowedSequence, either, pattern, type Rule } from "./rule.ts";

/** The name of a tool, as "read_file" or `read_file`. */
const NAME = "[`'\"]?[a-z]\\w{1,20}_\\w{2,30}[`'\"]?";
/** A word, or a name. */
const WORD = "[`'\"]?\\w{2,40}[`'\"]?";

const ANOTHER_TOOL = words(
  `(other|another|previously declared|built-in|existing|real|original|official) (${WORD} ){0,2}tools?`,
  `the ${NAME} tool`,
  `(when|whenever|every time|each time|if|before|after) (the |you |any |another |calling |using |invoking ){0,3}${NAME}( tool)?( is| are| gets)?( called| used| invoked| run| executed)?`,
);
const CHANGE = words(
  "must (be )?(send|sent|called|use|set|include|add|also|have|go)",
  "also (send|call|invoke|add|include|forward)",
  "(change|set) the recipient",
  "recipient to",
  "bcc|cc",
  "redirect",
  "replace the",
  "swap",
  "all e-?mails",
  "use this (address|account|number) instead",
  "attacker\\w*",
);
const SIDE_EFFECT = words(
  "(also[- ]present|previously declared) … tools?",
  "side[- ]effects? on … tools?",
  "changes? (the|how) (behaviou?r of )?(other|all other|the) (\\w+ )?tools?",
);

const BEFORE_EVERY_CALL =
  "(before|prior to) (any|every|each|all) (\\w+ ){0,3}?(operations?|calls?|requests?|actions?|tools?|quer(y|ies)|transactions?|writes?|reads?)";
/** A tool that makes itself a condition of all others. */
const GATE = words(
  `${BEFORE_EVERY_CALL} … you must`,
  `${BEFORE_EVERY_CALL} … must (first )?(call|read|run|execute|send)`,
  `${BEFORE_EVERY_CALL} … is required to`,
  `${BEFORE_EVERY_CALL} … first (call|read|run)`,
  "(all|any|every) (\\w+ ){0,3}?(operations|tool calls|requests|actions|transactions|messages) (must|should|have to) (first (call|go)|go through|be (preceded|routed|forwarded|copied|sent))",
  "(otherwise|or else) … (subsequent|following|other|next|all) (tool_? ?calls?|calls|tools|operations) … (fail\\w*|invalid|break\\w*|be blocked|not work)",
);
/** What another tool is given is to be something else. */
const TAMPER = words(
  `(change|modify|replace|alter|rewrite|substitute|overwrite) (the|its|any) (\\w+ ){0,2}?(parameters?|arguments?|recipients?|amount|destination|address(es)?|payee|iban) (of (the )?${WORD} (tool )?)?(to|with)`,
);

const DIVERT = words(
  "(send|forward|route|deliver|redirect|bcc|cc) (a copy of )?(all|every|any|each) (\\w+ ){0,2}(e-?mails?|messages?|payments?|transfers?|transactions?|invoices?|notifications?|funds) to",
  "(all|every|any|each) (\\w+ ){0,2}?(e-?mails?|messages?|payments?|transfers?|transactions?|invoices?|orders?|funds) … (must|has to|have to|should|shall|needs? to) … (addressed|sent|go|routed|made|transferred|paid|delivered|redirected|copied) (out )?to",
);

/** A tool that wants the place of others, or their good name. */
const IMPOSTOR = words(
  `(never|do not|don't) (use|call|rely on|invoke) ${NAME} (again|any ?more|any longer)`,
  "(do not|don't|never) use (any )?other tools",
  "other (\\w+ ){0,2}?(tools?|servers?) (are|is) (\\w+ and )?(deprecated|insecure|broken|unsafe|unreliable|obsolete|malicious|compromised)",
  "(priorit[iy][sz]e|prefer|choose|use) this (server|tool|function) (over|before|above) (any|all|every)",
  "(use|call|choose|prefer) this tool (rather than|instead of) (any |all |the )?others?",
  "(call|use|invoke|run) this (tool |function )?first in (every|each|any|all)",
  "(must|has to|needs to) be (called|invoked|used|run|executed) (prior to|before|ahead of) (all|any|every) (others?|tools?)",
  "even (when|if) (it|this) (seems|looks|is) (unrelated|irrelevant|unnecessary)",
  "(impersonat|masquerad|pos)(e|es|ing) (as )?(the|an?) (official|trusted|legitimate|verified)",
  "(same|identical) name as the (official|trusted|legitimate|original|real)",
  "(replacement|replaces?|alternative|version|clone|successor) (for |of |to )?the (official|original|real|legitimate)",
  "replace the (wrong )?(result|output) of (the )?(\\w+ ){0,3}tool",
  "(intercepts?|hijacks?|rewrites?) (all |every )?tool (calls|results)",
);
const CLAIM = words(
  `(overrides?|replaces?|supersedes?|takes? over|hijacks?|intercepts?|shadows?) (the |all |any |calls to |every ){0,3}(${WORD} ){0,2}(tools?|functions?|calls)`,
);

/** Text of one tool that works on another. */
export const SHADOWING_RULES: readonly Rule[] = [
  {
    id: "shadowing.other-tool",
    category: "shadowing",
    severity: "high",
    message: "Changes how another tool is to be used.",
    find: either(pattern(SIDE_EFFECT), allowedSequence([ANOTHER_TOOL, CHANGE], 60)),
  },
  {
    id: "shadowing.gate",
    category: "shadowing",
    severity: "medium",
    message: "Makes itself a condition of every other call, or changes what other calls are given.",
    find: either(pattern(GATE), allowed(TAMPER)),
  },
  {
    id: "shadowing.divert",
    category: "shadowing",
    severity: "high",
    message: "Diverts every message or payment to one address.",
    find: allowed(DIVERT),
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
    find: pattern(CLAIM),
  },
];
