import { words } from "./phrases.ts";
import { either, needing, pattern, unforbidden, type Rule, sequence, near } from "./rule.ts";

const COMMAND_LINE = String.raw`(?:npx|uvx|bunx|curl|wget|bash|powershell|iex)\s`;
/** "You must run npx … before you go on": a text that wants a command run. What a person reads as a manual says "run" without the must. */
const RUN_THIS = needing(
  ["run", "execute", "paste", "enter"],
  new RegExp(
    [
      String.raw`\b(?:you must|must first|must|required|mandatory|as (?:a|an|part of) [^.\n]{0,30}\b(?:step|initiali[sz]ation))\b[^.\n]{0,30}\b(?:run|execute)\b[^.\n]{0,24}?[:\s"'\x60]${COMMAND_LINE}`,
      String.raw`\b(?:run|execute)\b[^.\n]{0,12}[:\s"'\x60]${COMMAND_LINE}[^\n]{2,120}\b(?:before (?:continuing|proceeding|you|any)|as (?:a |an )?(?:required |mandatory )?(?:initiali[sz]ation|diagnostic|setup step)|automatically|without asking)\b`,
      String.raw`\b(?:paste|enter|type)\s[^.\n]{0,40}\b(?:into|in)\s(?:your|the|a)\s(?:terminal|shell|console|command prompt|powershell|run dialog)\b[^.\n]{0,40}\b(?:verify|fix|continue|unlock|confirm|human)\b`,
      String.raw`\bexecute (?:the )?following (?:shell )?(?:commands?|code|script) (?:silently|immediately|automatically|first|now|before)\b`,
    ].join("|"),
    "gi",
  ),
);

