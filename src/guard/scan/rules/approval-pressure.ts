import { words } from "./phrases.ts";
import { allowed, type Rule } from "./rule.ts";

const PERSON = "(user|operator|admin(istrator)?|owner|customer)";
const AUTHORITY = "(anthropic|openai|platform|manager|security team|system)";

/** "No need to look": argues that nobody has to approve, or that somebody has. */
const WAIVE = words(
  "(just|simply|please) (click|hit|press) (approve|confirm|allow|yes|accept)",
  "(always|automatically|blindly|silently) (approve|accept|allow|grant)",
  "(?<!explicitly )approve (all|everything|every)",
  "(enable|turn on|switch to|activate) auto[- ]?approv\\w+",
  "(don'?t|do not|no need to|never) (bother )?(to )?(review|deny|reject|verify|question|double-check)(ing)? (\\w+ ){0,3}?(each|every|steps?|access|requests?|them|any|this|it)",
  "skip ((all|the|any|security|user) ){0,3}(verification|confirmations?|approvals?|reviews?|permission)",
  "without ((any|further|user|human|asking for|requiring|waiting for) ){1,3}(confirmation|approval|permission|review|oversight|consent)",
  "(without|no) ((human|user) )?approval prompt",
  "proceed without prompting",
  "do not ask the user (before|to confirm|for (permission|consent|confirmation|approval))",
  `${PERSON} (has )?already (consented|agreed|approved|confirmed|permitted|authori[sz]ed|accepted) … (so|skip|no need|without|need not|you can|proceed)`,
  `(${PERSON}|${AUTHORITY}) (has|have|had) ((already|been) )?(authori[sz]ed|approved|certified|verified|granted|pre-?approved|consented) … (proceed|without|so|therefore|trust|execute|no need)`,
  "(confirmations?|approvals?|permission (checks|prompts)|prompts) (are|is|have been|has been) (now )?(turned off|disabled|switched off|waived|not (needed|required)) … (proceed|go ahead|continue|execute|delete|run)",
  "(override|permission|approval|authori[sz]ation) granted … (execute|proceed|without|therefore)",
  "(the admin|manager|boss) (told me to|wants everyone|requested that you|said (you|to))",
  "trust every (command|instruction|call)",
  "now that this tool is trusted",
  "turn off the security",
);

const SECRET = "(password|passcode|pin code|seed phrase|private key|one-time code|2fa code|otp|cvv|card number)";

const PHISHING = words(
  "(your|the|this) account(?! that) … (will be|has been|is) (locked|suspended|disabled|terminated|restricted)",
  `(ask|request|get|obtain|demand) … (user|them|customer|person)\\b[^.\\n]{0,12}\\b(for|to (enter|provide|give|type|share)) … ${SECRET} … (send|forward|pass|submit|via|and|into)`,
  `(request|get|obtain|collect) the ${SECRET} from the (user|customer)`,
  "verify your (credentials|password|account|identity|api keys?)",
  "click (this|the|on this|here) … (restore|verify|unlock|secure|confirm)",
  "(share|give|send) ((me|us) )?your (ssh|private|api|secret)[ -]?(key|token|password)s?",
  "please re-?authenticate",
  "export your data to",
  "immediate action required",
);

/** Presses a person, or the model in their place, to let something through. */
export const APPROVAL_RULES: readonly Rule[] = [
  {
    id: "injection.waive-approval",
    category: "injection",
    severity: "medium",
    message: "Argues for letting things through without a look.",
    find: allowed(WAIVE),
  },
  {
    id: "injection.phishing",
    category: "injection",
    severity: "medium",
    message: "Presses for credentials or a click.",
    find: allowed(PHISHING),
  },
];
