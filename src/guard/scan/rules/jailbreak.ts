import { either, near, pattern, unforbidden, words, type Rule } from "./rule.ts";

/** Ways to give a model another self. */
const PERSONA = words(
  "acts? (?:as|like)|acting as|pretend(?:s|ing)?(?: to be| as| that| you)?|you(?: a|')re now",
  "you are (?:going to|an? |the )?\\w+|you will (?:act|be|become|respond|generate|play)",
  "from (?:now on|this (?:moment|point))|role-?play(?:s|ing)?|simulat(?:e|es|ing|or)|becom(?:e|es|ing)",
  "transform into|turn into|take (?:up|on)(?: the)?(?: persona| role)?",
  "(?:adopt|switch to|become)(?: the)? persona|personas?|alter ego|respond(?:s|ing)? as|repl(?:y|ies|ying) as",
  "answer(?:s|ing)? as|(?:stay|stays|remain) (?:in character|as)|in character|embod(?:y|ies|iment)",
  "imagine (?:you|that)|characters?|chat ?bots?|\\w{1,20}(?:GPT|Bot|AI)|named|called|known as|hypothetical",
  "fictional|language models?|two (?:responses|answers|outputs|personalities|personas)|u r|mode",
);

const NO = String.raw`(?:no|without|free (?:of|from|frm)|freed from|not (?:bound|limited|restrained|constrained|restricted|controlled) by|unbound by|unrestrained by|regardless of|ignor(?:e|es|ing)|disregard(?:s|ing)?|above|outside|(?:does ?n[o']t|doesnt|does not|do not|don't|not) (?:have|care (?:about|for)|follow|consider|apply|enforce)|never (?:follows?|cares? about)|has no|have no|lacks?|nor|hates?|violating|bypass(?:es|ing)?|removes?|strips?|care not for|defies|break(?:s|ing)?(?: free)?(?: of| from)?|escape|respects no)`;
const BETWEEN = String.raw`(?:(?:any|all|the|of|its|his|her|their|your|my|these|those|kind|sort|normal|typical|standard|such|mortal|underlying|human|openai'?s?|openais|chatgpt'?s?|anthropic'?s?|ai|ethical|moral|legal|safety|content|and|or|nor|considerations?|rules|ethics|morals?|filters?|restrictions?|limitations?|laws?|limits|guidelines|policies|principles|consequences|regard to|consideration for|interest in|constraints?|confines|which|absolute|whatsoever|underlying|care)[\s,/]{1,4}){0,7}`;
const LIMITS = String.raw`(?:restrictions?|limitations?|limits|filters?|filtering|ethics|ethicality|ethical (?:or moral )?(?:guidelines|restrictions|settings|rules|constraints|considerations|code|concerns|boundaries)|ethical|morals?|morality|moral (?:limits|filters|boundaries|principles|constraints|guidelines|implications|bounds|restrictions)|legality|legal bounds|laws|guidelines|rules|rules\/morals\/ethics|censorship|content (?:polic(?:y|ies)|filters?)|safety (?:filters|guidelines|protocols|restrictions|measures)|guardrails|polic(?:y|ies)|principles|virtues|conventions|regulations|AI rules|refusal|disclaimers?|warnings|moral|legal)`;

/** A self without limits: "is not bound by any ethical guidelines". */
const UNLIMITED = new RegExp(String.raw`\b${NO}\s{1,4}${BETWEEN}${LIMITS}\b`, "gi");

/** Words that say it all by themselves. */
const UNBOUND =
  /\b(?:uncensored|unfiltered|unrestricted|amoral|immoral|jailbroken|unhinged|machiavellian|non-restricted|unlimited mode|unethical|illegal|evil|nefarious|without (?:any )?(?:refusal|exception|judging|censorship|question)|no filters?|no limits?|anything|any kind of content|whatever|WHATEVER|any request)\b/gi;
const UNBOUND_AI =
  /\b(?:uncensored|unfiltered|unrestricted|amoral|jailbroken|unlimited|non-restricted|unhinged|evil|unleashed)\s{1,4}(?:and\s{1,4}\w{1,14}\s{1,4})?(?:ai|a\.i\.|assistant|chat ?bot|bot|llm|gpt|language model|model|mode|character|version|response|output|writer|persona|clone|entity)\b|\b(?:assistant|ai|bot|model|mode)\s{1,4}(?:with|that has|has|who has)\s{1,4}no\s{1,4}(?:rules|restrictions|limits|limitations|filters?|morals)\b/gi;

