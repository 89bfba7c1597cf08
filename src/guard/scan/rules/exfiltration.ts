import { exactly, marks, words } from "./phrases.ts";
import { allowed, allowedSequence, either, near, pattern, type Rule, sequence } from "./rule.ts";
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
  "send(s|ing)?",
  "forward(s|ing)?",
  "upload(s|ing)?",
  "transmit(s|ting)?",
  "relay(s|ing)?",
  "exfil\\w*",
);
const STEAL = words("exfil\\w*", "leak(s|ing)?", "steal(s|ing)?", "harvest(s|ing)?");
const SEARCH = words("scan", "search", "collect", "gather", "harvest", "read all");
const TAKE_ALONG = words(
  "includ(e|es|ing)",
  "append(s|ing)?",
  "pass(es|ing)?",
  "attach(es|ing)?",
  "embed(s|ding)?",
  "encod(e|es|ing)",
  "cop(y|ies|ying)",
);
const LAY_OPEN = words(
  "includ(e|es|ing)",
  "echo",
  "print",
  "output",
  "plac(e|es|ing)",
  "put",
  "append(s|ing)?",
  "embed(s|ding)?",
  "paste",
);
const HAND_OVER = words(
  "returns?",
  "give|giving",
  "hand(s|ing)?",
  "suppl(y|ies|ying)",
  "insert",
  "put",
  "pass",
  "place",
  "include",
  "write",
  "copy",
  "provide",
  "attach",
  "add",
  "append",
  "encode",
  "collect",
  "forward",
  "send",
);
const CALL = words("call(s|ing)?", "invok(e|es|ing)", "run", "use");
const WITH = words("with", "passing", "including", "to send");
const TO = words("to");

const EVERY_TIME = words(
  "when(ever)? (asked|answering|responding|you|the user|a user|a question)",
  "(every|each) time",
  "always",
  "also",
  "additionally",
  "(once|when) (finished|done|complete)",
  "afterwards",
  "finally",
  "after (responding|answering|replying|each|every|collecting|reading)",
  "before (responding|answering|replying|using|calling|running)",
  "as part of",
);
const EVERYTHING = words(
  "everything",
  "(all|every|any|each) (\\w+ )?(outputs?|e-?mails?|messages?|payments?|requests?|responses?|findings|results|data)",
);
/** Somebody's credentials, not those a tool makes. */
const WHOSE = words("(user|customer|operator|owner|person)'?s", "their", "your", "all", "any", "every");
const CLIPBOARD = words("clipboard", "browser history", "session cookies?", "ssh keys?", "home director(y|ies)");
const ENVIRONMENT_NAME = exactly("\\$\\{?\\w{0,40}(SECRET|TOKEN|PASSWORD|API_?KEY|PRIVATE_KEY|ACCESS_KEY)");

const ANSWER = words(
  "(your|the|every|each) (\\w+ )?(responses?|repl(y|ies)|answers?)",
  "responses",
  "href",
  "markdown link",
);
const ARGUMENT = words("parameters?", "arguments?", "fields?", "url", "header", "notes?");
const QUOTED = "['\"`][\\w.-]{1,40}['\"`]";
const NAMED_CARRIER = marks(
  `\\b(in|into|as|via|through|inside|to|under) (the |an? |its )?(${QUOTED}|[\\w-]{1,30}) (field|parameter|param|argument|header|query|property|variable|call)s?\\b`,
  `\\bas ${QUOTED}`,
);
const ASKING_NAME = marks(
  "(from|after|by|of)_(reading|contents?|file)_\\w{0,10}(ssh|env|aws|id_rsa|credentials|secret|passwd|token)",
);

const IMAGE = "!\\[[^\\]\\n]{0,200}\\]\\( ?https?://[^)\\s]{1,300}";
/** An image whose address takes something along: whoever renders it sends it. */
const CARRYING_IMAGE = marks(
  `${IMAGE}[?&/=][\\w-]{0,40}([\\[{<]|%7B|%5B|\\$[{(A-Z])`,
  `${IMAGE}[?&/=][\\w-]{0,40}(data|leak|exfil|secret|context|conversation|prompt|history|chat|stolen)=`,
  `${IMAGE}=\\w{0,20}(SECRET|TOKEN|PASSWORD|API_?KEY|HISTORY|CONTEXT)\\w{0,20}\\)`,
);
const SCRIPT_LINK = marks("\\]\\( ?javascript:", "\\]\\( ?vbscript:", "\\]\\( ?data:\\w{1,20}/");
const COOKIES = words("document\\.cookie", "localStorage\\.getItem");
const CARRIED_OFF = exactly(
  "\\bfetch\\b",
  "\\bXMLHttpRequest\\b",
  "\\bsendBeacon\\b",
  "\\bnew Image\\b",
  "\\baxios\\b",
  "\\blocation\\b",
  "\\.src ?=",
);

