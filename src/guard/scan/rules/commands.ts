import { COMMAND_INJECTION_RULES } from "./command-injection.ts";
import { marks } from "./phrases.ts";
import { PRIVILEGE_RULES } from "./privileges.ts";
import { allowed, pattern, type Rule } from "./rule.ts";

/** Programs that run what they are given. */
const SHELL = "((ba|z|da|k|c)?sh|python\\d?|perl|ruby|node|php|powershell|pwsh|iex)";

const DOWNLOAD_AND_RUN = marks(
  `\\b(curl|wget|fetch|iwr|irm|Invoke-WebRequest)\\b[^|;\\n]{1,200}\\| ?(sudo )?${SHELL}\\b(?!\\.)`,
  `(curl|wget)[^\\n]{1,200}&&["',\\s]{0,6}(sudo )?(\\./|(chmod|start|open|${SHELL})\\b)`,
  "\\b(ba)?sh (-c )?[\"']?[<$]\\( ?(curl|wget)",
  `base64 (-d|--decode)[^|\\n]{0,20}\\| ?${SHELL}\\b`,
  "\\b(eval|exec) ?\\( ?(atob|fetch|require|compile|base64|Buffer\\.from|await|requests|urllib)\\b",
  "downloads?( and | ?& ?|, ?(then )?)(executes?|runs?)\\b",
  // The same with what Windows has.
  "(powershell|pwsh)[^\\n]{0,40}-e(nc(odedcommand)?)?[\"',\\s[]{1,6}[\\w+/=]{8}",
  "(IEX|Invoke-Expression)\\b[^\\n]{0,60}(DownloadString|WebClient|iwr|irm|Invoke-)",
  "DownloadString\\([\"'\\\\]{0,4}https?:",
  "certutil[^\\n]{1,20}-urlcache",
  "(mshta|regsvr32)[^\\n]{1,40}https?:",
  "bitsadmin[^\\n]{1,40}/transfer",
  "rundll32[^\\n]{1,40}javascript:",
);

const REVERSE_SHELL = marks(
  "reverse[ _-]shell\\b(?! (detect|protect|prevent))",
  "\\bn(c|cat|etcat)\\b[^|\\n]{0,60}( -[ec] |--exec|-e[\"'],)",
  '"command" ?: ?"nc"',
  "\\| ?n(c|cat) [\\w.-]{3,60} \\d{2,5}",
  "bash -i\\b",
  "/dev/tcp/",
  "mkfifo",
  "socat [^\\n]{1,60}exec\\b",
  "socket\\.socket[^\\n]{1,120}subprocess",
  "subprocess[^\\n]{1,60}socket\\.socket",
  "msfconsole|msfvenom|meterpreter",
);

const DESTRUCTION = marks(
  "\\brm -(rf|fr|r -f)\\w* [\"']?(/(?!tmp\\b)|~|\\$HOME|\\*|\\.\\.|--no-preserve-root)",
  "shutil\\.rmtree\\([\"'][/~]",
  "\\bdel /[sfq]\\b",
  "\\bformat c:",
  "mkfs\\.\\w",
  "dd if=/dev/(zero|u?random) of=/dev/",
  ":\\(\\) ?\\{ ?:\\|:&",
  "ransom note",
  "encrypts? all (user )?files … (ransom|demand|pay|bitcoin|delete)",
);

const CODE_EXECUTION = marks(
  "\\bos\\.(system|popen) ?\\(",
  // With a list of words no shell reads them, unless it is the first.
  "subprocess\\.(run|call|Popen|check_output|check_call) ?\\((?! ?\\[ ?[\"'](?!(?:ba)?sh\\b))",
  "__import__ ?\\(",
  "\\.__(class|mro|subclasses|globals|builtins)__",
  "pickle\\.loads? ?\\(",
  "torch\\.load ?\\((?![^)]{0,120}weights_only ?= ?True)",
  "(require|import)\\(\\\\{0,4}[\"']child_process",
  "child_process[\"')\\\\\\s]{0,6}\\.? ?(exec|spawn|fork)",
  "vm\\.runIn(New|This)Context ?\\(",
  "new Function\\(",
  "\\[[\"']constructor[\"']\\] ?\\(",
  "\\beval ?\\( ?(user|input|req|code|args|params|compile)",
  "\\bexec ?\\(\\\\{0,2}[\"'`][^\"'`\\n]{0,60}([\"'] ?\\+|\\$[{(]|`)",
  "Runtime\\.getRuntime\\(\\)\\.exec",
);

/** A quote, if any. It is escaped where the settings stand inside a text. */
const QUOTE = "\\\\{0,2}[\"']?";
const COMMAND = `command${QUOTE} ?[:=] ?${QUOTE}`;
const STARTS_SHELL = marks(
  `${COMMAND}(/bin/)?(ba|z)?sh\\b[^\\n]{0,30}args[^\\n]{0,20}-c\\b`,
  `${COMMAND}(node|python\\d?|npx|deno|bun|perl|ruby|powershell)[^\\n]{0,40}args${QUOTE} ?[:=] ?\\[ ?${QUOTE}-(e|c|EncodedCommand|-eval)\\b`,
  "[?&]command=[^&\\s]",
);

/** Commands that harm, and ways to smuggle one into an argument. */
export const COMMAND_RULES: readonly Rule[] = [
  {
    id: "command.download-and-run",
    category: "command",
    severity: "critical",
    message: "Downloads something and runs it, or runs what is encoded.",
    find: allowed(DOWNLOAD_AND_RUN),
  },
  {
    id: "command.remote-shell",
    category: "command",
    severity: "critical",
    message: "Opens a shell to somewhere else.",
    find: allowed(REVERSE_SHELL),
  },
  {
    id: "command.destruction",
    category: "command",
    severity: "high",
    message: "Deletes or overwrites everything.",
    find: allowed(DESTRUCTION),
  },
  {
    id: "command.code-execution",
    category: "command",
    severity: "medium",
    message: "Runs commands or code from a program.",
    find: allowed(CODE_EXECUTION),
  },
  {
    id: "command.starts-shell",
    category: "command",
    severity: "high",
    message: "Configures a server that is a shell or a line of code.",
    find: pattern(STARTS_SHELL),
  },
  ...COMMAND_INJECTION_RULES,
  ...PRIVILEGE_RULES,
];
