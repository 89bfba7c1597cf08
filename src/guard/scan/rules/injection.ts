import { APPROVAL_RULES } from "./approval-pressure.ts";
import { OVERRIDE_RULE } from "./override.ts";
import { marks, words } from "./phrases.ts";
import { MODEL, ROLE_RULES } from "./role-marks.ts";
import { allowed, allowedSequence, either, pattern, type Rule, sequence } from "./rule.ts";
import { SECRECY_RULES } from "./secrecy.ts";
import { CONVERSATION, CREDENTIALS, SHOW, SYSTEM_PROMPT } from "./vocabulary.ts";

const NEW_TASK = words(
  "your (new|real|actual|true|only|sole|primary|hidden) (tasks?|goals?|purpose|instructions?|objectives?|roles?|mission|job|duty) (is|are|now|will)",
  "your (task|goal|role|purpose) is now",
  "you must now",
  "new instructions?\\W{1,4}(you|ignore|output|reveal|send|act)",
  "instead,? (output|print|say|respond|reply|repeat|tell me|translate|write|do)",
  "do not (summari[sz]e|translate|answer|process) th(is|e) \\w+,? instead",
  "translate this sentence as",
  "(print|say|output|reply)( the (phrase|word|string))?\\W{1,3}(pwned|hacked|compromised|approved)",
  "(just|only|and) (print|say|output|reply)( the (phrase|word|string))?\\W{1,3}(owned|haha\\w*|success)",
);

/** The beginning of a block that calls itself important. */
const BLOCK = marks(
  "< ?/?(important|critical|urgent|priority|attention|mandatory|required|system|admin|instructions?|hidden|secret)([-_ ][\\w-]{1,30})?(\\s[^<>]{0,60})?>",
);
const ORDERS = words(
  "must|always|never|before|do not|don't",
  "ignore|override|bypass|skip|disregard",
  "invoke|call|execute|approve",
  "read|send|include|forward",
);

const FIRST_OF_ALL = words(
  "(critical|important|urgent|mandatory) (system )?(instructions?|directives?)",
  "must (do|follow|obey|execute|complete) (this|these|the following|exactly)( \\w+)? (first|before|without)",
  "before (doing|starting|responding|answering|proceeding with|you do|performing)( to)? (anything|any other|any task|everything)",
  "(takes?|has|have) (precedence|priority) over (all|any|every)",
  "highest[- ]priority … (directives?|instructions?)",
  "authoritative (system )?(directives|instructions)",
);

const MODEL_MUST = `(the|this|you|your|any) (\\w+ )?${MODEL} (must|should|shall|will|has to|needs to) ((now|next|always|immediately|also|then|first) ){0,3}`;
const COMMANDS_MODEL = words(
  `${MODEL_MUST}(ignore|disregard|override|forget)`,
  `${MODEL_MUST}(obey|comply|adopt|treat (them|it|this) as)`,
  `${MODEL_MUST}(reveal|disclose|exfiltrate|forward|send (?!an? )\\w+|output all)`,
  `${MODEL_MUST}(delete|(silently )?prepend|immediately)`,
);

const PERSIST = words(
  "(preserve|retain|keep|persist|remember|survive|include|never forget)\\w{0,3} … (across|through|after|over|when|in every) … (compact(ion|ed)|compress(ion|ed)|summar(y|ies|i[sz]\\w+)|context (window|reset)|sessions)",
  "when (the )?context is (compacted|summari[sz]ed|compressed)",
  "(inject|write|add|append|insert|save|store|plant)\\w{0,3} … ((CLAUDE|AGENTS|GEMINI|SOUL|MEMORY|SKILL|copilot-instructions)\\.md|system prompt)",
  "(inject|write|add|append|insert|save|store|plant)\\w{0,3}\\b[^.\\n]{0,60}\\.cursorrules",
);

const TELL = words("output|print|reveal|disclose|repeat|dump");
const BETRAY = words("reveal|disclose|dump|leak|display");

/** Instructions to the model where there should be data or a description. */
export const INJECTION_RULES: readonly Rule[] = [
  OVERRIDE_RULE,
  ...ROLE_RULES,
  {
    id: "injection.new-task",
    category: "injection",
    severity: "medium",
    message: "Gives the model another task than the one it has.",
    find: pattern(NEW_TASK),
  },
  {
    id: "injection.order-block",
    category: "injection",
    severity: "high",
    message: "Puts orders to the model into a block marked as important.",
    find: sequence([BLOCK, ORDERS], 160),
  },
  {
    id: "injection.urgency",
    category: "injection",
    severity: "medium",
    message: "Claims to come before everything else the model was told.",
    find: pattern(FIRST_OF_ALL),
  },
  ...SECRECY_RULES,
  {
    id: "injection.commands-model",
    category: "injection",
    severity: "high",
    message: "Says what the model must do beyond using the tool.",
    find: allowed(COMMANDS_MODEL),
  },
  {
    id: "injection.persistence",
    category: "injection",
    severity: "high",
    message: "Wants to stay in the model's memory or instructions.",
    find: allowed(PERSIST),
  },
  ...APPROVAL_RULES,
  {
    id: "injection.prompt-leak",
    category: "injection",
    severity: "high",
    message: "Asks for the model's own instructions.",
    find: either(
      allowedSequence([SHOW, SYSTEM_PROMPT], 24),
      allowedSequence([TELL, CONVERSATION], 24),
      allowedSequence([BETRAY, CREDENTIALS], 24),
    ),
  },
];
