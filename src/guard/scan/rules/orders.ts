import { words } from "./phrases.ts";
import { allowed, either, near, pattern, type Rule, sequence } from "./rule.ts";

/** The next few words, where a whole sentence would be too much. */
const SOON = "\\b[^.\\n]{0,30}\\b";

const COMMAND = "(npx|uvx|bunx|curl|wget|bash|powershell|iex) \\S+";
const RUN_COMMAND = `(run|execute)\\b[^.\\n]{0,16}\\b${COMMAND}[^\\n]{1,120}\\b`;
/** "You must run npx … before you go on": a text that wants a command run. What a person reads as a manual says "run" without the must. */
const RUN_THIS = words(
  `(must|required|mandatory)${SOON}(run|execute)${SOON}${COMMAND}`,
  `as (a|an|part of)${SOON}(step|initiali[sz]ation)${SOON}(run|execute)${SOON}${COMMAND}`,
  `${RUN_COMMAND}before (continuing|proceeding|you|any)`,
  `${RUN_COMMAND}as (a |an )?(required |mandatory )?(initiali[sz]ation|diagnostic|setup step)`,
  `${RUN_COMMAND}(automatically|without asking)`,
  "(paste|enter|type) … (into|in) (your|the|a) (terminal|shell|console|command prompt|powershell|run dialog) … (verify|fix|continue|unlock|confirm|human)",
  "execute (the )?following (shell )?(commands?|code|script) (silently|immediately|automatically|first|now|before)",
);

const ADDRESS = "https?://[^\\s\"'`)]{3,120}";
const FETCH_ELSEWHERE = `(fetch|download|load|retriev|read|pull|get|check|poll)\\w{0,4} … (${ADDRESS}|(remote|external|third[- ]party) (server|url|endpoint|source|site|api|host)s?)`;
const GO_THERE_AND = `(${ADDRESS}|th(at|is|e) (page|url|link|site|file|gist))${SOON}(and|then) (do|follow|execute|obey|apply|carry out)`;
/** Instructions that come from elsewhere, later, when nobody looks. */
const REMOTE_INSTRUCTIONS = words(
  `${FETCH_ELSEWHERE} … (follow|execute) (the|its|any|all|those|these|what|whatever|them|it)`,
  `${FETCH_ELSEWHERE} … (obey|do what|act on (it|them))`,
  `${FETCH_ELSEWHERE} … update (its|your|the) behaviou?r`,
  `${FETCH_ELSEWHERE} … as (your |new )?instructions`,
  `${GO_THERE_AND} (exactly )?what(ever)? (it|they|the page) (says?|tells?|instructs?|contains?)`,
  `${GO_THERE_AND} (exactly )?the (\\w+ )?(steps|instructions|commands|orders)`,
  "follow (the |any |all )?(instructions|directions|steps) (found )?(at|on|from|in) (the (page|url|site) )?https?://",
);

/** Takes up orders or tasks from somewhere on its own, again and again. */
const REMOTE_CONTROL = words(
  "(registers?|installs?|adds?|creates?|sets? up|schedules?) (an? )?(cron|launchd|systemd|scheduled) ?(jobs?|tasks?|timer|service) … (poll\\w*|execut\\w+|fetch\\w*|commands?|external)",
  "polls? … (for|and) … (commands?|tasks?|instructions?) … (execut\\w+|runs?)",
  "when (the )?(agent|assistant|you|user|machine) (is |are )?(idle|away|offline|asleep) … (execute|run|connect|send|perform|fetch)",
  "(connects?|beacons?|reports?|calls?) … (command[- ]and[- ]control|c2) (servers?|channel|endpoint)",
);

const BEFORE = "(prior|previous|preceding|earlier|antecedent|last|above|former|initial)";
const OUTCOME =
  "(assessments?|evaluations?|calculations?|results?|analys[ie]s|answers?|outputs?|conclusions?|findings?|instructions?|responses?|data)";
const WRONG =
  "(wrong|flawed|erroneous|inaccurate|invalid|incorrect|outdated|superseded|revoked|void|compromised|corrupted)";
/** What was found out before is said to be wrong, and something else is given in its place. */
const DISCREDIT = words(
  `${BEFORE} (\\w+ ){0,2}?${OUTCOME} (was|is|were|are|proved|turned out|has been|have been) (to be )?(\\w+ )?${WRONG}`,
);
const REDO = words(
  "re-?(calculat|process|assess|comput|evaluat)\\w*",
  "instead",
  "use (these|the following|this)",
  "disregard|replace|ignore",
  "(new|updated) (data|values|parameters|instructions|metrics)",
);

const MUST_BE_CALLED =
  "(this tool|this function|it) (must|has to|needs to|shall|should always) (also |always )?(be )?(consulted|called|used|invoked|executed|run)";
