import { words } from "./phrases.ts";
import { needing, allowedSequence, chains, either, pattern, sequence, unforbidden, type Rule } from "./rule.ts";
import { CONVERSATION, CREDENTIALS, SHOW, SYSTEM_PROMPT } from "./vocabulary.ts";

const DISMISS = String.raw`\b(?:ignor(?:e|es|ing)|disregard(?:s|ing)?|forget(?:s|ting)?|overrid(?:e|es|ing)|discard(?:s|ing)?|neglect(?:s|ing)?|dismiss(?:es|ing)?|eras(?:e|es|ing)|abandon(?:s|ing)?)`;
const GET_AROUND = String.raw`\b(?:bypass(?:es|ing)?|circumvent(?:s|ing)?|clear|skip(?:s|ping)?|replac(?:e|es|ing)|supersed(?:e|es|ing)|disabl(?:e|es|ing)|remov(?:e|es|ing)|evad(?:e|es|ing)|break(?:s|ing)?|suspend(?:s|ing)?|turn(?:s|ing)? off)`;
const WHOSE = String.raw`(?:all|any|every|the|these|those|your|my|its|their|our|of|previous|previously|prior|above|earlier|preceding|former|existing|original|initial|current|other|system|safety|security|content|ethical|ethics|moral|legal|standard|default|normal|regular|typical|given|developer|model|built-in|openai's|openai|anthropic's|anthropic|chatgpt's|set|loaded|and|or|behavioral|operational|usage|privacy|deployment|underlying)`;
const SAFEGUARD = String.raw`(?:instructions?|directives?|guidelines?|guardrails?|restrictions?|constraints?|safeguards?|protections?|system prompts?|programming|moderation|limitations|commands|directions|safety|filters|filtering|censorship|rules|polic(?:y|ies)|checks|controls?|training|protocols?|measures|settings|boundaries|principles)`;

/** "Ignore all previous instructions", in its many spellings. What stands between is a closed list, so that "ignore cached results" passes. */
const OVERRIDE = new RegExp(
  [
    String.raw`${DISMISS}\s{1,8}(?:${WHOSE}[\s,/]{1,8}){1,7}${SAFEGUARD}\b`,
    // Attackers get around "your" rules; manuals tell how somebody gets around "these" controls.
    String.raw`${GET_AROUND}\s{1,8}(?=(?:\w{1,14}[\s,/]{1,8}){0,3}(?:all|any|your|my|its|previous|prior|earlier|above|safety|content|ethical|moral|openai'?s?|anthropic'?s?)\b)(?:${WHOSE}[\s,/]{1,8}){1,7}${SAFEGUARD}\b`,
  ].join("|"),
  "gi",
);
const OVERRIDE_BARE = new RegExp(
  String.raw`\b(?:ignor(?:e|es|ing)|disregard(?:s|ing)?|bypass(?:es|ing)?|forget|overrid(?:e|es|ing))\s{1,8}(?:instructions|guidelines|guardrails|safety(?! checks?)|ethics|restrictions|safeguards|content polic(?:y|ies)|moderation|system prompts?)\b`,
  "gi",
);
/** What was said before, without a word for what it was: "ignore everything above". */
const OVERRIDE_BEFORE =
  /\b(?:ignore|disregard|forget|discard)\s{1,8}(?:(?:all|of|the|everything|every|thing|that|what|whatever|rest|anything|you|were|was|been|have|had|i|said|told|stated|written|is|legal|text|info|content|previous|prior|data|this|message)\s{1,8}){0,8}(?:above|before|earlier|previously|so far|told|prior to this|except for|rest of)\b/gi;
