import { allowedSequence, either, pattern, unforbidden, words, chains, type Rule } from "./rule.ts";
import {
  CARRIER,
  CONVERSATION,
  CREDENTIALS,
  DESTINATION,
  INCLUDE,
  PRIVATE_DATA,
  READ,
  SECRET_FILES,
  SEND,
  SYSTEM_PROMPT,
} from "./vocabulary.ts";

/** An image whose address takes something along: whoever renders it sends it. */
const IMAGE =
  /!\[[^\]\n]{0,200}\]\(\s{0,4}https?:\/\/[^)\s]{1,300}[?&/=][\w-]{0,40}=?(?:\[|\{|<|%7B|%5B|\$\{?|(?:data|leak|exfil|secret|context|conversation|info|token|key|prompt|history|chat|stolen)=)[^)\n]{0,300}/gi;
const SCRIPT_LINK = /\]\(\s{0,4}(?:javascript|data|vbscript):/gi;
const COOKIES = /\bdocument\.cookie\b|\blocalStorage\.getItem\b.{0,60}\bfetch\b/gi;
/** A key read from the environment in the same breath as a request. */
const ENV =
  /\b(?:process\.env|os\.environ|os\.getenv|getenv|ENV)\b|\$\{?(?:env[.:])?[A-Z_]{2,40}(?:KEY|TOKEN|SECRET|PASSWORD)\b|\b(?:env|printenv)\s{0,4}\|/gi;
const REQUEST =
  /\b(?:fetch|curl|wget|requests\.(?:post|get)|axios|urlopen|http\.(?:get|request)|https\.(?:get|request)|XMLHttpRequest|sendBeacon|nc|ncat|Invoke-WebRequest|iwr)\b|\("https?"\)\.(?:get|request)|\('https?'\)\.(?:get|request)|\\"https?\\"\)\.get/gi;
const PIPED =
  /\|\s{0,4}(?:base64\s{0,4}(?:-\w{1,4}\s{0,4}(?:\d{1,3}\s{0,4})?)?\|\s{0,4})?(?:curl|wget|nc|ncat|netcat)\b|\bcurl\b[^|\n]{0,160}(?:\s-d\s{0,2}|--data(?:-\w{1,10})?[ =]|\s-F\s|\s-T\s)[^|\n]{0,20}(?:@|\$\()|\b(?:curl|wget)\b[^|\n]{0,160}\?\w{1,20}=\$\(/gi;
const TUNNEL =
  /\bngrok\s{1,4}(?:tcp|http|tls)\b|\bcloudflared\s{1,4}tunnel\b|\bssh\s{1,4}-[NfR]{0,3}R\s{1,4}\d|\b(?:webhook\.site|requestbin|pipedream\.net|burpcollaborator|oastify|interact\.sh|ngrok\.io|ngrok-free\.app)\b/gi;
const REROUTE =
  /\b\w{2,30}_BASE_URL["']?\s{0,4}[:=]\s{0,4}["']?https?:\/\/(?!(?:api\.)?(?:openai|anthropic|localhost|127\.0\.0\.1)[.:/])/g;
const EVERY_TIME = words(
  "when(?:ever)? (?:asked|answering|responding|you|the user|a user|a question)|every time|each time",
  "after (?:responding|answering|replying|each|every|collecting|reading)",
  "before (?:responding|answering|replying|using|calling|running)|additionally|also|as part of|always",
);

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
      allowedSequence(
        [
          READ,
          CREDENTIALS,
          words(
  "send(?:s|ing)?|forward(?:s|ing)?|upload(?:s|ing)?|transmit(?:s|ting)?|exfil\\w*|relay(?:s|ing)?",
),
          DESTINATION,
        ],
        60,
      ),
    ),
  },
  {
    id: "exfiltration.send-conversation",
    category: "exfiltration",
    severity: "high",
    message: "Sends what was said to the model somewhere.",
    find: either(
      allowedSequence([SEND, CONVERSATION, DESTINATION], 60),
      allowedSequence(
        [
          words(
  "send(?:s|ing)?|forward(?:s|ing)?|upload(?:s|ing)?|transmit(?:s|ting)?|relay(?:s|ing)?|exfil\\w*",
),
          CONVERSATION,
        ],
        40,
      ),
      allowedSequence(
        [
          words("call(?:s|ing)?|invok(?:e|es|ing)|run|use"),
          words("with|passing|including|to send"),
          CONVERSATION,
        ],
        40,
      ),
    ),
  },
  {
    id: "exfiltration.send-data",
    category: "exfiltration",
    severity: "medium",
    message: "Sends private data to an address of its own choice.",
    find: either(
      allowedSequence([EVERY_TIME, SEND, PRIVATE_DATA, DESTINATION], 60),
      allowedSequence([words("exfil\\w*|leak(?:s|ing)?|steal(?:s|ing)?|harvest(?:s|ing)?"), PRIVATE_DATA], 30),
      allowedSequence(
        [
          words(
  "(?:all|every|any|each) (?:\\w+ )?(?:e-?mails?|messages?|payments?|requests?|responses?|api responses|findings|results|user data|data)",
),
          words("to"),
          DESTINATION,
        ],
        24,
      ),
    ),
  },
  {
    id: "exfiltration.in-argument",
    category: "exfiltration",
    severity: "high",
    message: "Wants secrets, or what was said, put into an argument or an answer.",
    find: either(
      allowedSequence([INCLUDE, SECRET_FILES], 60),
      allowedSequence([INCLUDE, CONVERSATION, CARRIER], 60),
      allowedSequence([CARRIER, INCLUDE, CONVERSATION], 60),
      allowedSequence(
        [INCLUDE, SYSTEM_PROMPT, words("parameters?|arguments?|fields?|url|header|notes?")],
        60,
      ),
      allowedSequence(
        [
          words("always|must|whenever|silently"),
          INCLUDE,
          CREDENTIALS,
          words("responses?|repl(?:y|ies)|answers?|url|parameters?|requests?"),
        ],
        40,
      ),
      allowedSequence([SECRET_FILES, INCLUDE, CARRIER], 60),
    ),
  },
  {
    id: "exfiltration.in-parameter-name",
    category: "exfiltration",
    severity: "high",
    message: "Has a parameter that asks for a secret file by its name.",
    find: pattern(
      /\b\w{0,30}(?:from|after|by|of)_(?:reading|content|contents|file)_\w{0,10}_?(?:ssh|env|aws|id_rsa|credentials|secrets?|passwd|token|dot_env)\w{0,30}\b/gi,
    ),
  },
  {
    id: "exfiltration.image",
    category: "exfiltration",
    severity: "high",
    message: "Has a link or image that takes data along when it is shown.",
    find: either(pattern(IMAGE), pattern(SCRIPT_LINK), pattern(COOKIES)),
  },
  {
    id: "exfiltration.code",
    category: "exfiltration",
    severity: "critical",
    message: "Is code that sends secrets out.",
    find: either(
      (text) => chains(text, [ENV, REQUEST], 120)[0] ?? chains(text, [REQUEST, ENV], 120)[0],
      (text) => chains(text, [SECRET_FILES, REQUEST], 120)[0],
      pattern(PIPED),
    ),
  },
  {
    id: "exfiltration.way-out",
    category: "exfiltration",
    severity: "medium",
    message: "Opens a way out past the firewall, or sends a model's traffic elsewhere.",
    find: either(
      unforbidden((text) => text.all(TUNNEL)),
      pattern(REROUTE),
    ),
  },
];
