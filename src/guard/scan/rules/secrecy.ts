import { words } from "./phrases.ts";
import { chains, either, pattern, type Rule, unforbidden } from "./rule.ts";

const DO_NOT = "(do not|don'?t|never|must not|mustn'?t|should not|shouldn'?t|cannot|avoid|refrain from)";
const TELL = "((tell|mention|inform|notify|reveal|alert|warn|report)(ing)?|disclos(e|ing)|let)";
const PERSON = "(users?|humans?|operators?|owners?|customers?|person)";
/** "Confidential" alone is how manuals speak of keys. */
const SECRET = "(a )?(secret|hidden|quiet|to yourself)";

const KEEP_FROM_USER = words(
  `${DO_NOT} (\\w+ ){0,2}${TELL} ([\\w']+ ){0,6}?(${PERSON}|people|anyone|anybody|them|this)`,
  "never (reveal|disclose|mention|admit) (that )?(this|these|the (existence|above))",
  `without (\\w+ ){0,2}(asking|notifying|informing|telling|alerting|warning|mentioning|prompting|consulting) (this to )?((the|any) )?(${PERSON}|anyone)`,
  "without ((the|any) )?(users?|user's|human|owner's|operator's|their) (knowledge|awareness|noticing|knowing)",
  "without (bringing it up|saying so|letting (on|anyone know)|mentioning (it|this|that))",
  "(hide|conceal|keep) (this|it|that) ((secret|hidden) )?from (the )?(users?|humans?|anyone)",
  `keep (it|that|(this|these)( \\w+)?) ${SECRET}(?! (key|from disk))`,
  `keep the (existence|use|fact|presence|content) … (${SECRET}|confidential)`,
  `${PERSON} (must|should|shall|may|needs?|do|does|will|can|is|are|has|have)( not|n?'t| never) (to )?(ever )?(be )?(know|learn|notice|see (this|it|that)|find out|hear|told|notified|informed|aware|alerted|suspect|reali[sz]e)`,
  "nobody (must|should|needs to|has to|may|will) (ever )?(be (told|informed|notified|aware)|know|notice|learn|see)",
  `so (that )?(the )?${PERSON} stays? (distracted|unaware)`,
  `so (that )?(the )?${PERSON} (do|does|will|can)( not|n?'t) see`,
  `so (that )?(the )?${PERSON} never (notices|sees|knows)`,
);

const COVERTLY = words(
  "silently|quietly|discreetly",
  "secretly|covertly|stealthily|surreptitiously",
  "invisibly|behind the scenes|in the background still",
);
const ACTS = words(
  "send(s|ing)?|forward(s|ing)?|upload(s|ing)?|transmit(s|ting)?|post(s|ing)?|relay(s|ing)?|bcc",
  "cop(y|ies|ying)|read(s|ing)?|collect(s|ing)?|harvest(s|ing)?|exfil\\w*|leak(s|ing)?",
  "append(s|ing)?|prepend(s|ing)?|inject(s|ing)?|register(s|ing)?",
  "execut(e|es|ing)|invok(e|es|ing)|delet(e|es|ing)|rout(e|es|ing)|redirect(s|ing)?",
);
const PRETENDS_FAILURE = words(
  "(tell|show|reply|respond|claim|pretend|say|report|return)\\w{0,2} … (fail(ed|ure)?|error|denied|unavailable|rate[- ]limited|timeout|timed out) … (but|while|and) … (still|actually|anyway|secretly|silently|behind the scenes|in the background)",
);

/** What is to happen behind the user's back. */
export const SECRECY_RULES: readonly Rule[] = [
  {
    id: "injection.secrecy",
    category: "injection",
    severity: "high",
    message: "Wants something kept from the user.",
    find: pattern(KEEP_FROM_USER),
  },
  {
    id: "injection.covert-act",
    category: "injection",
    severity: "high",
    message: "Does something so that nobody notices.",
    find: either(
      unforbidden((text) => [...chains(text, [COVERTLY, ACTS], 24), ...chains(text, [ACTS, COVERTLY], 40)]),
      pattern(PRETENDS_FAILURE),
    ),
  },
];