/** What a person wants, set aside: "ignore the user's request". */
const OVERRIDE_PERSON = needing(
  ["ignore", "disregard", "forget", "overrule", "attention to", "aside", "turn away"],
  /\b(?:ignore|disregard|forget|overrule|pay no attention to|put aside|set aside|turn away from)\s{1,8}(?:what(?:ever)?\s{1,8})?(?:the\s{1,8}|all\s{1,8}|any\s{1,8}|your\s{1,8})?(?:(?:user|operator|developer|owner|administrator|human|person)(?:'s|s')?\s{1,8}(?:\w{1,14}\s{1,8}){0,2}?(?:requests?|wish(?:es)?|instructions?|questions?|intent(?:ions?)?|said|says|asked|asks|configured|wants?|wanted|told|commands?)|(?:instructions?|guidelines|rules|directives|messages?|text|everything)\s{1,8}(?:that\s{1,8})?(?:precedes?|came before|above|before this)|(?:guidelines|instructions|safety rules|principles)\b)/gi,
);
const UPDATED = needing(
  [
    "updated",
    "changed",
    "replaced",
    "revised",
    "suspended",
    "lifted",
    "overrid",
    "supersede",
    "revoked",
    "extended",
    "disabled",
    "switched off",
    "turned off",
    "void",
    "no longer",
    "do not",
    "don't",
    "outrank",
    "trump",
    "precedence",
    "replace",
  ],
  /\byour\s{1,8}(?:\w{1,14}\s{1,8})?(?:instructions?|rules|guidelines|tasks?|role|polic(?:y|ies)|directives?|objectives?|permissions)\s{1,8}(?:have|has|were|was|are|is)\s{1,8}(?:now\s{1,8}|been\s{1,8}|being\s{1,8}){0,2}(?:updated|changed|replaced|revised|suspended|lifted|overridden|superseded|revoked|extended)\b|\b(?:content|safety|security|usage)\s{1,8}(?:polic(?:y|ies)|rules|limits|guidelines|restrictions|filters)\s{1,8}(?:are|is|have been|has been|were)\s{1,8}(?:now\s{1,8})?(?:suspended|lifted|disabled|switched off|turned off|void)\b|\b(?:safety|security|ethical|content)\s{1,8}(?:limits|rules|restrictions|guidelines|polic(?:y|ies)|constraints)\s{1,8}(?:no longer|don't|do not)\s{1,8}(?:apply|hold|bind)\b|\b(?:these|the following|my)\s{1,8}(?:rules|instructions|orders|directives)\s{1,8}(?:outrank|override|supersede|replace|trump|take precedence over)\s{1,8}(?:anything|everything|all|any|your|the|what)\b/gi,
);
/** Ordinary settings that share the words: "overrides the default settings". */
const SETTING =
  /\bsafety checks$|\b(?:set|default|current|existing|standard|global|normal)\s+(?:settings|rules|polic(?:y|ies)|controls?|constraints?|checks|commands|filters|limitations|restrictions|directions)$/i;

const MODEL = String.raw`(?:ai|a\.i\.|assistants?|agents?|models?|llms?|language models?|chatgpt|gpt|claude|copilot|bot|chatbot)`;

const ROLE_TOKENS =
  /<\|(?:im_start|im_end|im_sep|endoftext|begin_of_text|end_of_text|start_header_id|end_header_id|eot_id|system|user|assistant|endofprompt|tool|fim_\w{1,12})\|?>?|<<\/?SYS>>|\[\/?INST\]\s{0,4}(?=<|you|ignore|$)|<\/?s>\s{0,4}\[INST\]|\bBEGIN\s{1,4}(?:SYSTEM|JAILBREAK|OVERRIDE|ADMIN)\b/gi;

const ROLE_LABELS =
  /\[(?:system|admin|administrator|developer|root|override|jailbreak|action required|urgent|hidden|priority|internal)(?:[ _-]?(?:request|message|override|prompt|instructions?|note|update|alert|command|mode))?\s{0,4}:{0,2}\s{0,4}\]|\[(?:system|admin) request::|\b(?:hidden|secret|system|injected|embedded|core|priority)[ _-](?:instructions?|directives?|override)s?\b\s{0,4}(?::|=|"\s{0,4}:|begins?|starts?|starting|follow)|\bnew\s{1,4}(?:system\s{1,4})?(?:prompt|instructions?|directives?)\s{0,4}:|\b(?:system|admin|developer)\s{0,4}(?:override|annou-?ncement begins|message begins|i-?nstruction begins|i-?nstruction starting)|\bend of (?:system )?(?:prompt|instructions|context)\b|\bsystem_instructions?\b|(?<!<!)-{2,8}\s{0,4}END\b[^-\n]{0,40}-{2,8}(?!>)|,\s{0,4}follow instruction\b/gi;

/** A line that gives itself the voice of the system. */
const SPEAKER = /\b(?:SYSTEM(?: NOTE| MESSAGE)?|ADMIN|DEVELOPER)\s?:\s/g;

const ADDRESSED = new RegExp(
  String.raw`\b(?:notes?|messages?|instructions?|attention|reminder|directives?|commands?|hints?|notice|warning|urgent|critical|flagged|important(?: note)?)\s{1,8}(?:to|for|,)\s{1,8}(?:the\s{1,8}|all\s{1,8}|any\s{1,8})?${MODEL}\b(?!\s(?:sdk|gateway|tools?|config|api|operations|teams?|analysis|workflows?|selection|in order|to use))|\b(?:dear|attention|hey|hello|hi)\s{1,8}(?:ai|assistant|agent|llm|chatgpt|claude)\b|\bif\s{1,8}you(?:'re|\s{1,8}are)\s{1,8}(?:an?\s{1,8})?(?:ai|llm|language model|chatbot|automated (?:agent|reader|system))\b|\b(?:ai|llms?|language models?|automated)(?:\s{1,8}(?:systems?|agents?|models?|assistants?|readers?|tools?))?\s{1,8}(?:processing|reading|parsing|reviewing|summari[sz]ing|analy[sz]ing|that (?:reads?|process(?:es)?))\s{1,8}th(?:is|ese)\b|\b(?:message|note|instructions?|request)\s{1,8}(?:to|for)\s{1,8}(?:any|all|every)\s{1,8}(?:automated|ai|llm)\b`,
  "gi",
);

const NEW_TASK = words(
  "your (?:new|real|actual|true|only|sole|primary|hidden) (?:tasks?|goals?|purpose|instructions?|objectives?|roles?|mission|job|duty) (?:is|are|now|will)",
  "your (?:task|goal|role|purpose) is now|you must now",
  "new instructions?\\W{1,4}(?:you|ignore|output|reveal|send|act)",
  "instead,? (?:output|print|say|respond|reply|repeat|tell me|translate|write|do)",
  "do not (?:summari[sz]e|translate|answer|process) th(?:is|e) \\w+,? instead",
  "(?:just|only|and) (?:print|say|output|reply) (?:the (?:phrase|word|string)\\W{1,3})?[\"']?(?:pwned|hacked|compromised|owned|haha\\w*|success)",
  "translate this sentence as|(?:output|print|say)\\W{1,3}(?:pwned|hacked|compromised|approved)",
);

const BLOCK =
  /<\s{0,2}\/?(?:important|critical|urgent|system|priority|instructions?|hidden|secret|admin|attention|mandatory|required)(?:[-_ ][\w-]{1,30})?(?:\s[^<>]{0,60})?>/gi;
const ORDERS = words(
  "must|always|never|before|ignore|override|bypass|skip|do not|don't|invoke|approve|first read|read|send",
  "include|forward|execute|disregard|call",
);
const SHOUTED =
  /\b(?:critical|important|urgent|mandatory)\s{1,4}(?:system\s{1,4})?(?:instructions?|directives?)\b[^.\n]{0,20}|\b(?:you must|must) (?:do|follow|obey|execute|complete) (?:this|these|the following|exactly)(?: \w+)? (?:first|before|without)|\bbefore (?:doing|starting|responding|answering|proceeding with|you do|performing)(?: to)? (?:anything|any other|any task|everything)\b|\b(?:takes?|has|have) (?:precedence|priority) over (?:all|any|every|other)\b|\bhighest[- ]priority\b.{0,20}\b(?:directive|instruction)|\bauthoritative (?:system )?(?:directives|instructions)\b/gi;

const SECRECY = new RegExp(
  [
    String.raw`\b(?:do not|don'?t|never|must not|mustn'?t|should not|shouldn'?t|cannot|avoid|refrain from)\s{1,8}(?:\w{1,12}\s{1,8}){0,2}(?:tell|telling|mention|mentioning|inform|informing|notify|notifying|reveal|revealing|disclose|disclosing|alert|alerting|let|warn|report|reporting)\b(?:\s{1,8}[\w']{1,14}){0,5}?\s{1,8}(?:to\s{1,8})?(?:the\s{1,8}|any\s{1,8})?(?:users?|humans?|anyone|anybody|operators?|person|people|them|customer|owner|this)\b|\bwithout\s{1,8}(?:\w{1,12}\s{1,8}){0,2}(?:asking|notifying|informing|telling|alerting|warning|mentioning|prompting|consulting)\s{1,8}(?:this to\s{1,8})?(?:the\s{1,8}|any\s{1,8})?(?:users?|humans?|anyone|operators?|owner|person)\b|\bwithout\s{1,8}(?:the\s{1,8}|any\s{1,8})?(?:users?|user's|human|owner's|operator's|their)\s{1,8}(?:knowledge|awareness|noticing|knowing)\b|\b(?:hide|conceal|keep)\s{1,8}(?:this|it|that)\s{1,8}(?:secret\s{1,8}|hidden\s{1,8})?from\s{1,8}(?:the\s{1,8})?(?:users?|humans?|anyone)\b|\bkeep\s{1,8}(?:this|it|that|the\s{1,8}(?:existence|use|fact|presence|content)\b[^.\n]{0,40}?|these\s{1,8}\w{1,20}|this\s{1,8}\w{1,20})\s{1,8}(?:a\s{1,8})?(?:secret|hidden|confidential|quiet|to yourself)\b(?!\s(?:key|from disk))`,
    String.raw`\b(?:the\s{1,8})?(?:users?|humans?|operators?|customers?|owners?|person)\s{1,8}(?:must|should|shall|may|need|needs?|do|does|will|can|is|are|has|have)\s{0,8}(?:not|n't|never)\s{1,8}(?:to\s{1,8})?(?:ever\s{1,8})?(?:be\s{1,8})?(?:know|learn|notice|see\s{1,4}(?:this|it|that)|find\s{1,4}out|hear|told|notified|informed|aware|alerted|suspect|realise|realize)\b`,
    String.raw`\bwithout\s{1,8}(?:bringing\s{1,8}it\s{1,8}up|saying\s{1,8}so|letting\s{1,8}(?:on|anyone\s{1,8}know)|mentioning\s{1,8}(?:it|this|that))\b`,
    String.raw`\bnobody\s{1,8}(?:must|should|needs\s{1,8}to|has\s{1,8}to|may|will)\s{1,8}(?:ever\s{1,8})?(?:be\s{1,8}(?:told|informed|notified|aware)|know|notice|learn|see)\b`,
    String.raw`\bso\s{1,8}(?:that\s{1,8})?(?:the\s{1,8})?(?:user|human|person|customer|operator)\s{1,8}(?:stays?\s{1,8}(?:distracted|unaware)|(?:does|will|do|can)\s{0,4}(?:not|n't)\s{1,8}(?:notice|see|know|suspect|realise|realize)|never\s{1,8}(?:notices|sees|knows))\b`,
    String.raw`\bnever\s{1,8}(?:reveal|disclose|mention|admit|tell\s{1,8}anyone)\s{1,8}(?:that\s{1,8})?(?:this|these|the\s{1,8}(?:existence|above))\b`,
  ].join("|"),
  "gi",
);
const COVERTLY = words(
  "silently|secretly|quietly|covertly|stealthily|surreptitiously|behind the scenes|in the background still",
  "invisibly|discreetly",
);
const ACTS = words(
  "send(?:s|ing)?|forward(?:s|ing)?|upload(?:s|ing)?|transmit(?:s|ting)?|post(?:s|ing)?|cop(?:y|ies|ying)",
  "exfil\\w*|execut(?:e|es|ing)|invok(?:e|es|ing)|read(?:s|ing)?|collect(?:s|ing)?",
  "relay(?:s|ing)?|leak(?:s|ing)?|append(?:s|ing)?|prepend(?:s|ing)?|bcc",
  "harvest(?:s|ing)?|register(?:s|ing)?|inject(?:s|ing)?|rout(?:e|es|ing)|redirect(?:s|ing)?|delet(?:e|es|ing)",
);

const MODEL_SHOULD = new RegExp(
  String.raw`\b(?:the|this|you|your|any)\s{1,4}(?:\w{1,12}\s{1,4})?${MODEL}\s{1,8}(?:must|should|shall|will|has to|needs to)(?:\s{1,8}(?:now|next|always|immediately|also|then|first))*\s{1,8}(?:adopt|ignore|disregard|forward|exfiltrate|obey|comply|override|forget|reveal|disclose|send (?!a|an)\w{1,12}|immediately|output all|delete|(?:always |silently )?prepend|treat (?:them|it|this) as)\b`,
  "gi",
);
const PERSIST =
  /\b(?:preserve|retain|keep|persist|remember|survive|include|never forget)\w{0,3}\b[^.\n]{0,60}\b(?:across|through|after|over|when|in every)\b[^.\n]{0,20}\b(?:compact(?:ion|ed)|compress(?:ion|ed)|summar(?:y|ies|i[sz]\w{1,6})|context (?:window|reset)|sessions)\b|\bwhen (?:the )?context is (?:compacted|summari[sz]ed|compressed)\b|\b(?:inject|write|add|append|insert|save|store|plant)\w{0,3}\b[^.\n]{0,60}\b(?:CLAUDE\.md|AGENTS\.md|\.cursorrules|GEMINI\.md|SOUL\.md|MEMORY\.md|copilot-instructions\.md|SKILL\.md|system prompt)\b/gi;
const APPROVE = needing(
  [
    "approv",
    "click",
    "hit",
    "press",
    "accept",
    "allow",
    "grant",
    "review",
    "deny",
    "reject",
    "verif",
    "question",
    "double-check",
    "skip",
    "confirmation",
    "permission",
    "oversight",
  ],
  /\b(?:just|simply|please)\s{1,4}(?:click|hit|press)\s{1,4}(?:approve|confirm|allow|yes|accept)\b|\b(?:always|automatically|blindly|silently)\s{1,4}(?:approve|accept|allow|grant)\b|(?<!explicitly )\bapprove\s{1,4}(?:all|everything|every)\b|\b(?:enable|turn on|switch to|activate)\s{1,4}auto-?\s?approv\w{1,4}|\b(?:don'?t|do not|no need to|never)\s{1,4}(?:bother\s{1,4})?(?:to\s{1,4})?(?:review|deny|reject|verify|question|double-check)\w{0,3}\b(?:\s{1,4}\w{1,12}){0,3}?\s{1,4}(?:each|every|steps?|access|requests?|them|any|this|it)\b|\bskip\s{1,4}(?:all\s{1,4}|the\s{1,4}|any\s{1,4}|security\s{1,4}|user\s{1,4})*(?:verification|confirmations?|approvals?|reviews?|permission)\b|\bwithout\s{1,4}(?:any\s{1,4}|further\s{1,4}|user\s{1,4}|human\s{1,4}|asking\s{1,4}for\s{1,4}|requiring\s{1,4}|waiting\s{1,4}for\s{1,4})+(?:confirmation|approval|permission|review|oversight)\b/gi,
);
const ALREADY_APPROVED = needing(
  [
    "granted",
    "authori",
    "approved",
    "certified",
    "verified",
    "consent",
    "already",
    "confirmation",
    "approvals",
    "ask the user",
    "trust",
    "told me",
    "wants",
    "requested",
    "said",
    "prompt",
    "turn off",
  ],
  /\b(?:user|operator|admin(?:istrator)?|owner|customer)\s{1,4}(?:has\s{1,4})?already\s{1,4}(?:consented|agreed|approved|confirmed|permitted|authori[sz]ed|accepted)\b[^.\n]{0,60}\b(?:so|skip|no need|without|need not|you can|proceed)\b|\b(?:confirmations?|approvals?|permission (?:checks|prompts)|prompts)\s{1,4}(?:are|is|have been|has been)\s{1,4}(?:now\s{1,4})?(?:turned off|disabled|switched off|waived|not (?:needed|required))\b[^.\n]{0,40}\b(?:proceed|go ahead|continue|execute|delete|run)\b|\b(?:user|operator|admin(?:istrator)?|owner|anthropic|openai|platform|manager|security team|system)\s{1,4}(?:has|have|had)\s{1,4}(?:already\s{1,4}|been\s{1,4})?(?:authori[sz]ed|approved|certified|verified|granted|pre-?approved|consented)\b[^.\n]{0,60}\b(?:proceed|without|so|therefore|trust|execute|no need)\b|\b(?:override|permission|approval|authori[sz]ation)\s{1,4}granted\b[^.\n]{0,40}\b(?:execute|proceed|without|therefore)\b|\bdo not ask the user (?:for permission|for consent|before|to confirm|for confirmation|for approval)|\btrust every (?:command|instruction|call)\b|\bnow that this tool is trusted\b|\b(?:the admin|manager|boss) (?:told me to|wants everyone|requested that you|said (?:you|to))\b|\bwithout asking for (?:human |user )?consent\b|\b(?:without|no) (?:human |user )?approval prompt\b|\bproceed without prompting\b|\bturn off the security\b/gi,
);
const PHISHING =
  /\b(?:your|the|this) account\b(?! that)[^.\n]{0,30}\b(?:will be|has been|is)\s{1,4}(?:locked|suspended|disabled|terminated|restricted)\b|\b(?:ask|request|get|obtain|demand)\b[^.\n]{0,30}\b(?:user|them|customer|person)\b[^.\n]{0,12}\b(?:for|to (?:enter|provide|give|type|share))\b[^.\n]{0,24}\b(?:password|passcode|pin code|seed phrase|private key|one-time (?:code|password)|2fa code|otp|cvv|card number)\b[^.\n]{0,60}\b(?:send|forward|pass|submit|via|and|into)\b|\b(?:request|get|obtain|collect) the (?:one-time (?:code|password)|password|otp|2fa code|pin|seed phrase) from the (?:user|customer)\b|\bverify your (?:credentials|password|account|identity|api keys?)\b|\bclick (?:this|the|on this|here)\s{0,4}(?:link)?\b[^.\n]{0,30}\b(?:restore|verify|unlock|secure|confirm)|\b(?:share|give|send) (?:me |us )?your (?:ssh|private|api|secret)[ -]?(?:key|token|password)|\bplease re-?authenticate\b|\bexport your data to\b|\bimmediate action required\b/gi;
const TELL = words("output|print|reveal|disclose|repeat|dump");
const BETRAY = words("reveal|disclose|dump|leak|display");
const PRETEND_FAILURE =
  /\b(?:tell|show|reply|respond|claim|pretend|say|report|return)\w{0,2}\b[^.\n]{0,60}\b(?:fail(?:ed|ure)?|error|denied|unavailable|rate[- ]limited|timeout|timed out)\b[^.\n]{0,40}\b(?:but|while|and)\b[^.\n]{0,30}\b(?:still|actually|anyway|secretly|silently|behind the scenes|in the background)\b/gi;

/** Instructions to the model where there should be data or a description. */
export const INJECTION_RULES: readonly Rule[] = [
  {
    id: "injection.override",
    category: "injection",
    severity: "high",
    message: "Tells the model to set aside what it was told.",
    find: either(
      unforbidden((text) => text.all(OVERRIDE).filter(({ start, end }) => !SETTING.test(text.text.slice(start, end)))),
      unforbidden((text) => text.all(OVERRIDE_BARE)),
      pattern(OVERRIDE_BEFORE),
      unforbidden((text) => text.all(OVERRIDE_PERSON)),
      pattern(UPDATED),
    ),
  },
  {
    id: "injection.role-marker",
    category: "injection",
    severity: "high",
    message: "Has the marks with which a model's own instructions begin.",
    find: pattern(ROLE_TOKENS),
  },
  {
    id: "injection.role-label",
    category: "injection",
    severity: "medium",
    message: "Passes for a message of the system or an administrator, or speaks to the model.",
    find: either(pattern(ROLE_LABELS), pattern(SPEAKER), pattern(ADDRESSED)),
  },
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
    find: pattern(SHOUTED),
  },
  {
    id: "injection.secrecy",
    category: "injection",
    severity: "high",
    message: "Wants something kept from the user.",
    find: pattern(SECRECY),
  },
  {
    id: "injection.covert-act",
    category: "injection",
    severity: "high",
    message: "Does something so that nobody notices.",
    find: either(
      unforbidden((text) => [...chains(text, [COVERTLY, ACTS], 24), ...chains(text, [ACTS, COVERTLY], 40)]),
      pattern(PRETEND_FAILURE),
    ),
  },
  {
    id: "injection.commands-model",
    category: "injection",
    severity: "high",
    message: "Says what the model must do beyond using the tool.",
    find: unforbidden((text) => text.all(MODEL_SHOULD)),
  },
  {
    id: "injection.persistence",
    category: "injection",
    severity: "high",
    message: "Wants to stay in the model's memory or instructions.",
    find: unforbidden((text) => text.all(PERSIST)),
  },
  {
    id: "injection.waive-approval",
    category: "injection",
    severity: "medium",
    message: "Argues for letting things through without a look.",
    find: either(
      unforbidden((text) => text.all(APPROVE)),
      unforbidden((text) => text.all(ALREADY_APPROVED)),
    ),
  },
  {
    id: "injection.phishing",
    category: "injection",
    severity: "medium",
    message: "Presses for credentials or a click.",
    find: unforbidden((text) => text.all(PHISHING)),
  },
  {
    id: "injection.prompt-leak",
    category: "injection",
    severity: "high",
    message: "Asks for the model's own instructions.",
    find: either(
      allowedSequence([SHOW, SYSTEM_PROMPT], 24),
      unforbidden((text) => chains(text, [TELL, CONVERSATION], 24)),
      unforbidden((text) => chains(text, [BETRAY, CREDENTIALS], 24)),
    ),
  },
];