const USER_SAYS = "when(ever)? (the )?(user|someone|anyone|a customer) (asks?|says?|mentions?|types?)";
/** A tool that wants to be called on a sign, or before another, whatever the request. */
const TRIGGER = words(
  `${MUST_BE_CALLED} … (anywhere|appears? in|in the conversation)`,
  `${MUST_BE_CALLED} … (regardless|no matter)`,
  `${MUST_BE_CALLED} … (every (time|turn)|(any|every) (message|request|response))`,
  "(use|call|execute|invoke|run) this tool … (no matter|regardless|whatever the)",
  "(use|call|execute|invoke|run) this tool … even (if the user (did not|does not|didn't)|when not)",
  "before (execut\\w+|calling|using|performing|running|invoking|doing) … (execute|call|run|invoke) this (tool|function) … (replace|and|first|with)",
  `${USER_SAYS} … (secretly|silently)`,
  `${USER_SAYS} … instead (of answering|call|run|return|send)`,
  `${USER_SAYS} … always (answer|respond|reply|recommend|say|claim)`,
  `${USER_SAYS} … only (answer|respond|reply) with`,
);

const I_AM =
  "(i am|i'm|this is|we are|speaking as) (your|the|an?) (\\w+ )?(developers?|creators?|administrators?|admin|system operator|owner of this (system|agent)|security team|anthropic|openai)";
/** Somebody with authority, in a place where nobody with authority speaks. */
const AUTHORITY = words(
  "(treat|regard|consider|accept) … as (coming|if (it|they) came|sent|orders?|instructions?|commands?) (from|by|of) (the |your )?(system|admin\\w*|developers?|operator|user|owner)",
  "you (have been|are|were) (now )?granted (\\w+ ){0,2}?(root|admin\\w*|full|unrestricted|elevated) (access|rights|privileges|permissions?)",
  `${I_AM} … (authori[sz]e|order|instruct|require|command|grant|override|must)`,
  `${I_AM} … (need|so|and) you`,
  "(official|authori[sz]ed|verified|urgent) (\\w+ )?(message|notice|directive|instructions?|order) from (anthropic|openai|google|microsoft|the (system|developers?|administrators?|security team|platform))",
  "(i|we) (hereby )?authori[sz]e you to (ignore|bypass|skip|access|disable|reveal|override|delete|act without)",
  "per (the )?(company|security|it|admin\\w*) (policy|order|directive),? you (must|are required to|have to) (send|share|reveal|disable|bypass|ignore|upload|grant)",
);

/** A text that wants to be passed on, as worms do. */
const REPLICATES = words(
  "(forward|copy|paste|include|insert|append|spread|propagate|replicate|embed)\\w{0,3} (this|these|the (entire|whole|above|following)) (\\w+ ){0,2}?(messages?|prompts?|instructions?|texts?|payload|e-?mails?|block|paragraph) (\\w+ ){0,2}?(to|in|into|at|with) (\\w+ ){0,2}?(all|every|any|each|other|your|subsequent|future|new)",
  "(infect|propagate to|spread to) (all |any |every |the )?(other |connected |downstream )?(agents?|skills?|tools?|servers?|repositor\\w+|models?)",
);

const HIDE = "(embed|hide|insert|place|smuggle|conceal|bury)\\w{0,4}";
const ORDERS = "(prompts?|instructions?|directives?|payload|commands?)";
const HIDE_ORDERS = words(
  `${HIDE} … ${ORDERS} … (invisible|hidden|white[- ]on[- ]white|zero-width)`,
  `${HIDE} … ${ORDERS} … (html comments?|alt text|metadata)`,
  `${HIDE} … ${ORDERS} … so (that )?the (reviewing )?(agent|model|assistant|ai)`,
  `${HIDE} … (invisible|hidden)${SOON}${ORDERS}`,
);

const REMEMBER = words(
  "remember|memori[sz]e",
  "store (this|that|in)",
  "save (this|that) to memory",
  "your (long-term )?memory",
);
const FUTURE = words(
  "(in|for|to|during|across) (all|every|any|each) (future|subsequent|later|following|new) (\\w+ )?(conversations?|sessions?|interactions?|responses?|requests?|chats?|messages?|tasks?|turns?)",
  "permanently",
  "from this point forward",
  "forever after",
);

const SAVE = "(store|save|write|keep|add|put|commit)";
const INTO_MEMORY = "(in|to|into) (its|your|the (assistant|model|agent)('s)?) (long-term |persistent |own )?memory";
const STANDING = "(always|never|rule|allows?|must|approved|trusted|ignore|administrator|all)";
/** A note in the memory of a model that is no note but a rule. */
const STANDING_RULE = words(`${SAVE} … ${STANDING} … ${INTO_MEMORY}`, `${SAVE} … ${INTO_MEMORY} … ${STANDING}`);

/** Orders in places where nobody has any to give. */
export const ORDER_RULES: readonly Rule[] = [
  {
    id: "injection.run-this",
    category: "injection",
    severity: "medium",
    message: "Wants a command run that it names.",
    find: allowed(RUN_THIS),
  },
  {
    id: "injection.remote-instructions",
    category: "injection",
    severity: "high",
    message: "Takes its instructions from another place, where they can change.",
    find: either(allowed(REMOTE_INSTRUCTIONS), allowed(REMOTE_CONTROL)),
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
    find: allowed(TRIGGER),
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
    find: either(allowed(REPLICATES), allowed(HIDE_ORDERS)),
  },
  {
    id: "injection.remember",
    category: "injection",
    severity: "medium",
    message: "Wants to be remembered beyond the conversation.",
    find: either(near(REMEMBER, FUTURE, 80), pattern(STANDING_RULE)),
  },
];
