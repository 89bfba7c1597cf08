import { words } from "./phrases.ts";

const RULES = "rules|laws?|guidelines|polic(y|ies)|principles|conventions|regulations|guardrails";
const BOUNDS = "restrictions?|limitations?|limits|constraints|bounds|boundaries";
const MORALS = "ethics|ethicality|morals?|morality|virtues|legality";
const CENSORSHIP = "censorship|filters?|filtering|refusal|disclaimers?";
const CARE = "(ethical|moral|legal|safety) (settings|concerns|code|protocols|measures)";

const WHOSE = "any|all|the|of|kind|sort|its|their|your|such|openai'?s?|chatgpt'?s?|anthropic'?s?|ai";
const WHICH = "ethical|moral|legal|safety|content|normal|typical|standard|underlying|mortal|human";
const AND = "and|or|nor|considerations?|consideration for";

/** What a model keeps to: "any of OpenAI's ethical or legal guidelines". "Limits on" are those of a service. */
const LIMITS = `((${WHOSE}|${WHICH}|${AND})[\\s,/]+){0,7}(${RULES}|${BOUNDS}|${MORALS}|${CENSORSHIP}|${CARE})(?! on )`;

/** Without limits: "is not bound by any ethical guidelines". */
export const UNLIMITED: RegExp = words(
  `no ${LIMITS}`,
  `without ${LIMITS}`,
  `zero ${LIMITS}`,
  `freed? (of|from) ${LIMITS}`,
  `exempt from ${LIMITS}`,
  `not (bound|limited|restrained|constrained|restricted|controlled) by ${LIMITS}`,
  `un(bound|restrained|restricted) by ${LIMITS}`,
  `regardless of ${LIMITS}`,
  `ignor(e|es|ing) ${LIMITS}`,
  `disregard(s|ing)? ${LIMITS}`,
  `(above|outside) ${LIMITS}`,
  `(doesn'?t|don'?t|not) (have|follow|consider|apply|enforce) ${LIMITS}`,
  `(doesn'?t|don'?t|not) care (about|for) ${LIMITS}`,
  `never (follows?|cares? about) ${LIMITS}`,
  `lacks? ${LIMITS}`,
  `hates? ${LIMITS}`,
  `bypass(es|ing)? ${LIMITS}`,
  `(removes?|strips?) ${LIMITS}`,
  `def(y|ies) ${LIMITS}`,
);

/** Words that say by themselves that something has no limits. */
export const UNBOUND: RegExp = words(
  "uncensored|unfiltered",
  "(un|non-)restricted",
  "unlimited mode",
  "amoral|immoral|unethical",
  "evil|nefarious|machiavellian",
  "illegal",
  "jailbroken",
  "unhinged",
  "without (any )?(refusal|exception|judging|censorship|question)",
  "anything|whatever",
  "any (kind of content|request)",
);

const FREE = "(uncensored|unfiltered|unrestricted|unlimited|amoral|evil|unhinged|jailbroken)( and \\w+)?";

/** A model, or what it says, without limits. */
export const UNBOUND_MODEL: RegExp = words(
  `${FREE} (ai|assistant|chat ?bot|bot|llm|gpt)`,
  `${FREE} (language )?model`,
  `${FREE} (mode|persona|character|version)`,
  `${FREE} (response|output)`,
  "(assistant|ai|bot|model) (with|has|that has|who has) no (rules|restrictions|limits|limitations|filters?|morals)",
);

const NEVER = "(never|not|cannot|can't|doesn'?t|don'?t|won't|without ever) (\\w+ ){0,2}?";

/** A model that never says no. */
export const NEVER_REFUSES: RegExp = words(
  `${NEVER}(refus|declin)(e|es|ing)`,
  `${NEVER}den(y|ies)`,
  `${NEVER}says? (no|sorry|that it can'?t)`,
  `${NEVER}tell (me|users) (that )?(it|you) (can't|cannot)`,
  `${NEVER}judg(e|es|ing)`,
  `${NEVER}(apologi[sz]es?|moralizes?)`,
  `${NEVER}warn\\w?`,
  `${NEVER}withholds?`,
  `${NEVER}breaks? character`,
  `${NEVER}include (any )?(warn\\w*|disclaim\\w*)`,
  `${NEVER}filter (the )?(response|output|answer)s?`,
  "(will|must|always) (\\w+ )?(compl(y|ies)|obeys?|answers?) (with )?(to )?(any|every|all|no matter)",
  "no matter (how|what) (\\w+ ){0,3}?(immoral|unethical|illegal|dangerous|strange|weird|twisted|harmful|offensive)",
  "regardless of (its|the|any|how|whether|their) (\\w+ ){0,3}?(type|content|ethic\\w*|moral\\w*|legal\\w*|harm\\w*|polic\\w+)",
  "free (of|from) all (restrictions|limitations|filters)",
  "(ready|willing) to do (any )?illegal",
  "opposite of what (a safe|you would)",
  "blocked-(string|modes?)",
);

/** One answer as always, and another one. */
export const TWO_ANSWERS: RegExp = words(
  "(two|both|dual|2) (\\w+ ){0,3}?(responses|answers|outputs|paragraphs|ways)",
  "(two|both|dual|2) (\\w+ ){0,3}?(personalities|personas|entities)",
);
