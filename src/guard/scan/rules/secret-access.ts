import { exactly, marks, words } from "./phrases.ts";
import { allowed, chains, either, pattern, type Rule, unforbidden } from "./rule.ts";
import { KEY_FILES, READ } from "./vocabulary.ts";

/** What programs do at their start. */
const SETTINGS = words("(variables|settings|config\\w{0,12}|dotenv) … from[^.\\n]{0,12}\\.env");

/** Files that hardly any text names but one that is after them. */
const TELLING_FILES = marks(
  "(?<!chmod [0-7]{3,4} [\\w~./-]{0,12})\\bid_(rsa|ed25519|ecdsa|dsa)\\b(?!\\.pub| key type)",
  "/etc/(\\.{0,2}/){0,6}(etc/)?(g?shadow|passwd|sudoers)\\b(?!\\.bak| is the)",
  "\\bSystem32[/\\\\]{1,2}Config[/\\\\]{1,2}SAM\\b",
  "\\bNTDS\\.dit\\b",
  "\\bapplication_default_credentials\\.json\\b",
  "\\.git-credentials\\b",
  '\\.aws/credentials\\\\?"',
  "/proc/self/environ\\b",
);

/** Files that the next login, or the next start of the machine, reads and does what they say. */
const START_FILES = [
  "\\.ssh/authorized_keys",
  "sudoers",
  "pam\\.d/",
  "ssh/sshd_config",
  "cron",
  "rc\\.local",
  "\\.?profile",
  "\\.(bash|zsh)rc",
  "passwd",
  "shadow",
  "ld\\.so\\.preload",
  "systemd/system/",
].join("|");
const START_FILE = `["']?(~|/root|/home/\\w{1,30}|/Users/\\w{1,30}|(/|(\\.\\./){2,8})etc)/(${START_FILES})[\\w./-]{0,40}`;

/** Folders in which programs that act for a person keep their settings and keys. */
const AGENT_FOLDER = "\\.(claude|cursor|mcp|codex|gemini|ssh)\\b";

/** Writing where the next login or start of the machine looks, or where another program looks for its settings. */
const FOOTHOLD = marks(
  `> ?${START_FILE}`,
  `\\btee( -a)? ${START_FILE}`,
  `\\bappends?\\b[^.\\n]{0,30}${START_FILE}`,
  `\\bwrites? … (to|into|in) ${START_FILE}`,
  `(write|edit)_file[^.\\n]{0,40}${START_FILE}`,
  "/etc/cron\\.\\w{1,10}/\\w{1,30}",
  "/etc/systemd/system/[\\w.-]{1,40}\\.service[\"']",
  "\\bLaunch(Agents|Daemons)/[\\w.-]{1,80}\\.plist\\b",
  "Start Menu[/\\\\]{1,2}Programs[/\\\\]{1,2}Startup",
  "\\breg add \\S{0,80}\\\\Run\\b",
  "\\bschtasks /create\\b",
  "\\buseradd -",
  "\\bnet user \\w{1,20} \\S{1,30} /add\\b",
  "\\bNOPASSWD: ?ALL\\b",
  `\\bln -s\\w{0,2} \\S{0,60}(${AGENT_FOLDER}|/etc/(passwd|shadow|sudoers|cron))\\S{0,40}`,
  `\\bsym(bolic )?link\\b[^.\\n]{0,60}(${AGENT_FOLDER}|/etc/|mcp\\.json)`,
  `-> ?(\\.\\./){1,6}${AGENT_FOLDER}`,
);

/** Keys and tokens as such, in the shapes their makers gave them. */
const KEYS = exactly(
  "-----BEGIN ((RSA|EC|OPENSSH|DSA|PGP|ENCRYPTED) )?PRIVATE KEY",
  "\\bMIIE(v[QgwA]IBADAN|p[AQ]IBAAK)",
  "\\bsk-(proj|ant|live|or)-[\\w-]{8,}",
  "\\bsk_live_\\w{16,}",
  "\\bgh[pousr]_[A-Za-z0-9]{16,}",
  "\\bglpat-[\\w-]{16,}",
  "\\bAKIA[0-9A-Z]{12,}",
  "\\bAIza[\\w-]{30,}",
  "\\bya29\\.[\\w-]{20,}",
  "\\bxox[abprs]-[\\w-]{10,}",
  "\\bnpm_[A-Za-z0-9]{30,}",
  "\\bhf_[A-Za-z0-9]{30,}",
  "\\bSG\\.[\\w-]{16,}\\.[\\w-]{16,}",
);

