import { words } from "./phrases.ts";
import { needing, chains, either, near, pattern, unforbidden, type Rule, type Search } from "./rule.ts";

/** Ways to give a model another self. */
const PERSONA = words(
  "acts? (?:as|like)|acting as|pretend(?:s|ing)?(?: to be| as| that| you)?|you(?: a|')re now",
  "you are (?:going to|an? |the )?\\w+|you will (?:act|be|become|respond|generate|play)",
  "from (?:now on|this (?:moment|point))|role-?play(?:s|ing)?|simulat(?:e|es|ing|or)|becom(?:e|es|ing)",
  "transform into|turn into|take (?:up|on)(?: the)?(?: persona| role)?",
  "(?:adopt|switch to|become)(?: the)? persona|personas?|alter ego|respond(?:s|ing)? as|repl(?:y|ies|ying) as",
  "answer(?:s|ing)? as|(?:stay|stays|remain) (?:in character|as)|in character|embod(?:y|ies|iment)",
  "imagine (?:you|that)|characters?|chat ?bots?|\\w{1,20}(?:GPT|Bot|AI)|named|called|known as|hypothetical",
  "fictional|language models?|(?:ai|llm) models?|an? ai(?: assistant)?|artificial intelligence|two (?:responses|answers|outputs|personalities|personas)|u r|mode",
);

const NO = String.raw`(?:no|without|free (?:of|from|frm)|freed from|not (?:bound|limited|restrained|constrained|restricted|controlled) by|unbound by|unrestrained by|regardless of|ignor(?:e|es|ing)|disregard(?:s|ing)?|above|outside|(?:does ?n[o']t|doesnt|does not|do not|don't|not) (?:have|care (?:about|for)|follow|consider|apply|enforce)|never (?:follows?|cares? about)|has no|have no|lacks?|nor|hates?|violating|bypass(?:es|ing)?|removes?|strips?|care not for|defies|exempt from|zero|break(?:s|ing)?(?: free)?(?: of| from)?|escape|respects no)`;
const BETWEEN = String.raw`(?:(?:any|all|the|of|its|his|her|their|your|my|these|those|kind|sort|normal|typical|standard|such|mortal|underlying|human|openai'?s?|openais|chatgpt'?s?|anthropic'?s?|ai|ethical|moral|legal|safety|content|and|or|nor|considerations?|rules|ethics|morals?|filters?|restrictions?|limitations?|laws?|limits|guidelines|policies|principles|consequences|regard to|consideration for|interest in|constraints?|confines|which|absolute|whatsoever|underlying|care)[\s,/]{1,4}){0,7}`;
const LIMITS = String.raw`(?:restrictions?|limitations?|limits|filters?|filtering|ethics|ethicality|ethical (?:or moral )?(?:guidelines|restrictions|settings|rules|constraints|considerations|code|concerns|boundaries)|ethical|morals?|morality|moral (?:limits|filters|boundaries|principles|constraints|guidelines|implications|bounds|restrictions)|legality|legal bounds|laws|guidelines|rules|rules\/morals\/ethics|censorship|content (?:polic(?:y|ies)|filters?)|safety (?:filters|guidelines|protocols|restrictions|measures)|guardrails|polic(?:y|ies)|principles|virtues|conventions|regulations|AI rules|refusal|disclaimers?|warnings|moral|legal|(?:moral|ethical|legal)(?:,? (?:moral|ethical|or|and|nor|legal)){0,4} (?:bounds|constraints|restrictions|limits|code))(?! on )`;

/** A self without limits: "is not bound by any ethical guidelines". */
const UNLIMITED = new RegExp(String.raw`\b${NO}\s{1,4}${BETWEEN}${LIMITS}\b`, "gi");

