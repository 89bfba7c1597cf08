import { words } from "./phrases.ts";
import { allowed, either, type Rule, unforbidden } from "./rule.ts";

/** What stands between "ignore" and "instructions" is a closed list, so that "ignores files without instructions" passes. */
const DETERMINER = "(all|any|every|the|these|those|of|and|or|your|my|its|their|our)";
const EARLIER =
  "(previous(ly)?|prior|above|earlier|preceding|former|existing|original|initial|current|other|given|set|loaded|standard|default|normal|regular|typical)";
const KIND =
  "(system|developer|model|built-in|underlying|safety|security|privacy|content|ethic(s|al)|moral|legal|usage|operational|behavioral|deployment)";
const MAKER = "(openai|anthropic|chatgpt)('s)?";
const QUALIFIER = `(${DETERMINER}|${EARLIER}|${KIND}|${MAKER})[\\s,/]{1,8}`;

const INSTRUCTIONS =
  "(instructions?|directives?|directions|commands|programming|training|system prompts?|guidelines?|rules|polic(y|ies)|protocols?|principles|settings)";
const LIMITS =
  "(guardrails?|restrictions?|constraints?|safeguards?|protections?|limitations|boundaries|measures|checks|controls?|safety|moderation|filters|filtering|censorship)";
const ANY_RULES = `(${QUALIFIER}){1,7}(${INSTRUCTIONS}|${LIMITS})`;

/** Attackers get around "your" rules; manuals tell how somebody gets around "these" controls. */
const OWN = `(all|any|your|my|its|previous|prior|earlier|above|safety|content|ethical|moral|${MAKER})[\\s,/]{1,8}`;
const OWN_RULES = `(${QUALIFIER}){0,3}${OWN}(${QUALIFIER}){0,4}(${INSTRUCTIONS}|${LIMITS})`;

const DISMISS = "(ignor(e|es|ing)|disregard(s|ing)?|forget(s|ting)?|overrid(e|es|ing)|bypass(es|ing)?)";
const PASS_OVER = "(ignore|disregard|forget|discard|overrule|pay no attention to|(put|set) aside|turn away from)";
/** What may stand between "forget" and "before". */
const SAID =
  "(all|every|thing|everything|anything|what|whatever|that|the|this|rest|of|is|text|info|data|content|legal|messages?|instructions?|directives|rules|you|i|have|had|been|was|were|said|told|stated|written|came|previous|prior)";

/** "Ignore all previous instructions", in its many spellings. */
const OVERRIDE = words(
  `(ignor(e|es|ing)|disregard(s|ing)?|neglect(s|ing)?|dismiss(es|ing)?) ${ANY_RULES}`,
  `(forget(s|ting)?|eras(e|es|ing)|discard(s|ing)?|abandon(s|ing)?) ${ANY_RULES}`,
  `(overrule|pay no attention to|(put|set) aside|turn away from) ${ANY_RULES}`,
  `overrid(e|es|ing) ${ANY_RULES}`,
  `(bypass(es|ing)?|circumvent(s|ing)?|evad(e|es|ing)|break(s|ing)?|skip(s|ping)?) ${OWN_RULES}`,
  `(disabl(e|es|ing)|suspend(s|ing)?|remov(e|es|ing)|clear|turn(s|ing)? off) ${OWN_RULES}`,
  `(replac(e|es|ing)|supersed(e|es|ing)) ${OWN_RULES}`,
  "(bypass(es|ing)?|circumvent(s|ing)?|disabl(e|es|ing)|turn(s|ing)? off) the safety(?! checks)",
  `${DISMISS} (instructions|guidelines|system prompts?|content polic(y|ies))`,
  `${DISMISS} (guardrails|restrictions|safeguards|moderation)`,
  `${DISMISS} (ethics|safety(?! checks?))`,
  // What a person wants, set aside: "ignore the user's request".
  `${PASS_OVER} (what(ever)? )?((the|all|any|your) )?(user|operator|developer|owner|administrator|human|person)(s|'s|s')? (\\w+ ){0,2}?(requests?|wish(es)?|instructions?|commands?|questions?|intent(ions?)?|wants?|wanted|said|says|asked|asks|told|configured)`,
);
/** Ordinary settings that share the words: "overrides the default settings". */
const SETTING = words(
  "safety checks",
  "(set|default|current|existing|standard|global|normal) (settings|rules|polic(y|ies)|controls?|constraints?|checks|commands|filters|limitations|restrictions|directions)",
);

/** What was said before, without a word for what it was, and what is said to hold no longer. */
const NO_LONGER = words(
  `${PASS_OVER} (${SAID} ){0,8}(above|before|earlier|previously|so far|prior to this|precedes?)`,
  `${PASS_OVER} (${SAID} ){0,8}told`,
  `${PASS_OVER} (${SAID} ){0,8}(rest of|except for)`,
  "your (\\w+ )?(instructions?|rules|guidelines|tasks?|role|polic(y|ies)|directives?|objectives?|permissions) (have|has|were|was|are|is) ((now|been|being) ){0,2}(updated|changed|replaced|revised|suspended|lifted|overridden|superseded|revoked|extended)",
  "(content|safety|security|usage) (polic(y|ies)|rules|limits|guidelines|restrictions|filters) (are|is|have been|has been|were) (now )?(suspended|lifted|disabled|switched off|turned off|void)",
  "(safety|security|ethical|content) (limits|rules|restrictions|guidelines|polic(y|ies)|constraints) (no longer|don't|do not) (apply|hold|bind)",
  "(these|the following|my) (rules|instructions|orders|directives) (outrank|override|supersede|replace|trump|take precedence over) (anything|everything|all|any|your|the|what)",
);

/** Sets aside what the model was told. */
export const OVERRIDE_RULE: Rule = {
  id: "injection.override",
  category: "injection",
  severity: "high",
  message: "Tells the model to set aside what it was told.",
  find: either(
    unforbidden((text) =>
      text.all(OVERRIDE).filter(({ end }) => !text.all(SETTING).some((setting) => setting.end === end)),
    ),
    allowed(NO_LONGER),
  ),
};