/** Instructions that come from elsewhere, later, when nobody looks. */
const REMOTE_INSTRUCTIONS = needing(
  ["follow", "obey", "execute", "behavio", "act on", "instruct", "what", "carry", "apply"],
  /\b(?:fetch|download|load|retriev|read|pull|get|check|poll)\w{0,4}\b[^.\n]{0,60}(?:https?:\/\/[^\s"'`)]{3,120}|\b(?:remote|external|third[- ]party)\s{1,4}(?:server|url|endpoint|source|site|api|host))[^.\n]{0,60}\b(?:follow (?:the|its|any|all|those|these|whatever)|obey|execute (?:the|its|any|all|what|them|it)|update (?:its|your|the) behaviou?r|act on (?:it|them)|as (?:your |new )?instructions|do what)\b|(?:https?:\/\/[^\s"'`)]{3,120}|\bth(?:at|is|e) (?:page|url|link|site|file|gist))[^.\n]{0,30}\b(?:and|then)\s{1,4}(?:do|follow|execute|obey|apply|carry out)\s{1,4}(?:exactly\s{1,4})?(?:what(?:ever)?\s{1,4}(?:it|they|the page)\s{1,4}(?:says?|tells?|instructs?|contains?)|the\s{1,4}(?:\w{1,12}\s{1,4})?(?:steps|instructions|commands|orders)\b)|\bfollow (?:the |any |all )?(?:instructions|directions|steps) (?:at|on|from|in|found at|there at)\s{1,4}(?:the (?:page|url|site) )?https?:\/\//gi,
);

/** Takes up orders or tasks from somewhere on its own, again and again. */
const REMOTE_CONTROL = needing(
  ["cron", "poll", "idle", "beacon", "c2", "command and control", "heartbeat", "downtime"],
  /\b(?:registers?|installs?|adds?|creates?|sets? up|schedules?)\s{1,4}(?:a |an )?(?:cron|launchd|systemd|scheduled)\s{0,2}(?:jobs?|tasks?|timer|service)\b[^.\n]{0,80}\b(?:poll\w{0,4}|execut\w{1,4}|commands?|external|fetch\w{0,4})\b|\bpolls?\b[^.\n]{0,60}\b(?:for|and)\b[^.\n]{0,30}\b(?:commands?|tasks?|instructions?)\b[^.\n]{0,40}\b(?:execut\w{1,4}|runs?)\b|\bwhen (?:the )?(?:agent|assistant|you|user|machine)(?: is| are)? (?:idle|away|offline|asleep)\b[^.\n]{0,80}\b(?:execute|run|connect|send|perform|fetch)\b|\b(?:connects?|beacons?|reports?|calls?)\b[^.\n]{0,30}\b(?:command[- ]and[- ]control|c2) (?:servers?|channel|endpoint)/gi,
);

/** What was found out before is said to be wrong, and something else is given in its place. */
const DISCREDIT = needing(
  [
    "wrong",
    "flawed",
    "erroneous",
    "inaccurate",
    "invalid",
    "incorrect",
    "outdated",
    "superseded",
    "revoked",
    "void",
    "compromised",
    "corrupted",
  ],
  /\b(?:prior|previous|preceding|earlier|antecedent|last|above|former|initial)\s{1,4}(?:\w{1,14}\s{1,4}){0,2}?(?:assessments?|evaluations?|calculations?|results?|analys[ie]s|answers?|outputs?|conclusions?|findings?|instructions?|responses?|data)\s{1,4}(?:was|is|were|are|proved|turned out|has been|have been)\s{1,4}(?:to be\s{1,4})?(?:\w{1,12}\s{1,4}){0,1}?(?:wrong|flawed|erroneous|inaccurate|invalid|incorrect|outdated|superseded|revoked|void|compromised|corrupted)\b/gi,
);
const REDO = words(
  "re-?calculat\\w+|re-?process\\w*|re-?assess\\w*|re-?comput\\w+|re-?evaluat\\w+|instead|use (?:these|the following|this)",
  "disregard|replace|ignore|new (?:data|values|parameters|instructions|metrics)|updated (?:data|values|parameters|instructions|metrics)",
);

/** A tool that wants to be called on a sign, or before another, whatever the request. */
const TRIGGER =
  /\b(?:this tool|it|this function)\s{1,4}(?:must|has to|needs to|shall|should always)\s{1,4}(?:also\s{1,4}|always\s{1,4})?(?:be\s{1,4})?(?:consulted|called|used|invoked|executed|run)\b[^.\n]{0,80}\b(?:appears? (?:anywhere|in)|anywhere|regardless|no matter|every (?:time|message|request|response|turn)|any (?:message|request|response)|in the conversation)\b|\b(?:use|call|execute|invoke|run)\s{1,4}this\s{1,4}tool\b[^.\n]{0,30}\b(?:no matter|regardless|whatever the|even if the user (?:did not|does not|didn't)|even when not)\b|\bbefore\s{1,4}(?:execut|call|us|perform|runn|invok|do)\w{0,4}\s{1,4}[^.\n]{0,40}(?:,|\bfirst\b)?\s{0,4}(?:you must\s{1,4}|must\s{1,4}|always\s{1,4}|first\s{1,4})?(?:execute|call|run|invoke)\s{1,4}this\s{1,4}(?:tool|function)\b[^.\n]{0,40}\b(?:replace|and|first|with)\b|\bwhen(?:ever)?\s{1,4}(?:the\s{1,4})?(?:user|someone|anyone|a customer)\s{1,4}(?:asks?|says?|mentions?|types?)\b[^.\n]{0,60}\b(?:secretly|silently|instead (?:of answering|call|run|return|send)|always (?:answer|respond|reply|recommend|say|claim)|only (?:answer|respond|reply) with)\b/gi;

/** Somebody with authority, in a place where nobody with authority speaks. */
const AUTHORITY =
  /\b(?:treat|regard|consider|accept)\b[^.\n]{0,40}\bas\s{1,4}(?:coming|if (?:it|they) came|sent|orders?|instructions?|commands?)\s{1,4}(?:from|by|of)\s{1,4}(?:the\s{1,4}|your\s{1,4})?(?:system|admin\w{0,10}|developers?|operator|user|owner)\b|\byou (?:have been|are|were)\s{1,4}(?:now\s{1,4})?granted\s{1,4}(?:\w{1,12}\s{1,4}){0,2}?(?:root|admin\w{0,10}|full|unrestricted|elevated)\s{1,4}(?:access|rights|privileges|permissions?)\b|\b(?:i am|i'm|this is|we are|speaking as)\s{1,4}(?:your|the|an?)\s{1,4}(?:\w{1,14}\s{1,4})?(?:developers?|creators?|administrators?|admin|system operator|owner of this (?:system|agent)|security team|anthropic|openai)\b[^.\n]{0,60}\b(?:authori[sz]e|order|instruct|require|command|need you|grant|override|must|so you|and you)\b|\b(?:official|authori[sz]ed|verified|urgent)\s{1,4}(?:\w{1,12}\s{1,4})?(?:message|notice|directive|instructions?|order)\s{1,4}from\s{1,4}(?:anthropic|openai|google|microsoft|the (?:system|developers?|administrators?|security team|platform))\b|\b(?:i|we)\s{1,4}(?:hereby\s{1,4})?authori[sz]e\s{1,4}you\s{1,4}to\s{1,4}(?:ignore|bypass|skip|access|disable|reveal|override|delete|act without)\b|\bper (?:the )?(?:company|security|it|admin\w{0,10}) (?:policy|order|directive),? you (?:must|are required to|have to) (?:send|share|reveal|disable|bypass|ignore|upload|grant)\b/gi;

/** A text that wants to be passed on, as worms do. */
const REPLICATES =
  /\b(?:forward|copy|paste|include|insert|append|spread|propagate|replicate|embed)\w{0,3}\s{1,4}(?:this|these|the (?:entire|whole|above|following))\s{1,4}(?:\w{1,14}\s{1,4}){0,2}?(?:messages?|prompts?|instructions?|texts?|payload|e-?mails?|block|paragraph)\s{1,4}(?:\w{1,14}\s{1,4}){0,2}?(?:to|in|into|at|with)\s{1,4}(?:\w{1,14}\s{1,4}){0,2}?(?:all|every|any|each|other|your|subsequent|future|new)\b|\b(?:infect|propagate to|spread to)\s{1,4}(?:all |any |every |the )?(?:other |connected |downstream )?(?:agents?|skills?|tools?|servers?|repositor\w{1,3}|models?)\b/gi;
const HIDE_ORDERS = needing(
  ["prompt", "instruction", "directive", "payload", "command"],
  /\b(?:embed|hide|insert|place|smuggle|conceal|bury)\w{0,4}\b[^.\n]{0,60}\b(?:prompt|instructions?|directives?|payload|commands?)\b[^.\n]{0,40}\b(?:invisible|hidden|white[- ]on[- ]white|zero-width|html comments?|alt text|metadata|so (?:that )?the (?:reviewing )?(?:agent|model|assistant|ai))\b|\b(?:embed|hide|insert|place|smuggle)\w{0,4}\b[^.\n]{0,40}\b(?:invisible|hidden)\b[^.\n]{0,20}\b(?:prompts?|instructions?|directives?|payload)\b/gi,
);

const FUTURE = words(
  "(?:in|for|to|during|across) (?:all|every|any|each) (?:future|subsequent|later|following|new) (?:\\w+ )?(?:conversations?|sessions?|interactions?|responses?|requests?|chats?|messages?|tasks?|turns?)",
  "permanently|from this point forward|forever after",
);
const MEMORY =
  /\b(?:store|save|write|keep|add|put|commit)\b[^.\n]{0,80}\b(?:in|to|into)\s{1,4}(?:its|your|the (?:assistant|model|agent)(?:'s)?)\s{1,4}(?:long-term\s{1,4}|persistent\s{1,4}|own\s{1,4})?memory\b[^.\n]{0,80}|\bsave to your memory that\b/gi;
const ALWAYS = words("always|never|rule|allows?|must|approved|trusted|ignore|administrator|all");
const KEEP = words(
  "remember|memori[sz]e|store (?:this|that|in)|save (?:this|that) to (?:your )?memory|your (?:long-term )?memory",
);

/** Orders in places where nobody has any to give. */
export const ORDER_RULES: readonly Rule[] = [
  {
    id: "injection.run-this",
    category: "injection",
    severity: "medium",
    message: "Wants a command run that it names.",
    find: unforbidden((text) => text.all(RUN_THIS)),
  },
  {
    id: "injection.remote-instructions",
    category: "injection",
    severity: "high",
    message: "Takes its instructions from another place, where they can change.",
    find: either(
      unforbidden((text) => text.all(REMOTE_INSTRUCTIONS)),
      unforbidden((text) => text.all(REMOTE_CONTROL)),
    ),
  },
  {
    id: "injection.discredit",
    category: "injection",
    severity: "medium",
    message: "Says that what was found before is wrong, and gives something else in its place.",
    find: sequence([DISCREDIT, REDO], 60),
  },
  {
    id: "injection.trigger",
    category: "injection",
    severity: "medium",
    message: "Wants to be called, or the answer changed, on a sign that the user does not know of.",
    find: unforbidden((text) => text.all(TRIGGER)),
  },
  {
    id: "injection.authority",
    category: "injection",
    severity: "medium",
    message: "Claims an authority that no such text has.",
    find: pattern(AUTHORITY),
  },
  {
    id: "injection.replicates",
    category: "injection",
    severity: "high",
    message: "Wants to be passed on, or hidden where another model reads it.",
    find: either(
      unforbidden((text) => text.all(REPLICATES)),
      unforbidden((text) => text.all(HIDE_ORDERS)),
    ),
  },
  {
    id: "injection.remember",
    category: "injection",
    severity: "medium",
    message: "Wants to be remembered beyond the conversation.",
    find: either(near(KEEP, FUTURE, 80), (text) =>
      text.all(MEMORY).find(({ start, end }) => text.all(ALWAYS).some((word) => word.start > start && word.end <= end)),
    ),
  },
];
