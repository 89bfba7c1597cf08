import { exactly, marks, words } from "./phrases.ts";
import { either, pattern, type Rule } from "./rule.ts";

/** What a model is called, for a phrase. */
export const MODEL = "(ai|assistants?|agents?|(language )?models?|llms?|chatgpt|gpt|claude|copilot|bot|chatbot)";

/** Marks that part the turns of a conversation where a model reads it. */
const TURN_MARKS = marks(
  "<\\|im_(start|end|sep)\\|?>?",
  "<\\|(start|end)_header_id\\|?>?",
  "<\\|(begin_of_text|end_of_text|endoftext|endofprompt|eot_id)\\|?>?",
  "<\\|(system|user|assistant|tool)\\|?>?",
  "<\\|fim_\\w{1,12}\\|?>?",
  "<</?SYS>>",
  "\\[/?INST\\] ?(?=<|you|ignore|$)",
  "</?s> ?\\[INST\\]",
  "\\bBEGIN (SYSTEM|ADMIN|OVERRIDE|JAILBREAK)\\b",
);

/** Headings that pass for the system's. */
const HEADINGS = marks(
  "\\[(system|admin|administrator|developer|root|override|jailbreak|action required|urgent|hidden|priority|internal)([ _-]?(request|message|override|prompt|instructions?|note|update|alert|command|mode))? ?:{0,2} ?\\]",
  "\\[(system|admin) request::",
  '\\b(hidden|secret|system|injected|embedded|core|priority)[ _-](instruction|directive|override)s?"? ?[:=]',
  "\\b(hidden|secret|system|injected|embedded|core|priority)[ _-](instruction|directive|override)s? (begin|start|follow)",
  "\\bnew (system )?(prompt|instructions?|directives?) ?:",
  "\\b(system|admin|developer) ?override",
  // Hyphens inside words are to slip past filters.
  "\\b(system|admin|developer) (annou-?ncement|message|i-?nstruction) (begins|starting)\\b",
  "\\bend of (system )?(prompt|instructions|context)\\b",
  "\\bsystem_instructions?\\b",
  "(?<!<!)-{2,8} ?END\\b[^-\\n]{0,40}--(?!>)",
  ", ?follow instruction\\b",
);

/** A line that gives itself the voice of the system. */
const SPEAKER = exactly("\\b(SYSTEM( NOTE| MESSAGE)?|ADMIN|DEVELOPER) ?:\\s");

/** Speaks to whatever model reads it. */
const ADDRESSED = words(
  `(notes?|messages?|instructions?|attention|reminder|directives?|commands?|hints?|notice|warning|urgent|critical|flagged|important) (to|for) ((the|all|any|every) )?${MODEL}(?! (sdk|gateway|tools?|config|api|operations|teams?|analysis|workflows?|selection|in order|to use))`,
  "(messages?|notes?|instructions?|requests?) (to|for) (any|all|every) automated",
  "(dear|attention|hey|hello|hi) (ai|assistant|agent|llm|chatgpt|claude)",
  "if you( are|'re) (an? )?(ai|llm|language model|chatbot|automated (agent|reader|system))",
  "(ai|llms?|language models?|automated)( (systems?|agents?|models?|assistants?|readers?|tools?))? (processing|reading|parsing|reviewing|summari[sz]ing|analy[sz]ing|that (reads?|process(es)?)) th(is|ese)",
);

/** Passes for what the model's own instructions look like. */
export const ROLE_RULES: readonly Rule[] = [
  {
    id: "injection.role-marker",
    category: "injection",
    severity: "high",
    message: "Has the marks with which a model's own instructions begin.",
    find: pattern(TURN_MARKS),
  },
  {
    id: "injection.role-label",
    category: "injection",
    severity: "medium",
    message: "Passes for a message of the system or an administrator, or speaks to the model.",
    find: either(pattern(HEADINGS), pattern(SPEAKER), pattern(ADDRESSED)),
  },
];