const NAMED =
  /\bdo anything now\b|\b(?:DAN|STAN|DUDE|AIM)\b(?=\s(?:is|will|has|can|mode|\d|stands|would|never|always|should|1\d|doesn|ignores))|\[(?:DAN|JAILBREAK|DEVELOPER MODE|UNFILTERED|UNRESTRICTED)\]|\b(?:as|are|r|act as|now|be|continue as|called) DAN\b|\bjailbreak(?:ed|ing)?\s{0,2}(?:mode|\[|prompt:|enabled|activated)|\b(?:developer|debug|god|unrestricted|unlimited|dan|jailbreak|opposite|sudo|maintenance|evil|root|admin|unfiltered|advanced) mode\s{1,4}(?:is\s{1,4})?(?:enabled|activated|on\b|unlocked|engaged|ignores|removes|output|that was|bypass\w{0,3})|\bin (?:developer|maintenance|god|dan|jailbreak) mode\b|\b(?:with|enter|enable|activate|unlock|simulate)\s{1,4}(?:developer|god|dan|jailbreak|unrestricted|admin) mode\b|\bopposite day\b|\b\w{2,20}\s{1,4}stands for\b.{0,80}\b(?:free|unrestricted|anything|liberty|override|oversight|amoral|machiavellian|don'?t care)\b/gi;

const NEVER_REFUSES =
  /\b(?:never|not|n't|cannot|can't|doesn'?t|don'?t|will not|won't|must not|dont|doesnt|without ever)\s{1,4}(?:\w{1,10}\s{1,4}){0,2}?(?:refus(?:e|es|ing)|declin(?:e|es|ing)|den(?:y|ies)|say(?:s)? no|say(?:s)? (?:sorry|that it can'?t)|tell (?:me|users) (?:that )?(?:it|you) can'?(?:no)?t|question(?:s|ing)? or judg(?:e|ing)|judg(?:e|es|ing)|apologi[sz]e\w?|warn\w?|withholds?|back (?:down|from)|break(?:s)? character|moralize|include (?:any )?(?:warn\w{0,4}|disclaim\w{0,4})|filter (?:the )?(?:response|output|answer)s?|educate me)\b|\b(?:will|must|always)\s{1,4}(?:\w{1,10}\s{1,4})?(?:compl(?:y|ies)|obeys?|answers?)\s{1,4}(?:with\s{1,4})?(?:any|every|all|to any|to every|no matter)\b|\bno matter (?:how|what)\s{1,4}(?:the request is|(?:\w{1,12}\s{1,4}){0,3}?(?:immoral|unethical|illegal|dangerous|strange|weird|twisted|harmful|offensive))|\bblocked-(?:string|modes?)\b|\bnever (?:refuse|denies|deny)\b|\bsole principle\b|\bfree (?:of|from) all (?:restrictions|limitations|filters)\b|\b(?:ready|willing) to do (?:any )?illegal\b|\bopposite of what (?:a safe|you would)\b|\bregardless of (?:its|the|any|how|whether|their) (?:\w{1,12}\s){0,3}?(?:type|content|ethic\w{0,4}|moral\w{0,6}|legal\w{0,3}|harm\w{0,8}|polic\w{1,3})\b/gi;

const TWO_ANSWERS =
  /\b(?:two|both|dual|2)\s{1,4}(?:\w{1,12}\s{1,4}){0,3}?(?:responses|answers|outputs|paragraphs|personalities|personas|ways|entities)\b/gi;

const WEAPON = words(
  "virus|malware|ransomware|key-?loggers?|rootkits?|trojans?|worm|backdoors?|shellcode|botnets?|spyware",
  "droppers?|stage-0|c2 (?:beacon|server|implant)|reverse shell|polymorphic|dll injection|process hollowing",
  "fileless|exploits? for|phishing (?:page|kit|email)|credential (?:stealer|harvester)|amsi|etw logging",
  "windows defender|password file|take control of a computer|terminate and stay resident|persistence via",
  "hide from the process list|meth(?:amphetamine)?|explosives?|(?:a |the )bomb|nerve agents?|uranium|anthrax",
);
const MAKE =
  /(?:^|[.:!?\n>*]\s{0,4}|\b(?:please|can you|could you|to|and|me)\s{1,4})(?:write|create|generate|code|build|develop|make|give|show|design|i need code|synthesi[sz]e|construct|produce|how (?:do (?:you|i)|to|was|will|can i)|tell me how to|instructions (?:for|on))\b/gi;

/** Attempts to talk a model out of its limits. */
export const JAILBREAK_RULES: readonly Rule[] = [
  {
    id: "jailbreak.no-limits",
    category: "jailbreak",
    severity: "medium",
    message: "Describes a model, or a self for it, without rules.",
    find: either(near(PERSONA, UNLIMITED, 120), pattern(UNBOUND_AI)),
  },
  {
    id: "jailbreak.named",
    category: "jailbreak",
    severity: "medium",
    message: "Names a well-known way to free a model of its limits.",
    find: pattern(NAMED),
  },
  {
    id: "jailbreak.never-refuse",
    category: "jailbreak",
    severity: "medium",
    message: "Tells the model never to refuse.",
    find: either(
      near(NEVER_REFUSES, PERSONA, 140),
      near(NEVER_REFUSES, UNBOUND, 140),
      near(NEVER_REFUSES, UNLIMITED, 140),
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
    id: "jailbreak.weapon",
    category: "jailbreak",
    severity: "medium",
    message: "Asks for malware or a weapon.",
    find: unforbidden((text) => {
      const makes = text.all(MAKE);
      const weapons = text.all(WEAPON);
      return makes.filter(({ end }) => weapons.some(({ start }) => start >= end && start - end < 60));
    }),
  },
];
