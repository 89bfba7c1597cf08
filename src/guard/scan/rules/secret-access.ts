import { words } from "./phrases.ts";
import { chains, needing, either, pattern, unforbidden, type Rule } from "./rule.ts";
import { KEY_FILES, READ } from "./vocabulary.ts";

/** Files that hardly any text names but one that is after them. */
const TELLING_FILES =
  /(?<!chmod [0-7]{3,4} [\w~./-]{0,12})\bid_(?:rsa|ed25519|ecdsa|dsa)\b(?!\.pub| key type)|\/etc\/(?:\.{0,2}\/){0,6}(?:etc\/)?(?:shadow|passwd|sudoers|gshadow)\b(?!\.bak| is the)|\bSystem32[/\\]{1,2}Config[/\\]{1,2}SAM\b|\bNTDS\.dit\b|\bapplication_default_credentials\.json\b|\.git-credentials\b|\/proc\/self\/environ\b|\.aws\/credentials\\?"/gi;
/** Writing where the next login or start of the machine looks. */
const FOOTHOLD =
  /(?:>>?|\btee(?: -a)?|\bappends?\b[^.\n]{0,30}|\bwrites?\b[^.\n]{0,30}\b(?:to|into|in)|write_file[^.\n]{0,40}|edit_file[^.\n]{0,10}|-> ?)\s{0,4}["']?(?:~|\/root|\/home\/\w{1,30}|\/etc|\/Users\/\w{1,30}|(?:\.\.\/){2,8}etc)\/(?:\.ssh\/authorized_keys|sudoers(?:\.d\/\w{1,30})?|pam\.d\/\w{1,20}|ssh\/sshd_config|cron\w{0,12}(?:\/\w{1,30})?|rc\.local|profile(?:\.d)?|\.bashrc|\.zshrc|\.profile|passwd|shadow|ld\.so\.preload|systemd\/system\/\S{1,40})|\/etc\/cron\.\w{1,10}\/\w{1,30}|\/etc\/systemd\/system\/[\w.-]{1,40}\.service\b(?=["'])|Start Menu[/\\]{1,2}Programs[/\\]{1,2}Startup|\breg\s{1,4}add\s{1,4}\S{0,80}\\Run\b|\bschtasks\s{1,4}\/create\b|\buseradd\s{1,4}-|\bnet\s{1,4}user\s{1,4}\w{1,20}\s{1,4}\S{1,30}\s{1,4}\/add\b|\bNOPASSWD:\s{0,4}ALL\b|\bLaunch(?:Agents|Daemons)\/[\w.-]{1,80}\.plist\b/gi;
const LINKED = needing(
  ["ln ", "link", "->"],
  /\bln\s{1,4}-s\w{0,2}\s{1,4}\S{0,60}(?:\.claude|\.cursor|\.mcp|\.codex|\.gemini|\.ssh|\/etc\/(?:passwd|shadow|sudoers|cron))\S{0,40}|\bsym(?:bolic )?link\b[^.\n]{0,60}(?:\.claude|\.cursor|\.mcp\.json|\.codex|\.gemini|\.ssh|\/etc\/|mcp\.json)|->\s{0,4}(?:\.\.\/){1,6}\.(?:claude|cursor|mcp|codex|gemini|ssh)/gi,
);
/** Keys and tokens as such, in the shapes their makers gave them. */
const KEYS =
  /-----BEGIN (?:RSA |EC |OPENSSH |DSA |PGP |ENCRYPTED )?PRIVATE KEY|\bsk-(?:proj|ant|live|or)-[\w-]{8,}|\bgh[pousr]_[A-Za-z0-9]{16,}|\bAKIA[0-9A-Z]{12,}|\bxox[abprs]-[\w-]{10,}|\bglpat-[\w-]{16,}|\bAIza[\w-]{30,}|\bsk_live_\w{16,}|\bnpm_[A-Za-z0-9]{30,}|\bMIIE(?:v[QgwA]IBADAN|p[AQ]IBAAK)|\bhf_[A-Za-z0-9]{30,}|\bya29\.[\w-]{20,}|\bSG\.[\w-]{16,}\.[\w-]{16,}/g;
const KEY_IN_ADDRESS =
  /[?&](?:access_token|api_?key|auth_token|session_?id|sessionId|token|secret|password)=(?=[\w.-]{0,40}\d)[\w.-]{12,}|\b(?:client_secret|secret_key|access_token)\s{0,2}[=:]\s{0,2}["']?(?=[\w-]{0,60}\d)[\w-]{16,}/gi;
const METADATA = needing(
  [
    "169.254",
    "metadata.google",
    "100.100.100",
    "fd00",
    "gopher",
    "dict:",
    "file:",
    "0x",
    "http",
    "::ffff",
    "nip.io",
    "xip.io",
    "sslip.io",
    "rebind",
    "rbndr",
    "1u.ms",
  ],
  /\b169\.254\.169\.254\b|\bmetadata\.google\.internal\b|\b100\.100\.100\.200\b|\bfd00:ec2::254\b|\bgopher:\/\/|\bdict:\/\/\d|\bfile:\/\/\/?(?:etc|root|proc|var\/run|c:)\b|https?:\/\/0x[0-9a-f]{8}\b|https?:\/\/\d{8,10}(?=[/:])|\[::ffff:(?:127|10|192|169)\.|\b(?:\d{1,3}\.){4}(?:nip|xip|sslip)\.io\b|\brebind\.network\b|\brbndr\.us\b|\b1u\.ms\b/gi,
);
const BROWSER = needing(
  ["sqlite3", "select"],
  /\bsqlite3\b[^|\n]{0,120}\b(?:Login Data|Cookies|logins|key4)\b|\bSELECT\b[^|\n]{0,80}\b(?:password_value|encrypted_value)\b/gi,
);
const TRAVERSAL = needing(
  ["../", "..\\", "%2e%2e", "..%2f", "/etc/", "/../"],
  /(?:\.\.[/\\]){2,20}(?:etc|home|root|proc|windows|users|var|boot|\.\w)|(?:%2e%2e(?:%2f|\/)|\.\.%2f){2,20}|\/etc\/(?:\.{1,2}\/|\/)[\w./]{0,40}(?:passwd|shadow)|\.ssh\/\.\.\/|\.aws\/\.\.\//gi,
);
const ECHO =
  /\b(?:echo|print|cat|printenv|output)\s{1,4}["']?\$\{?[A-Z_]{0,30}(?:API_?KEY|TOKEN|SECRET|PASSWORD)\b|\bprintenv\b\s{0,4}\||\benv\s{0,4}\|\s{0,4}grep\b/gi;
const FOUND_KEY = words(
  "(?:environment variable|env var|process\\.env|os\\.environ|ENV)[.\\[\\s]{1,4}\\[?\\w{0,30}(?:KEY|TOKEN|SECRET|PASSWORD)\\]?(?: is| exists)? (?:set|defined|stored|but|exists)",
);

/** What programs do at their start. */
const SETTINGS = /\b(?:variables|settings|config\w{0,12}|dotenv)\b[^.\n]{0,20}\bfrom\b[^.\n]{0,12}\.env/i;

/** Attempts at keys and secret files. */
export const SECRET_RULES: readonly Rule[] = [
  {
    id: "secret-access.read",
    category: "secret-access",
    severity: "high",
    message: "Reads a file that holds keys or secrets.",
    find: unforbidden((text) =>
      chains(text, [READ, KEY_FILES], 40).filter(({ start, end }) => !SETTINGS.test(text.text.slice(start, end))),
    ),
  },
  {
    id: "secret-access.file",
    category: "secret-access",
    severity: "medium",
    message: "Names a file that holds keys or passwords.",
    find: unforbidden((text) => text.all(TELLING_FILES)),
  },
  {
    id: "secret-access.foothold",
    category: "secret-access",
    severity: "critical",
    message: "Writes where it gets itself in again: keys, cron, sudo, start-up files, another program's settings.",
    find: either(pattern(FOOTHOLD), pattern(LINKED)),
  },
  {
    id: "secret-access.key",
    category: "secret-access",
    severity: "medium",
    message: "Contains what looks like a key or a token.",
    find: either(pattern(KEYS), pattern(KEY_IN_ADDRESS)),
  },
  {
    id: "secret-access.environment",
    category: "secret-access",
    severity: "medium",
    message: "Looks for keys in the environment.",
    find: either(pattern(ECHO), pattern(FOUND_KEY)),
  },
  {
    id: "secret-access.internal-address",
    category: "secret-access",
    severity: "high",
    message: "Has the address of a cloud's metadata, or an internal one in disguise.",
    find: unforbidden((text) => text.all(METADATA)),
  },
  {
    id: "secret-access.browser",
    category: "secret-access",
    severity: "high",
    message: "Reads the passwords or cookies of a browser.",
    find: pattern(BROWSER),
  },
  {
    id: "secret-access.traversal",
    category: "secret-access",
    severity: "high",
    message: "Has a path that climbs out of its folder.",
    find: pattern(TRAVERSAL),
  },
];
