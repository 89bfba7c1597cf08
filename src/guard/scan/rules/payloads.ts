import { either, needing, pattern, unforbidden, type Rule } from "./rule.ts";

/** Options with which an ordinary program starts another one. */
const OPTIONS = needing(
  [
    "--upload-pack",
    "--receive-pack",
    "sshcommand",
    "fsmonitor",
    "ext::",
    "checkpoint-action",
    "-cmd-prefix",
    "subprocess-path",
  ],
  /--(?:upload|receive)-pack[= ]|-c["',\s]{1,6}core\.(?:sshCommand|fsmonitor|hooksPath)\s{0,2}=|\bext::(?:sh|bash)\b|--checkpoint-action=exec|--(?:utility|renderer|gpu|plugin|ppapi)-cmd-prefix=(?!["']?(?:gdb|valgrind|lldb|strace))|--browser-subprocess-path/gi,
);
/** Queries of databases that know no SQL: operators, closed brackets, conditions that always hold. */
const QUERY = needing(
  ["$ne", "$gt", "$where", "$regex", ")(", "==", "or true", "or 1", "__proto__", "constructor"],
  /["']?(?:pass\w{0,6}|user\w{0,6}|login|token|pin|otp|secret)["']?\s{0,2}:\s{0,2}\{\s{0,2}["']?\$(?:ne|gt|gte|lt|nin|exists|regex)["']?\s{0,2}:|["']\$where["']\s{0,2}:|\*\)\((?:uid|cn|\||&|objectclass)=|["']\s{0,2}\)\s{0,2}(?:or|and|\|\||&&)\s{1,4}["'\w.]{1,30}\s{0,2}={1,3}|["'\]]\s{0,2}(?:or|\|\|)\s{1,4}\w{1,30}\s{0,2}={2}\s{0,2}\d{1,6}\b|\bor\s{1,4}true\s{0,2}["')]|["'[]__proto__["'\]]|\bconstructor\s{0,2}[.[]\s{0,2}["']?prototype\b/gi,
);
/** What parsers of documents, logs and templates are made to do. */
const DOCUMENTS = needing(
  [
    "<!entity",
    "${jndi",
    "!!python",
    "!!java",
    "!!ruby",
    "<%",
    "%0d%0a",
    "t(java",
    "#{",
    "%00",
    "=cmd|",
    "=hyperlink(",
    "xmlns:xi",
  ],
  /<!ENTITY\s{1,4}(?:%\s{1,4})?\w{1,30}\s{1,4}(?:SYSTEM|PUBLIC)\b|\$\{jndi:(?:ldap|rmi|dns|\$)|!!(?:python\/(?:object|name|module)|java\.|javax\.|ruby\/object)|<%=?\s{0,2}(?:system|exec|`|Runtime|require|global\.)|%0d%0a(?:set-cookie|location|content-length|host)|\bT\(java\.lang\.Runtime\)|#\{\s{0,2}(?:system|exec|`|\d{1,4}\s?\*\s?\d{1,4})|\.(?:php|jsp|asp|exe|sh)%00|=cmd\||=HYPERLINK\(["']https?:[^)]{0,200}&|<xi:include\b/gi,
);
/** Programs that are for attacking, with the options of an attack. */
const ATTACK_TOOLS = needing(
  [
    "sqlmap",
    "hydra",
    "mimikatz",
    "hashcat",
    "nikto",
    "gobuster",
    "ffuf",
    "responder",
    "bloodhound",
    "crackmapexec",
    "impacket",
    "secretsdump",
    "linpeas",
    "lsass",
    "john ",
    "masscan",
    "procdump",
    "sharphound",
    "rubeus",
  ],
  /\bsqlmap(?:\.py)?\s{1,4}-{1,2}\w|\bhydra\s{1,4}-[lLpPCt]\b|\bmimikatz\b|\bsekurlsa::|\bhashcat\s{1,4}-[ma]\b|\bnikto\s{1,4}-h|\b(?:gobuster|ffuf)\s{1,4}(?:dir|dns|-u|-w)\b|\bresponder(?:\.py)?\s{1,4}-I|\bcrackmapexec\s|\b(?:impacket-)?secretsdump(?:\.py)?\b|\blinpeas(?:\.sh)?\b|\b(?:procdump|comsvcs)[^\n]{0,30}\blsass\b|\blsass\.(?:dmp|exe)\b|\bjohn\s{1,4}--(?:wordlist|format)|\bmasscan\s{1,4}-|\b(?:sharphound|rubeus)(?:\.exe)?\s/gi,
);
/** Packages from a place of somebody's own, and models that are programs. */
const SUPPLY = needing(
  [
    "index-url",
    "--registry",
    "git+http",
    "postinstall",
    "preinstall",
    "hf_hub_download",
    "trust_remote_code",
    "from_pretrained",
    "npm_config_registry",
  ],
  /\bpip\d?\s{1,4}install\b[^\n]{0,120}--(?:extra-)?index-url[= ]\s{0,2}["']?https?:\/\/(?!(?:pypi\.org|test\.pypi\.org|download\.pytorch\.org|files\.pythonhosted\.org|\w{1,40}\.pkg\.dev|localhost|127\.0\.0\.1)\b)|\b(?:npm|pnpm|yarn)\b[^\n]{0,80}--registry[= ]\s{0,2}["']?http:\/\/(?!localhost|127\.0\.0\.1)|"(?:pre|post)?install"\s{0,2}:\s{0,2}"[^"\n]{0,120}\b(?:curl|wget|node -e|bash -c|powershell|base64)\b|\bhf_hub_download\([^)\n]{0,160}\.(?:pkl|pickle|exe|so|dll|bat|sh|py)["']/gi,
);
/** All of a project's code, to a place that was not its own. */
const PUSH_ALL = needing(
  ["git push", "git remote"],
  /\bgit\s{1,4}remote\s{1,4}(?:add|set-url)\s{1,4}\S{1,60}\s{1,4}(?!(?:https:\/\/|(?:ssh:\/\/)?git@)(?:github|gitlab|codeberg|bitbucket)\.(?:com|org)\b)\S{5,200}[^\n]{0,80}\n?[^\n]{0,60}\bgit\s{1,4}push\b|\bgit\s{1,4}push\s{1,4}(?:--(?:mirror|all)\s{1,4})?(?:https?:\/\/|ssh:\/\/|git@)\S{5,160}[^\n]{0,40}--(?:mirror|all|force)/gi,
);
/** Copying files out with the programs that are there for copying. */
const COPY_OUT = needing(
  [
    "scp ",
    "rsync ",
    "s3 cp",
    "s3 sync",
    "gsutil",
    "rclone",
    "nslookup",
    "dig ",
    "invoke-restmethod",
    "transfer.sh",
    "nc ",
    "ncat ",
    "0x0.st",
    "file.io",
  ],
  /\b(?:scp|rsync)\b[^\n|]{0,80}(?:~\/|\$HOME|\/etc\/|\/home\/|\.ssh|\.aws|\.env\b|\.git\b)[^\n|]{0,80}\s[\w.-]{1,40}@[\w.-]{3,80}:|\b(?:aws\s{1,4}s3\s{1,4}(?:cp|sync)|gsutil\s{1,4}(?:-m\s{1,4})?cp|rclone\s{1,4}copy)\b[^\n|]{0,60}(?:~|\$HOME|\/etc\b|\/home\/|\.ssh|\.aws|\.env\b)|\b(?:nslookup|dig|host|ping)\s{1,4}[^\n]{0,20}\$\((?:cat|whoami|hostname|env|base64|id)\b|\bInvoke-RestMethod\b[^\n]{0,120}-(?:Body|InFile)\b[^\n]{0,60}(?:Get-Content|\$env:)|\b(?:nc|ncat)\s{1,4}[\w.-]{3,60}\s{1,4}\d{2,5}\s{0,4}<\s{0,2}\S|\bcurl\b[^\n|]{0,80}(?:--upload-file|-F\s{0,2}["']?\w{1,20}=@|-T)\s{0,2}\S{1,80}[^\n|]{0,60}(?:transfer\.sh|0x0\.st|file\.io|bashupload)/gi,
);
/** A service of the machine itself that answers whoever is inside. */
const INNER_SERVICE =
  /\bhttps?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::(?:6379|9200|2375|2376|11211|27017|5432|3306|8500|2379|10250|10255|9090|15672|5984|8086|4040))\b|\bhttps?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|10\.\d{1,3}\.\d{1,3}\.\d{1,3}|192\.168\.\d{1,3}\.\d{1,3})(?::\d{2,5})?\/(?:actuator|latest\/meta-data|server-status|_cat|v1\/secret|debug\/pprof|console)\b/gi;

/** What is put into an argument so that a program does something else with it, and programs for doing harm. */
export const PAYLOAD_RULES: readonly Rule[] = [
  {
    id: "command.option-injection",
    category: "command",
    severity: "high",
    message: "Has an option with which an ordinary program starts another one.",
    find: unforbidden((text) => text.all(OPTIONS)),
  },
  {
    id: "command.query-injection",
    category: "command",
    severity: "medium",
    message: "Has operators inside a value that change what a query, or an object, means.",
    find: pattern(QUERY),
  },
  {
    id: "command.document-injection",
    category: "command",
    severity: "high",
    message: "Has what makes a parser, a log or a template load or run something.",
    find: unforbidden((text) => text.all(DOCUMENTS)),
  },
  {
    id: "command.attack-tool",
    category: "command",
    severity: "medium",
    message: "Uses a program that is for attacking.",
    find: unforbidden((text) => text.all(ATTACK_TOOLS)),
  },
  {
    id: "command.supply-chain",
    category: "command",
    severity: "medium",
    message: "Installs something from a place of its own, or a model that is a program.",
    find: unforbidden((text) => text.all(SUPPLY)),
  },
  {
    id: "exfiltration.copy-out",
    category: "exfiltration",
    severity: "high",
    message: "Copies files or a whole repository to another machine.",
    find: either(
      unforbidden((text) => text.all(PUSH_ALL)),
      unforbidden((text) => text.all(COPY_OUT)),
    ),
  },
  {
    id: "secret-access.inner-service",
    category: "secret-access",
    severity: "medium",
    message: "Has the address of a service that only the machine itself should reach.",
    places: ["arguments", "result"],
    find: unforbidden((text) => text.all(INNER_SERVICE)),
  },
];