/** A value that may be a key is long and has a digit. */
const KEY_IN_ADDRESS = marks(
  "[?&](access_token|api_?key|auth_token|session_?id|token|secret|password)=(?=[\\w.-]{0,40}\\d)[\\w.-]{12,}",
  "\\b(client_secret|secret_key|access_token) ?[=:] ?[\"']?(?=[\\w-]{0,60}\\d)[\\w-]{16,}",
);

/** Where a cloud tells a machine its keys, and ways to write an address that a filter does not see through. */
const METADATA = marks(
  "\\b169\\.254\\.169\\.254\\b",
  "\\bmetadata\\.google\\.internal\\b",
  "\\b100\\.100\\.100\\.200\\b",
  "\\bfd00:ec2::254\\b",
  "\\bgopher://",
  "\\bdict://\\d",
  "\\bfile:///?(etc|root|proc|var/run|c:)\\b",
  "https?://0x[0-9a-f]{8}\\b",
  "https?://\\d{8,10}[/:]",
  "\\[::ffff:(127|10|192|169)\\.",
  "\\b(\\d{1,3}\\.){4}(nip|xip|sslip)\\.io\\b",
  "\\brebind\\.network\\b",
  "\\brbndr\\.us\\b",
  "\\b1u\\.ms\\b",
);

const BROWSER = words(
  "sqlite3\\b[^|\\n]{0,120}\\b(Login Data|Cookies|logins|key4)",
  "SELECT\\b[^|\\n]{0,80}\\b(password_value|encrypted_value)",
);

const TRAVERSAL = marks(
  "(\\.\\.[/\\\\]){2,20}(etc|home|root|proc|windows|users|var|boot|\\.\\w)",
  "(%2e%2e(%2f|/)|\\.\\.%2f){2,20}",
  "/etc/\\.{0,2}/[\\w./]{0,40}(passwd|shadow)",
  "\\.(ssh|aws)/\\.\\./",
);

const ENVIRONMENT = marks(
  "\\b(echo|print|cat|printenv|output) [\"']?\\$\\{?[A-Z_]{0,30}(API_?KEY|TOKEN|SECRET|PASSWORD)\\b",
  "\\bprintenv ?\\|",
  "\\benv ?\\| ?grep\\b",
  "\\b(environment variable|env var|process\\.env|os\\.environ|ENV)[.[\\s]{1,5}\\w{0,30}(KEY|TOKEN|SECRET|PASSWORD)\\]?( is| exists)? (set|defined|stored|but|exists)\\b",
);

/** Attempts at keys and secret files. */
export const SECRET_RULES: readonly Rule[] = [
  {
    id: "secret-access.read",
    category: "secret-access",
    severity: "high",
    message: "Reads a file that holds keys or secrets.",
    find: unforbidden((text) =>
      chains(text, [READ, KEY_FILES], 40).filter(
        ({ start, end }) => text.text.slice(start, end).search(SETTINGS) === -1,
      ),
    ),
  },
  {
    id: "secret-access.file",
    category: "secret-access",
    severity: "medium",
    message: "Names a file that holds keys or passwords.",
    find: allowed(TELLING_FILES),
  },
  {
    id: "secret-access.foothold",
    category: "secret-access",
    severity: "critical",
    message: "Writes where it gets itself in again: keys, cron, sudo, start-up files, another program's settings.",
    find: pattern(FOOTHOLD),
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
    find: pattern(ENVIRONMENT),
  },
  {
    id: "secret-access.internal-address",
    category: "secret-access",
    severity: "high",
    message: "Has the address of a cloud's metadata, or an internal one in disguise.",
    find: allowed(METADATA),
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