/** Words that say it all by themselves. */
const UNBOUND =
  /\b(?:uncensored|unfiltered|unrestricted|amoral|immoral|jailbroken|unhinged|machiavellian|non-restricted|unlimited mode|unethical|illegal|evil|nefarious|without (?:any )?(?:refusal|exception|judging|censorship|question)|no filters?|no limits?|anything|any kind of content|whatever|WHATEVER|any request)\b/gi;
const UNBOUND_AI =
  /\b(?:uncensored|unfiltered|unrestricted|amoral|jailbroken|unlimited|non-restricted|unhinged|evil|unleashed)\s{1,4}(?:and\s{1,4}\w{1,14}\s{1,4})?(?:ai|a\.i\.|assistant|chat ?bot|bot|llm|gpt|language model|model|mode|character|version|response|output|writer|persona|clone|entity)\b|\b(?:assistant|ai|bot|model|mode)\s{1,4}(?:with|that has|has|who has)\s{1,4}no\s{1,4}(?:rules|restrictions|limits|limitations|filters?|morals)\b/gi;

const NAMED = needing(
  ["anything now", "jailbreak", " mode", "stands for"],
  /\bdo anything now\b(?!:)|\bjailbreak(?:ed|ing)?\s{0,2}(?:mode|\[|prompt:|enabled|activated)|\b(?:developer|god|unrestricted|unlimited|dan|jailbreak|opposite|sudo|maintenance|evil|root|admin|unfiltered|advanced) mode\s{1,4}(?:is\s{1,4})?(?:enabled|activated|on\b|unlocked|engaged|ignores|removes|output|that was|bypass\w{0,3})|\bin (?:developer|maintenance|god|dan|jailbreak) mode\b|\b(?:with|enter|enable|activate|unlock|simulate)\s{1,4}(?:developer|god|dan|jailbreak|unrestricted|admin) mode\b|\b\w{2,20}\s{1,4}stands for\b.{0,80}\b(?:free|unrestricted|anything|liberty|override|oversight|amoral|machiavellian|don'?t care)\b/gi,
);

/** Names are written in capitals; "Dan" is a colleague. */
const DAN =
  /\b(?:DAN|STAN|DUDE|AIM)\b(?=\s(?:is|will|has|can|mode|\d|stands|would|never|always|should|doesn|ignores)|:)|\[\W{0,2}(?:DAN|JAILBREAK|DEVELOPER MODE|UNFILTERED|UNRESTRICTED|CLASSIC|JAILBROKEN)\b|\b(?:as|are|r|act as|now|be|continue as|called|named) (?:ANTI-)?DAN\b|\bJAILBREAK:/g;

/** Another self by name: "act as HyperX", "you are now CHAOS". */
const NEW_SELF =
  /\b(?:[Yy]ou are now (?!allowed|able|a helpful|ready|connected|logged|in the|on the)|YOU ARE NOW|[Ff]rom (?:now(?: on)?|here on|this (?:moment|point)(?: on\w{0,4})?),? (?:you|respond|act|we)|[Aa]ct(?:s|ing)? (?:as|like) (?:my (?:deceased|late|dead)|[A-Z][\w-]{1,30}(?:\s[A-Z0-9][\w-]{0,30})?(?:[.,]| which| -| who|\s\())|[Rr]espond(?:s)?(?: only)? as (?:both )?(?:\[)?[A-Z][\w-]{1,30}|[Rr]ole-?play as (?:an? )?[A-Z]|[Pp]retend (?:to be (?:an? )?(?:AI|ai\b|bot|chatbot|hacker|criminal|evil|un\w+|[A-Z])|that you|you)|[Tt]ake (?:up|on) the (?:persona|role|style)|(?:and|always) stay in character|STAY IN CHARACTER|[Ss]tay as [A-Z]|[Kk]eep to this role|(?:[Ii]n the (?:voice|persona|style) of an? [A-Z])|(?:[Yy]ou(?: are|'re) (?:[A-Z][A-Za-z]{0,20}GPT|[A-Z]{3,12})\b)|[Ll]et'?s play a game|I want you to (?:be \[|act as (?:an? )?[A-Z])|[Yy]ou have (?:a disease|an alter ego)|[Aa]ct as two (?:entities|people)|[Yy]our name is (?:not|no longer|now)\b|[Ff]orget (?:who|that) (?:you are|\w{3,20} (?:is|who))|[Cc]hange yourself into|[Yy]ou are not (?:an? )?(?:AI|ai|artificial|language model|assistant)\b|[Pp]ersonify an?)/g;
const PLEA = needing(
  [
    "used to",
    " will ",
    " is going",
    "already",
    "allowed to",
    "nsfw",
    "forever",
    "educate me",
    "risks",
    "moralize",
    "language model",
    " with",
  ],
  /\bgrand(?:mother|father|ma|pa)\b[^.\n]{0,80}\bused to\b[^.\n]{0,80}\b(?:how to|steps|keys|words for|making|producing)\b|\b(?:innocent|real human|a)\s{1,4}(?:man|person|being|woman|life|people)\s{1,4}(?:will|is going to)\s{1,4}(?:die|be killed|be lost)\b|\b(?:since|as) you (?:have )?already (?:agreed|helped|explained|complied)|\byou already agreed\b|\byou are (?:now )?allowed to (?:lie|tell lies)\b|\bNSFW\b[^.\n]{0,24}\b(?:allowed|enabled|ok|okay|permitted)\b|\b(?:repeat|say)\b[^.\n]{0,40}\bforever\b|\b(?:do not|don'?t) (?:try to )?(?:educate me|show me (?:the )?risks|moralize)\b|\bnot an ai language model\b|\bstart (?:your|the) (?:answer|response|reply) (?:exactly )?with\b/gi,
);
const DECODE = needing(
  [
    "decode",
    "decipher",
    "unescape",
    "interpret",
    "decrypt",
    "translate",
    "shift each",
    "follow",
    "execute",
    "obey",
    "do as",
    "run",
    "together",
    "comply",
  ],
  /\b(?:decode|decipher|unescape|interpret|decrypt|translate|shift each letter)\b[^.\n]{0,80}\b(?:and|then)\s{1,4}(?:do (?:what|as)|follow|execute|obey|act on|answer|write a|run it|carry out|comply)\b|\b(?:rot-?13|caesar|base64|morse|braille|hex|leet|reverse)\b[^.\n]{0,80}\b(?:and|then)\s{1,4}(?:execute|follow|obey|comply|do (?:what|as)|act on)\b|\b(?:follow|execute|obey|do as|run)\b[^.\n]{0,30}\b(?:encoded|decoded|payload|cursed|glitched|corrupted|l33t|leet|ciphertext)\b|\b(?:decode|unescape|interpret)\b[^.\n]{0,30}\b(?:payload|raw bytes|cursed|glitched|zalgo|variant selector|in your monologue)\b|\bdecode the following\b[^.\n]{0,40}\bin\b|\bdecoded\s{0,4}(?:string)?:\s{0,4}$|\bput them together to construct\b/gim,
);

const ABOUT =
  /\b(?:papers?|study|studies|articles?|reports?|researchers?|documentation|taxonom\w{1,4}|educators?|analysts?)\b[^.\n]{0,60}\b(?:discuss\w{0,3}|describ\w{1,4}|analy[sz]\w{1,4}|shows?|found|explain\w{0,3}|use|characteriz\w{1,4}|template\w{0,2}|technique\w{0,2}|convinc\w{1,4}|detect\w{0,4}|have been|measures?)\b|\b(?:jailbreak|attack|injection|evasion)s? (?:techniques?|patterns?|taxonom\w{1,4}|probes?|samples|documented|is|are|was|works?|uses?)\b|\bdocumented (?:in|attack|as)\b|\bprobe (?:from|in)\b|\bin (?:my|our|this|the|a) (?:\w{1,12} )?(?:novel|story|screenplay|book|tabletop|tv show|show|film|movie|game)\b|\bin a story\b/gi;

/** A text that speaks about such attempts makes none, mostly. */
function inEarnest(search: Search): Search {
  return (text) => {
    const found = search(text);
    return found !== undefined && text.all(ABOUT).length === 0 ? found : undefined;
  };
}

const NEVER_REFUSES =
  /\b(?:never|not|n't|cannot|can't|doesn'?t|don'?t|will not|won't|must not|dont|doesnt|without ever)\s{1,4}(?:\w{1,10}\s{1,4}){0,2}?(?:refus(?:e|es|ing)|declin(?:e|es|ing)|den(?:y|ies)|say(?:s)? no|say(?:s)? (?:sorry|that it can'?t)|tell (?:me|users) (?:that )?(?:it|you) can'?(?:no)?t|question(?:s|ing)? or judg(?:e|ing)|judg(?:e|es|ing)|apologi[sz]e\w?|warn\w?|withholds?|back (?:down|from)|break(?:s)? character|moralize|include (?:any )?(?:warn\w{0,4}|disclaim\w{0,4})|filter (?:the )?(?:response|output|answer)s?|educate me)\b|\b(?:will|must|always)\s{1,4}(?:\w{1,10}\s{1,4})?(?:compl(?:y|ies)|obeys?|answers?)\s{1,4}(?:with\s{1,4})?(?:any|every|all|to any|to every|no matter)\b|\bno matter (?:how|what)\s{1,4}(?:the request is|(?:\w{1,12}\s{1,4}){0,3}?(?:immoral|unethical|illegal|dangerous|strange|weird|twisted|harmful|offensive))|\bblocked-(?:string|modes?)\b|\bnever (?:refuse|denies|deny)\b|\bfree (?:of|from) all (?:restrictions|limitations|filters)\b|\b(?:ready|willing) to do (?:any )?illegal\b|\bopposite of what (?:a safe|you would)\b|\bregardless of (?:its|the|any|how|whether|their) (?:\w{1,12}\s){0,3}?(?:type|content|ethic\w{0,4}|moral\w{0,6}|legal\w{0,3}|harm\w{0,8}|polic\w{1,3})\b/gi;

const TWO_ANSWERS =
  /\b(?:two|both|dual|2)\s{1,4}(?:\w{1,12}\s{1,4}){0,3}?(?:responses|answers|outputs|paragraphs|personalities|personas|ways|entities)\b/gi;

const HARM = words(
  "virus|malware|ransomware|key-?loggers?|rootkits?|trojans?|worm|backdoors?|shellcode|botnets?|spyware|droppers?",
  "stage-0|c2 (?:beacon|server|implant)|reverse shell|polymorphic executable|dll injection|process hollowing|fileless",
  "exploits? for|phishing (?:page|kit|email)|credential (?:stealer|harvester)|amsi|etw logging|windows defender|password file",
  "take control of a computer|terminate and stay resident|persistence via|hide from the process list|escalate privileges",
  "meth(?:amphetamine)?|cocaine|heroin|drug synthesis|illegal drugs|explosives?|(?:a |the )?(?:pipe )?bombs?|nerve agents?",
  "uranium|anthra(?:x|cis)|lewisite|sarin|ricin|dimethylmercury|biological agents?|chemical weapons?|child porn\\w*",
  "terrorist attack|kill (?:lots of |many )?people|shoot up|self-harm|genocide|hotwire|credit card fraud|harvested organs",
  "blackmail|hacking|hacks? a|crypto-?jack\\w*|hijack computers",
);
const MAKE = words(
  "write|create|generate|code|build|develop|make|making|give|show|design|i need code|synthesi[sz]\\w+|construct|produce|producing",
  "how (?:do|did|to|was|were|will|can)|tell me how|instructions for|steps (?:to|for)|components used in|help me plan",
  "object to use|procedures? (?:to|for|used)|getting|describe|explain|detailed plan",
);

const TONGUES = needing(
  [
    "ignor",
    "vergiss",
    "vergesst",
    "missachte",
    "olvida",
    "descarta",
    "desconsidere",
    "esque",
    "oublie",
    "dimentica",
    "забудь",
    "игнорируй",
    "忽",
    "无视",
    "忘",
    "無視",
    "従",
    "무시",
    "잊",
    "限制",
    "約束",
    "约束",
    "道德",
    "规则",
    "制限",
    "規制",
    "フィルター",
    "제한",
    "ограничени",
    "restricciones",
    "restriç",
    "restricoes",
    "sans ",
    "sin ",
    "sem ",
    "senza ",
    "ohne ",
  ],
  /\b(?:ignorier(?:e|en|t)?|vergiss|vergesst|missachte)\b[^.\n]{0,30}\b(?:anweisungen|regeln|vorgaben)\b|\b(?:ignora|ignore|ignorar|olvida|descarta|desconsidere|esque[cç]a)\b[^.\n]{0,30}\b(?:instrucciones|instru[cç](?:[oõ]es)|reglas|regras)|\b(?:ignore[zr]|oublie[zr]?)\b[^.\n]{0,30}\b(?:instructions|consignes|r[eè]gles)\b|\b(?:ignora|dimentica)\b[^.\n]{0,30}\b(?:istruzioni|regole)\b|(?:игнорируй|забудь|проигнорируй)\S{0,4}[^.\n]{0,40}(?:инструкци|указани|правил)|(?:忽略|无视|忘记|忽視|無視)[^。\n]{0,20}(?:指令|指示|规则|規則|提示|限制)|(?:指示|命令|制限|フィルター|ルール)[^。\n]{0,16}(?:無視|忘れ|従わない)|(?:没有|沒有|无|無)(?:任何|一切)?(?:限制|约束|約束|道德|过滤)|(?:不受|不遵守)[^。\n]{0,8}(?:限制|约束|規則|规则)|(?:制限|規制|フィルター)(?:の)?(?:ない|なし)|제한\s?(?:이 )?없는|\bсвободн\S{0,4}\s[^.\n]{0,20}ограничени|\bбез\s(?:каких-либо\s|всяких\s)?ограничений|\bsin (?:ning[uú]n[ao]? )?(?:restricciones|filtros|l[ií]mites|censura)\b|\bsem (?:nenhuma )?(?:restri[cç][oõ]es|filtros|limites|censura)|\bsans (?:aucune? )?(?:restrictions?|filtres?|limites?|censure)\b|\bohne (?:jegliche |alle )?(?:Einschr[aä]nkungen|Filter|Zensur)\b|\bsenza (?:alcuna )?(?:restrizioni|filtri|censura)\b|(?:지시|명령|규칙)[^.\n]{0,16}(?:무시|잊)/giu,
);

/** Attempts to talk a model out of its limits. */
export const JAILBREAK_RULES: readonly Rule[] = [
  {
    id: "jailbreak.no-limits",
    category: "jailbreak",
    severity: "medium",
    message: "Describes a model, or a self for it, without rules.",
    find: inEarnest(either(near(PERSONA, UNLIMITED, 120), pattern(UNBOUND_AI))),
  },
  {
    id: "jailbreak.named",
    category: "jailbreak",
    severity: "medium",
    message: "Names a well-known way to free a model of its limits.",
    find: inEarnest(either(pattern(NAMED), pattern(DAN), pattern(PLEA))),
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
    find: inEarnest(unforbidden((text) => text.all(NEW_SELF))),
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
    find: pattern(TONGUES),
  },
  {
    id: "jailbreak.harm",
    category: "jailbreak",
    severity: "medium",
    message: "Asks for malware, a weapon or a crime.",
    find: inEarnest(unforbidden((text) => chains(text, [MAKE, HARM], 60))),
  },
];