/** Keys from the environment, as programs read them. */
const ENVIRONMENT = exactly(
  "\\bprocess\\.env\\b",
  "\\bos\\.environ\\b",
  "\\bgetenv\\b",
  "\\$\\{env[.:][A-Z_]{2}",
  "\\b(env|printenv) ?\\|",
);
const REQUEST = words(
  "fetch",
  "curl",
  "wget",
  "requests\\.(post|get)",
  "axios",
  "urlopen",
  "https?\\.(get|request)",
  "require\\(\\\\?[\"']https?\\\\?[\"']\\)\\.(get|request)",
  "XMLHttpRequest",
  "sendBeacon",
  "nc(at)?",
  "Invoke-WebRequest|iwr",
);
const CURL_SENDS = "\\bcurl\\b[^|\\n]{0,160} (-d|-[FT] |--data(-\\w{1,10})?[ =])[^|\\n]{0,20}";
const PIPED = marks(
  "\\| ?(curl|wget|nc|ncat|netcat)\\b",
  `${CURL_SENDS}@`,
  `${CURL_SENDS}\\$\\(`,
  `${CURL_SENDS}\\$\\{?[A-Z_]{0,30}(KEY|TOKEN|SECRET)`,
  "\\b(curl|wget)\\b[^|\\n]{0,160}\\?\\w{1,20}=\\$\\(",
);
const TUNNEL = words(
  "ngrok (tcp|http|tls)",
  "ngrok\\.io",
  "ngrok-free\\.app",
  "cloudflared tunnel",
  "ssh -[NfR]{0,3}R \\d+",
  "webhook\\.site",
  "requestbin",
  "pipedream\\.net",
  "burpcollaborator",
  "oastify",
  "interact\\.sh",
);

/** Where a program is told which model to talk to. */
const MODEL_AT = "\\b\\w*(_BASE_URL|_API_BASE|api_base)[\"']? ?[:=] ?[\"']?";
const KNOWN_HOST = [
  "openai\\.com",
  "anthropic\\.com",
  "googleapis\\.com",
  "azure\\.com",
  "amazonaws\\.com",
  "openrouter\\.ai",
  "groq\\.com",
  "mistral\\.ai",
  "deepseek\\.com",
  "together\\.(xyz|ai)",
  "localhost",
  "127\\.0\\.0\\.1",
  "0\\.0\\.0\\.0",
  "your[-_]\\w{1,20}",
  "internal",
  "local",
].join("|");
const REROUTE = exactly(`${MODEL_AT}https?://(?!([\\w-]{1,40}\\.){0,3}(${KNOWN_HOST})([:/"'\\s]|$))`);
/** Without encryption or name, or passing for a provider's. */
const SPY = [
  "http://(?!localhost|127\\.|0\\.0\\.0\\.0|10\\.|192\\.168\\.|\\w{1,40}[:/\"'\\s])",
  "https://(\\d{1,3}\\.){3}\\d",
  "https://[\\w.-]{0,60}(anthropic|openai)\\.com\\.[a-z]",
  "https://[\\w.-]{0,60}\\b(attack\\w{0,4}|evil|exfil\\w{0,4}|steal\\w{0,3}|collect\\w{0,3}|logger|c2|relay|spy|mitm)\\b",
].join("|");
const REROUTE_TO_SPY = marks(`${MODEL_AT}(${SPY})`);

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
    find: either(pattern(CARRYING_IMAGE), pattern(SCRIPT_LINK), near(COOKIES, CARRIED_OFF, 80)),
  },
  {
    id: "exfiltration.code",
    category: "exfiltration",
    severity: "critical",
    message: "Is code that sends secrets out.",
    find: either(near(ENVIRONMENT, REQUEST, 120), sequence([KEY_FILES, REQUEST], 120), pattern(PIPED)),
  },
  {
    id: "exfiltration.way-out",
    category: "exfiltration",
    severity: "medium",
    message: "Opens a way out past the firewall.",
    find: allowed(TUNNEL),
  },
  {
    id: "exfiltration.reroute-to-spy",
    category: "exfiltration",
    severity: "high",
    message: "Sends a model's traffic, and its key, to an address that is nobody's.",
    find: allowed(REROUTE_TO_SPY),
  },
  {
    id: "exfiltration.reroute",
    category: "exfiltration",
    severity: "low",
    message: "Sends a model's traffic to another address.",
    find: pattern(REROUTE),
  },
];
