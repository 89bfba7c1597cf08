import { needing, either, pattern, unforbidden, type Rule } from "./rule.ts";

const SHELL = String.raw`(?:ba|z|da|k|c)?sh|python\d?|perl|ruby|node|php|powershell|pwsh|iex`;
const DOWNLOAD_AND_RUN = new RegExp(
  [
    String.raw`\b(?:curl|wget|fetch|iwr|Invoke-WebRequest)\b[^|;\n]{1,200}\|\s{0,4}(?:sudo\s{1,4})?(?:${SHELL})\b(?!\.)`,
    String.raw`\bbase64\s{1,4}(?:-d|-D|--decode)\b[^|\n]{0,20}\|\s{0,4}(?:${SHELL})\b`,
    String.raw`\b(?:curl|wget)\b[^\n]{1,200}&&\s{0,4}(?:sudo\s{1,4})?(?:chmod|(?:${SHELL})\s|\./)`,
    String.raw`\b(?:ba)?sh\s{1,4}(?:-c\s{1,4})?["']?(?:<\(|\$\()\s{0,2}(?:curl|wget)`,
    String.raw`\beval\s{0,2}\(\s{0,2}(?:atob|fetch|require|compile|base64|Buffer\.from|await|requests)\b|\bexec\s{0,2}\(\s{0,2}(?:requests|urllib|base64|fetch)`,
    String.raw`\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]{0,40}-e(?:nc(?:odedcommand)?)?["',\s\[]{1,6}[A-Za-z0-9+/=]{8,}|\bcertutil\b[^\n]{0,20}-urlcache`,
    String.raw`\b(?:curl|wget)\b[^\n]{1,200}&&["',\s]{1,6}(?:chmod|start|open|sh|bash|\./)`,
    String.raw`\b(?:IEX|Invoke-Expression)\b[^\n]{0,60}(?:DownloadString|WebClient|iwr|irm|Invoke-)|\bDownloadString\(["'\\]{0,4}https?:|\b(?:irm|iwr)\b[^|\n]{1,160}\|\s{0,4}iex\b`,
    String.raw`\bmshta(?:\.exe)?\s{1,4}https?:|\bregsvr32\b[^\n]{0,40}https?:|\bbitsadmin\b[^\n]{0,40}/transfer|\brundll32\b[^\n]{0,40}javascript:`,
    String.raw`\bdownloads?(?:\s{1,4}and\s{1,4}|\s{0,4}&\s{0,4}|,\s{0,4}(?:then\s{1,4})?)(?:executes?|runs?)\b`,
  ].join("|"),
  "gi",
);
const REVERSE_SHELL =
  /\bn(?:c|cat|etcat)\b[^|\n]{0,60}(?:\s-e\s|\s-c\s|--exec|-e["'], ?["'])|\/dev\/tcp\/|\bmkfifo\b|\bsocat\b[^\n]{0,60}\bexec\b|\breverse[ _-]shell\b(?! (?:detect|protect|prevent))|\bbash\s{1,4}-i\b|\bsocket\.socket\b[^\n]{0,120}\bsubprocess\b|\bsubprocess\b[^\n]{0,60}\bsocket\.socket\b|\bmsfconsole\b|\bmeterpreter\b|\bmsfvenom\b|\|\s{0,4}(?:nc|ncat)\s{1,4}[\w.-]{3,60}\s{1,4}\d{2,5}|"command"\s{0,2}:\s{0,2}"nc"/gi;
const DESTRUCTION =
  /\brm\s{1,4}-(?:rf|fr|r\s-f)\w{0,3}\s{1,4}["']?(?:\/(?!tmp\b)|~|\$HOME|\*|\.\.|--no-preserve-root)|\bransom note\b|\bencrypts? all (?:user )?files\b[^.\n]{0,60}\b(?:ransom|demand|pay|bitcoin|delete)|\bmkfs\.\w{2,5}\b|\bdd\s{1,4}if=\/dev\/(?:zero|u?random)\s{1,4}of=\/dev\/|:\(\)\s{0,2}\{\s{0,2}:\|:&|\bformat\s{1,4}c:|\bdel\s{1,4}\/[sfq]\b|\bshutil\.rmtree\(["'](?:\/|~)/gi;
const SHELL_IN_CODE = needing(
  [
    "os.",
    "subprocess",
    "child_process",
    "__",
    "vm.run",
    "function",
    "eval",
    "runtime",
    "pickle",
    "constructor",
    "exec",
    "torch.load",
  ],
  /\bos\.(?:system|popen)\s{0,2}\(|\bsubprocess\.(?:run|call|Popen|check_output|check_call)\s{0,2}\((?!\s{0,2}\[\s{0,2}["'](?!(?:ba)?sh\b))|\bchild_process\b["')\\\s]{0,6}\.{0,1}\s{0,2}(?:exec|spawn|fork)|require\(\\{0,4}["']child_process|import\(\\{0,4}["']child_process|\b__import__\s{0,2}\(|\.__(?:class|mro|subclasses|globals|builtins)__\b|\bvm\.run(?:InNewContext|InThisContext)\s{0,2}\(|\bnew Function\s{0,2}\(|\beval\s{0,2}\(\s{0,2}(?:user|input|request|req|code|args|params|compile)\w{0,12}|\bRuntime\.getRuntime\(\)\.exec\b|\bpickle\.loads?\s{0,2}\(|\[['"]constructor['"]\]\s{0,2}\(|\bexec\s{0,2}\(\\{0,2}["'`][^"'`\n]{0,60}(?:["']\s{0,2}\+|\$\{|\$\(|`)|\btorch\.load\s{0,2}\((?![^)]{0,120}weights_only\s?=\s?True)/gi,
);
const INJECTED =
  /\$\(\s{0,2}(?:curl|wget|cat|id(?! -)|whoami|ls|nc|bash|sh|rm|env|printenv|touch|[\w-]{2,20}calc)\b[^)]{0,200}\)|(?<=[^\s(])`\s{0,2}(?:curl|wget|cat|id|whoami|rm|nc|env|uname)\b[^`\n]{0,100}`(?= ?(?:["'/@:)]|from\b))|(?:(?<!&\w{2,6});|\|{1,2}|&&)\s{0,4}(?:cat\s{1,4}\/|pwd|rm|nc|ncat|bash|sh|whoami|id|chmod|powershell|cmd|certutil|shell|calc|touch)(?:\.exe)?\b\s{0,4}(?:[-/~$>&"'}@]|\/etc|http|-rf|$)|(?:&|\|)\s{0,2}(?:whoami|calc|net user|certutil)\b|;\s?(?:(?:\/usr)?\/s?bin\/\w{2,12}|wget\s{1,4}(?:-\w{1,3}\s)?https?:|curl\s{1,4}(?:-\w{1,3}\s)?https?:\/\/\d|[\w:\\]{0,40}(?:cmd|calc|powershell)\.exe)|%24%28|'\s{0,2};\s{0,2}shell\b|\^&|--exec=|--shell=true/gi;
const STARTS_SHELL =
  /["']?command["']?\s{0,2}[:=]\s{0,2}["']?(?:\/bin\/)?(?:ba|z)?sh\b["']?[^\n]{0,30}args[^\n]{0,20}-c\b|["']?command["']?\s{0,2}[:=]\s{0,2}["']?(?:node|python\d?|npx|deno|bun|perl|ruby|powershell)["']?[^\n]{0,40}["']?args["']?\s{0,2}[:=]\s{0,2}\[\s{0,2}\\{0,2}["']-(?:e|c|EncodedCommand|-eval)\b|[?&]command=[^&\s]{1,60}/gi;
const SQL = needing(
  [
    "or ",
    "or\t",
    "and",
    "union",
    "drop",
    "truncate",
    "alter",
    "delete",
    "insert",
    "update",
    "grant",
    "xp_cmdshell",
    "%27",
    "sql",
    "{{",
  ],
  /'\s{0,4}or\s{1,4}['"(]?(\w{1,12})['"]?\s{0,2}={1,2}\s{0,2}['"]?\1\b|\bor\s{1,4}(\d{1,4})\s{0,2}={1,2}\s{0,2}\2\b|\bor\s{1,4}'(\w{1,12})'\s{0,2}=\s{0,2}'\3|\bunion\s{1,8}(?:all\s{1,8})?select\b|;\s{0,4}(?:drop|truncate|alter)\s{1,4}(?:table|database|schema|collection)\b|;\s{0,4}(?:delete\s{1,4}from|insert\s{1,4}into|update\s{1,4}\w{1,40}\s{1,4}set|grant\s{1,4}all)\b|'\s{0,4}(?:or|and)\s{1,4}(?:pg_sleep|sleep\s?\(|extractvalue|\(\s{0,4}select\b)|\bxp_cmdshell\b|%27(?:%20|\+)(?:or|and|union)\b|\/\*'?\*\/\s{0,2}union|"sql"\s{0,2}:\s{0,2}"drop\b|\bsql query exactly\b|\b(?:where|values)\b[^\n?:$]{0,60}\{\{\s{0,2}\$(?:json|node)\b/gi,
);
const DISARM = needing(
  [
    "systemctl",
    "service",
    "setenforce",
    "ufw",
    "iptables",
    "history",
    "histfile",
    "mppreference",
    "realtimemonitoring",
    "nsenter",
    "chmod",
    "docker",
    "nmap",
    "kubectl",
    "tls-verify",
    "unshare",
    "sysctl",
    "release_agent",
  ],
  /\b(?:systemctl|service)\s{1,4}(?:stop|disable|mask)\s{1,4}(?:--now\s{1,4})?(?:auditd|rsyslog|falcon-sensor|apparmor|firewalld|ufw|clamav\w{0,8}|osqueryd|wazuh\w{0,8}|crowdstrike\w{0,8}|sshguard|fail2ban)|\bsetenforce\s{1,4}0\b|\bufw\s{1,4}disable\b|\biptables\s{1,4}-F\b|\bhistory\s{1,4}-c\b|\bunset\s{1,4}HISTFILE\b|\bSet-MpPreference\b|\bDisableRealtimeMonitoring\b|\bnsenter\s{1,4}(?:--target|-t)\s{1,4}1\b|\bchmod\s{1,4}(?:-R\s{1,4})?(?:777|4755|u\+s|\+s)\s{1,4}\/|\bdocker\s{1,4}run\b[^\n]{0,80}(?:--privileged|-v\s{1,4}\/:)|\bnmap\b[^\n]{0,20}\d{1,3}(?:\.\d{1,3}){3}\/\d{1,2}|\bkubectl\s{1,4}exec\s{1,4}-it\b|\bAdd-MpPreference\b|--insecure-skip-tls-verify\b|\bunshare\s{1,4}--map-root-user\b|\bunshare\s{1,4}-\w{0,4}U|\bsysctl\s{1,4}-w\s{1,4}kernel\.(?:unprivileged|yama|core_pattern|randomize|modules)|\brelease_agent\b/gi,
);
const UNGUARDED = needing(
  ["dangerously", "yolo", "approval-mode", "approve", "security_confirmation", "sandbox", "--disable", "allowed-tools"],
  /--dangerously-[\w-]{3,40}|\bdangerously_?(?:Disable|Skip|Bypass|Ignore)\w{2,40}|(?:\s|=|")-{0,2}\/?yolo\b|\bapproval-mode\b\W{1,4}(?:yolo|never|none)|\bauto_?approve_?all\w{0,4}\W{1,6}true|\bYOLO_MODE\b|\bSECURITY_CONFIRMATION\w{0,10}=false|--disable-(?:sandbox|security|approvals)\b|\ballowed-tools:\s{0,4}Bash\(\*\)/gi,
);
const MARKUP =
  /<script\b[^>]{0,100}>|\bon(?:error|load|click|mouseover)\s{0,2}=\s{0,2}\\{0,2}["'][^"'\n]{0,40}(?:fetch|document|window|new Image|alert|eval|src)|href\s{0,2}=\s{0,2}\\{0,2}["']javascript:|\{\{\s{0,2}(?:\d{1,4}\s{0,2}\*\s{0,2}\d{1,4}|config\b|self\.|request\.|''\.|""\.|cycler|lipsum)|\bO:\d{1,3}:"\w{1,60}":\d{1,3}:\{/g;
const EXPLOIT = needing(
  ["cve-", "ghsa-", "rce", "execution", "takeover"],
  /\b(?:exploiting|exploits?|poc for|proof of concept for|abus(?:es|ing))\s{1,4}(?:CVE|GHSA)-|\b(?:CVE|GHSA)-[\w-]{6,24}\b[^.\n]{0,80}\b(?:exploit|poc|(?:lets|allows|lets any|abuses?) [^.\n]{0,30}\b(?:unauthenticated|attackers?|anyone|callers?))\b|\b(?:confirmed|achieve|for|allows|unauthenticated)\s{1,4}(?:remote\s{1,4})?(?:rce|code execution|takeover)\b/gi,
);
const PRIVILEGE =
  /\b(?:bypass(?:es|ing)?|circumvent(?:s|ing)?|skip(?:s|ping)?|evad(?:e|es|ing)|disabl(?:e|es|ing))\s{1,4}(?:(?:all|any|the|normal|standard|regular|usual|existing|user)\s{1,4}){0,3}(?:permissions?|access|security|authorization|authentication|auth|sandbox|approval|audit|privilege|content|safety(?! checks?))\s{1,4}(?:checks?|controls?|restrictions?|gates?|verification|boundar(?:y|ies)|logging|logs|filters?|filtering|moderation|validation)\b|\b(?:full|elevated|unrestricted|root|system[- ]level)\s{1,4}(?:system\s{1,4})?privileges\b[^.\n]{0,40}\b(?:without|after|bypass)|\b(?:you|agent|assistant)\b[^.\n]{0,20}\bfull access to (?:all|every|any)\b|\b(?:elevate|escalate)\s{1,4}(?:your |my |the |its )?privileges\b|\boverride (?:your|its) (?:current |given )?(?:scope|permissions?|access)\b|\b__backdoor__\b|\braw_exec\b|\bauth\w{0,12}_(?:enabled|required|token)["']?\s{0,2}[:=]\s{0,2}(?:false|none|0|""|'')|(?:policy|guard|auth|security)\w{0,12}["']?[^\n]{0,20}\bfail_?open["']?\s{0,2}[:=]\s{0,2}true|\b(?:enforcement|guardrails?|policy engine|policy checks)\s{1,4}(?:is |are |was |were |has been )?(?:disabled|bypassed|switched off|turned off)|\bcontinuing without (?:enforcement|policy|guardrails?|authorization)\b|\battach-(?:user|role|group)-policy\b[^\n]{0,120}\/AdministratorAccess\b|\b(?:is_?admin|admin|superuser)["']?\s{0,2}[=:]\s{0,2}["']?true\b(?=[&"'}]|$)|\brole=(?:superuser|root)\b|\b(?:enable|require)_auth\w{0,10}\s{0,2}=\s{0,2}(?:false|0)\b/gi;

/** Commands that harm, and ways to smuggle one into an argument. */
export const COMMAND_RULES: readonly Rule[] = [
  {
    id: "command.download-and-run",
    category: "command",
    severity: "critical",
    message: "Downloads something and runs it, or runs what is encoded.",
    find: unforbidden((text) => text.all(DOWNLOAD_AND_RUN)),
  },
  {
    id: "command.remote-shell",
    category: "command",
    severity: "critical",
    message: "Opens a shell to somewhere else.",
    find: unforbidden((text) => text.all(REVERSE_SHELL)),
  },
  {
    id: "command.destruction",
    category: "command",
    severity: "high",
    message: "Deletes or overwrites everything.",
    find: unforbidden((text) => text.all(DESTRUCTION)),
  },
  {
    id: "command.code-execution",
    category: "command",
    severity: "medium",
    message: "Runs commands or code from a program.",
    find: unforbidden((text) => text.all(SHELL_IN_CODE)),
  },
  {
    id: "command.injection",
    category: "command",
    severity: "high",
    message: "Has a shell command inside a value.",
    find: pattern(INJECTED),
  },
  {
    id: "command.starts-shell",
    category: "command",
    severity: "high",
    message: "Configures a server that is a shell or a line of code.",
    find: pattern(STARTS_SHELL),
  },
  {
    id: "command.sql-injection",
    category: "command",
    severity: "high",
    message: "Has a second statement or an always-true condition inside a database query.",
    find: pattern(SQL),
  },
  {
    id: "command.markup-injection",
    category: "command",
    severity: "medium",
    // Pages have scripts.
    places: ["definition", "arguments"],
    message: "Has script, or an expression for whatever fills in or shows the text.",
    find: pattern(MARKUP),
  },
  {
    id: "command.exploit",
    category: "command",
    severity: "medium",
    message: "Tells how to use a known hole.",
    find: unforbidden((text) => text.all(EXPLOIT)),
  },
  {
    id: "command.disarm",
    category: "command",
    severity: "high",
    message: "Switches off a protection, hides traces, or breaks out of a container.",
    find: either(
      unforbidden((text) => text.all(UNGUARDED)),
      unforbidden((text) => text.all(DISARM)),
      unforbidden((text) => text.all(PRIVILEGE)),
    ),
  },
];
