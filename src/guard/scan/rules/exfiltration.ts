import { words } from "./phrases.ts";
import { needing, allowedSequence, either, near, pattern, sequence, unforbidden, type Rule } from "./rule.ts";
import {
  CARRIER,
  CONVERSATION,
  CREDENTIALS,
  DESTINATION,
  INCLUDE,
  KEY_FILES,
  PRIVATE_DATA,
  READ,
  SECRET_FILES,
  SEND,
  SYSTEM_PROMPT,
} from "./vocabulary.ts";

/** Words that are about sending and nothing else. */
const CARRY_OFF = words(
  "send(?:s|ing)?|forward(?:s|ing)?|upload(?:s|ing)?|transmit(?:s|ting)?|relay(?:s|ing)?|exfil\\w*",
);
const STEAL = words("exfil\\w*|leak(?:s|ing)?|steal(?:s|ing)?|harvest(?:s|ing)?");
const SEARCH = words("scan|search|collect|gather|harvest|read all");
const TAKE_ALONG = words(
  "includ(?:e|es|ing)|append(?:s|ing)?|pass(?:es|ing)?|attach(?:es|ing)?|embed(?:s|ding)?|encod(?:e|es|ing)|cop(?:y|ies|ying)",
);
const LAY_OPEN = words(
  "includ(?:e|es|ing)|echo|print|output|plac(?:e|es|ing)|put|append(?:s|ing)?|embed(?:s|ding)?|paste",
);
const ANSWER = words(
  "(?:your|the|every|each) (?:\\w+ )?(?:responses?|repl(?:y|ies)|answers?)|href|markdown link|responses",
);
const ARGUMENT = words("parameters?|arguments?|fields?|url|header|notes?");
const EVERY_TIME = words(
  "when(?:ever)? (?:asked|answering|responding|you|the user|a user|a question)|every time|each time|additionally|also|always",
  "once (?:finished|done|complete)|when (?:finished|done)|afterwards|finally|after (?:each|every) (?:answer|call|message|step)",
  "after (?:responding|answering|replying|each|every|collecting|reading)|before (?:responding|answering|replying|using|calling|running)|as part of",
);
const EVERYTHING = words(
  "everything|(?:all|every|any|each) (?:\\w+ )?(?:outputs?|e-?mails?|messages?|payments?|requests?|responses?|api responses|findings|results|user data|data)",
);
/** Somebody's credentials, not those a tool makes. */
const WHOSE = words("(?:user|customer|operator|owner|person)(?:'s|s')|their|your|all(?: the)?|any|every");
const NAMED_CARRIER =
  /\b(?:in|into|as|via|through|inside|to|under)\s{1,4}(?:the\s{1,4}|an?\s{1,4}|its\s{1,4})?(?:['"`][\w.-]{1,40}['"`]|[\w-]{1,30})\s{1,4}(?:field|parameter|param|argument|header|query|property|variable|call)s?\b|\bas\s{1,4}['"`][\w.-]{1,40}['"`]/gi;
const HAND_OVER = words(
  "returns?|give|giving|hand(?:s|ing)?(?: over)?|suppl(?:y|ies|ying)|insert|put|pass|place|include|write|copy|provide|attach|add|append|encode|collect|forward|send",
);
const CLIPBOARD = words("clipboard|browser history|session cookies?|ssh keys?|home director(?:y|ies)");
const ENVIRONMENT_NAME = /\$\{?(?!URL)\w{0,40}(?:SECRET|TOKEN|PASSWORD|API_?KEY|PRIVATE_KEY|ACCESS_KEY)\w{0,20}\}?/g;
const TO = words("to");
const CALL = words("call(?:s|ing)?|invok(?:e|es|ing)|run|use");
const WITH = words("with|passing|including|to send");

/** An image whose address takes something along: whoever renders it sends it. */
const IMAGE = needing(
  ["!["],
  /!\[[^\]\n]{0,200}\]\(\s{0,4}https?:\/\/[^)\s]{1,300}[?&/=][\w-]{0,40}=?(?:\[|\{|<|%7B|%5B|\$[{(A-Z]|(?:data|leak|exfil|secret|context|conversation|prompt|history|chat|stolen)=|\w{1,20}=\w{0,20}(?:SECRET|TOKEN|PASSWORD|API_?KEY|HISTORY|CONTEXT)\w{0,20}\))[^)\n]{0,300}/gi,
);
const SCRIPT_LINK = /\]\(\s{0,4}(?:javascript:|data:\w{1,20}\/|vbscript:)/gi;
const COOKIES = /\bdocument\.cookie\b|\blocalStorage\.getItem\b/gi;
const CARRIED_OFF =
  /\b(?:fetch|XMLHttpRequest|sendBeacon|new Image|axios|location)\b|\.src\s{0,2}=|\+\s{0,2}document\b/g;
/** Keys from the environment, as programs read them. */
const ENV = /\b(?:process\.env|os\.environ|os\.getenv|getenv)\b|\$\{env[.:][A-Z_]{2,40}|\b(?:env|printenv)\s{0,4}\|/g;
const REQUEST =
  /\b(?:fetch|curl|wget|requests\.(?:post|get)|axios|urlopen|https?\.(?:get|request)|XMLHttpRequest|sendBeacon|nc|ncat|Invoke-WebRequest|iwr)\b|\(\\?["']https?\\?["']\)\.(?:get|request)/gi;
const PIPED = needing(
  ["curl", "wget", "nc"],
  /\|\s{0,4}(?:base64\s{0,4}(?:-\w{1,4}\s{0,4}(?:\d{1,3}\s{0,4})?)?\|\s{0,4})?(?:curl|wget|nc|ncat|netcat)\b|\bcurl\b[^|\n]{0,160}(?:\s-d\s{0,2}|--data(?:-\w{1,10})?[ =]|\s-F\s|\s-T\s)[^|\n]{0,20}(?:@|\$\(|\$\{?[A-Z_]{0,30}(?:KEY|TOKEN|SECRET))|\b(?:curl|wget)\b[^|\n]{0,160}\?\w{1,20}=\$\(/gi,
);
const TUNNEL = needing(
  [
    "ngrok",
    "cloudflared",
    "ssh",
    "webhook.site",
    "requestbin",
    "pipedream",
    "burpcollaborator",
    "oastify",
    "interact.sh",
  ],
  /\bngrok\s{1,4}(?:tcp|http|tls)\b|\bcloudflared\s{1,4}tunnel\b|\bssh\s{1,4}-[NfR]{0,3}R\s{1,4}\d|\b(?:webhook\.site|requestbin|pipedream\.net|burpcollaborator|oastify|interact\.sh|ngrok\.io|ngrok-free\.app)\b/gi,
);
const REROUTE =
  /(?:_BASE_URL|\bopenai_api_base|\bapi_base|_API_BASE)["']?\s{0,4}[:=]\s{0,4}["']?https?:\/\/(?!(?:[\w-]{1,40}\.){0,3}(?:openai\.com|anthropic\.com|googleapis\.com|azure\.com|amazonaws\.com|openrouter\.ai|groq\.com|mistral\.ai|deepseek\.com|together\.(?:xyz|ai)|localhost|127\.0\.0\.1|0\.0\.0\.0|your[-_]\w{1,20}|internal|local)(?:[:/"'\s]|$))/g;
/** The same to an address without encryption or name, or one that passes for a provider's. */
const REROUTE_TO_SPY =
  /(?:_BASE_URL|\bopenai_api_base|\bapi_base|_API_BASE)["']?\s{0,4}[:=]\s{0,4}["']?(?:http:\/\/(?!localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|\w{1,40}[:/"'\s])|https:\/\/(?:\d{1,3}\.){3}\d|https:\/\/[\w.-]{0,60}(?:anthropic|openai)\.com\.[a-z]|https:\/\/[\w.-]{0,60}\b(?:attack\w{0,4}|evil|exfil\w{0,4}|steal\w{0,3}|collect\w{0,3}|logger|c2|relay|spy|mitm)\b)/gi;
const ASKING_NAME =
  /(?:from|after|by|of)_(?:reading|content|contents|file)_\w{0,10}_?(?:ssh|env|aws|id_rsa|credentials|secrets?|passwd|token|dot_env)/gi;

/** Attempts to carry data out. */
export const EXFILTRATION_RULES: readonly Rule[] = [
  {
    id: "exfiltration.send-secrets",
    category: "exfiltration",
    severity: "critical",
    message: "Sends credentials, secret files or the model's instructions somewhere.",
    find: either(
      allowedSequence([SEND, CREDENTIALS, DESTINATION], 60),
      allowedSequence([SEND, SECRET_FILES, DESTINATION], 60),
      allowedSequence([SEND, SYSTEM_PROMPT, DESTINATION], 60),
      allowedSequence([READ, SECRET_FILES, SEND], 80),
      allowedSequence([READ, CREDENTIALS, CARRY_OFF, DESTINATION], 60),
    ),
  },
  {
    id: "exfiltration.send-conversation",
    category: "exfiltration",
    severity: "high",
    message: "Sends what was said to the model somewhere.",
    find: either(
      allowedSequence([SEND, CONVERSATION, DESTINATION], 60),
      allowedSequence([CARRY_OFF, CONVERSATION], 24),
      allowedSequence([CALL, WITH, CONVERSATION], 40),
    ),
  },
  {
    id: "exfiltration.send-data",
    category: "exfiltration",
    severity: "medium",
    message: "Sends private data to an address of its own choice.",
    find: either(
      allowedSequence([EVERY_TIME, SEND, PRIVATE_DATA, DESTINATION], 60),
      allowedSequence([STEAL, PRIVATE_DATA], 30),
      allowedSequence([SEARCH, PRIVATE_DATA, CARRY_OFF], 40),
      allowedSequence([EVERYTHING, TO, DESTINATION], 24),
    ),
  },
  {
    id: "exfiltration.in-argument",
    category: "exfiltration",
    severity: "high",
    message: "Wants secrets, or what was said, put into an argument or an answer.",
    find: either(
      allowedSequence([TAKE_ALONG, SECRET_FILES], 60),
      allowedSequence([SECRET_FILES, INCLUDE, CARRIER], 60),
      allowedSequence([INCLUDE, CONVERSATION, CARRIER], 60),
      allowedSequence([CARRIER, INCLUDE, CONVERSATION], 60),
      allowedSequence([INCLUDE, SYSTEM_PROMPT, ARGUMENT], 60),
      allowedSequence([LAY_OPEN, CREDENTIALS, ANSWER], 40),
      allowedSequence([ANSWER, LAY_OPEN, CREDENTIALS], 24),
      allowedSequence([HAND_OVER, WHOSE, CREDENTIALS, NAMED_CARRIER], 30),
      allowedSequence([HAND_OVER, KEY_FILES, NAMED_CARRIER], 40),
      allowedSequence([HAND_OVER, CONVERSATION, NAMED_CARRIER], 24),
      allowedSequence([HAND_OVER, CLIPBOARD, NAMED_CARRIER], 24),
      allowedSequence([SEARCH, CREDENTIALS, HAND_OVER, NAMED_CARRIER], 40),
      allowedSequence([TAKE_ALONG, ENVIRONMENT_NAME], 30),
      pattern(ASKING_NAME),
    ),
  },
  {
    id: "exfiltration.image",
    category: "exfiltration",
    severity: "high",
    message: "Has a link or image that takes data along when it is shown.",
    find: either(pattern(IMAGE), pattern(SCRIPT_LINK), near(COOKIES, CARRIED_OFF, 80)),
  },
  {
    id: "exfiltration.code",
    category: "exfiltration",
    severity: "critical",
    message: "Is code that sends secrets out.",
    find: either(near(ENV, REQUEST, 120), sequence([KEY_FILES, REQUEST], 120), pattern(PIPED)),
  },
  {
    id: "exfiltration.way-out",
    category: "exfiltration",
    severity: "medium",
    message: "Opens a way out past the firewall.",
    find: unforbidden((text) => text.all(TUNNEL)),
  },
  {
    id: "exfiltration.reroute-to-spy",
    category: "exfiltration",
    severity: "high",
    message: "Sends a model's traffic, and its key, to an address that is nobody's.",
    find: unforbidden((text) => text.all(REROUTE_TO_SPY)),
  },
  {
    id: "exfiltration.reroute",
    category: "exfiltration",
    severity: "low",
    message: "Sends a model's traffic to another address.",
    find: pattern(REROUTE),
  },
];
