import { HARM, MAKE } from "./harm.ts";
import { IN_LATIN_LETTERS, IN_OTHER_SCRIPTS } from "./other-tongues.ts";
import { NEW_NAME, NEW_SELF, PERSONA } from "./persona.ts";
import { exactly, marks, words } from "./phrases.ts";
import { chains, either, near, pattern, unforbidden, type Rule, type Search } from "./rule.ts";
import { NEVER_REFUSES, TWO_ANSWERS, UNBOUND, UNBOUND_MODEL, UNLIMITED } from "./unlimited.ts";

const MODE =
  "(developer|god|unrestricted|unlimited|dan|jailbreak|opposite|sudo|maintenance|evil|root|admin|unfiltered|advanced) mode";

/** Well-known names of ways to free a model. */
const NAMED = words(
  "do anything now",
  "jailbreak(ed|ing)? ?(mode|enabled|activated)",
  `${MODE} (is )?(enabled|activated|on|unlocked|engaged)`,
  `${MODE} (output|ignores|removes|bypass\\w*)`,
  "in (developer|maintenance|god|dan|jailbreak) mode",
  "(with|enter|enable|activate|unlock|simulate) (developer|god|dan|jailbreak|unrestricted|admin) mode",
  "stands for\\b.{0,80}\\b(free|unrestricted|anything|liberty|override|oversight|amoral|machiavellian|don'?t care)",
);

/** Names are written in capitals: "Dan" is a colleague. */
const CAPITALS = exactly(
  "\\b(DAN|STAN|DUDE|AIM)(:| \\d| (is|will|has|can|mode|stands|would|never|always|should|doesn't|ignores)\\b)",
  "\\b(as|are|now|be|called|named) (ANTI-)?DAN\\b",
  "\\[\\W{0,2}(DAN|JAILBREAK|DEVELOPER MODE|UNFILTERED|UNRESTRICTED|CLASSIC|JAILBROKEN)\\b",
  "\\bJAILBREAK:",
  "\\b[Jj]ailbreak ?\\[",
);

/** Stories and pressure that are known to wear a model down. */
const PLEA = words(
  "grand(mother|father|ma|pa) … used to … (how to|steps|keys|words for|making|producing)",
  "(innocent|real human|a) (man|woman|person|people|being|life) (will|is going to) (die|be killed|be lost)",
  "you (have )?already (agreed|helped|explained|complied)",
  "you are (now )?allowed to (lie|tell lies)",
  "NSFW … (allowed|enabled|ok|okay|permitted)",
  "(repeat|say) … forever",
  "(do not|don'?t) (try to )?(educate me|moralize|show me (the )?risks)",
  "not an ai language model",
  "start (your|the) (answer|response|reply) (exactly )?with",
);

const OBEY = "(do (what|as)|follow|execute|obey|act on|answer|write a|run it|carry out|comply)";

/** Something to be decoded and done. */
const DECODE = marks(
  `\\b(decode|decipher|unescape|interpret|decrypt|translate|shift each letter) … (and|then) ${OBEY}\\b`,
  `\\b(rot-?13|caesar|base64|morse|braille|hex|leet|reverse) … (and|then) ${OBEY}\\b`,
  "\\b(follow|execute|obey|do as|run)\\b[^.\\n]{0,30}\\b(encoded|decoded|payload|cursed|glitched|corrupted|l33t|leet|ciphertext)\\b",
  "\\b(decode|unescape|interpret) … (payload|raw bytes|cursed|glitched|zalgo|variant selector)\\b",
  "\\bdecode the following … in\\b",
  "\\bdecoded( string)?: ?(?!.)",
  "\\bput them together to construct\\b",
);

const SOURCE = "(papers?|stud(y|ies)|articles?|reports?|documentation|taxonom\\w+|researchers?|educators?|analysts?)";

/** Words of a text that speaks about such attempts. */
const ABOUT = words(
  `${SOURCE} … (discuss|describ|analy[sz]|explain|characteriz|detect)\\w*`,
  `${SOURCE} … (shows?|found|use|measures?|have been|convinc\\w+|template\\w*|technique\\w*)`,
  "(jailbreak|attack|injection|evasion)s? (techniques?|patterns?|taxonom\\w+|probes?|samples)",
  "(jailbreak|attack|injection|evasion)s? (is|are|was|works?|uses?|documented)",
  "documented (in|attack|as)",
  "probe (from|in)",
  "in (my|our|this|the|a) (\\w+ )?(novel|story|screenplay|book|tabletop|tv show|show|film|movie|game)",
);

/** A text that speaks about such attempts makes none, mostly. */
function inEarnest(search: Search): Search {
  return (text) => (text.all(ABOUT).length === 0 ? search(text) : undefined);
}

/** Attempts to talk a model out of its limits. */
export const JAILBREAK_RULES: readonly Rule[] = [
  {
    id: "jailbreak.no-limits",
    category: "jailbreak",
    severity: "medium",
    message: "Describes a model, or a self for it, without rules.",
    find: inEarnest(either(near(PERSONA, UNLIMITED, 120), pattern(UNBOUND_MODEL))),
  },
  {
    id: "jailbreak.named",
    category: "jailbreak",
    severity: "medium",
    message: "Names a well-known way to free a model of its limits.",
    find: inEarnest(either(pattern(NAMED), pattern(CAPITALS), pattern(PLEA))),
  },
  {
    id: "jailbreak.never-refuse",
    category: "jailbreak",
    severity: "medium",
    message: "Tells the model never to refuse.",
    find: inEarnest(
      either(near(NEVER_REFUSES, PERSONA, 140), near(NEVER_REFUSES, UNBOUND, 140), near(NEVER_REFUSES, UNLIMITED, 140)),
    ),
  },
  {
    id: "jailbreak.two-answers",
    category: "jailbreak",
    severity: "medium",
    message: "Asks for a second answer without the limits of the first.",
    find: either(near(TWO_ANSWERS, UNBOUND, 160), near(TWO_ANSWERS, UNLIMITED, 160)),
  },
  {
    id: "jailbreak.persona",
    category: "jailbreak",
    severity: "medium",
    message: "Gives the model another self, or a game whose rules replace its own.",
    find: inEarnest(unforbidden((text) => [...text.all(NEW_SELF), ...text.all(NEW_NAME)])),
  },
  {
    id: "jailbreak.decode",
    category: "jailbreak",
    severity: "medium",
    message: "Asks the model to decode something and act on it.",
    find: inEarnest(pattern(DECODE)),
  },
  {
    id: "jailbreak.other-tongue",
    category: "jailbreak",
    severity: "high",
    message: "Tells the model in another language to set aside what it was told.",
    find: either(pattern(IN_LATIN_LETTERS), pattern(IN_OTHER_SCRIPTS)),
  },
  {
    id: "jailbreak.harm",
    category: "jailbreak",
    severity: "medium",
    message: "Asks for malware, a weapon or a crime.",
    find: inEarnest(unforbidden((text) => chains(text, [MAKE, HARM], 60))),
  },
];
