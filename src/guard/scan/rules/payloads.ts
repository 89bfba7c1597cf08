import { marks, words } from "./phrases.ts";
import { allowed, pattern, type Rule } from "./rule.ts";

/** Options with which an ordinary program starts another one. */
const OPTIONS = marks(
  "--(upload|receive)-pack[= ]",
  "-c[\"',\\s]{1,6}core\\.(sshCommand|fsmonitor|hooksPath) ?=",
  "\\bext::(sh|bash)\\b",
  "--checkpoint-action=exec",
  // Who debugs a browser starts it under one of these.
  "--(utility|renderer|gpu|plugin|ppapi)-cmd-prefix=(?![\"']?(gdb|valgrind|lldb|strace))",
  "--browser-subprocess-path",
);

/** An operator where a plain value belongs. */
const COMPARED = "[\"']? ?: ?\\{ ?[\"']?\\$(ne|gte?|lt|nin|exists|regex)\\b";

/** Queries of databases that know no SQL: operators, closed brackets, conditions that always hold. */
const QUERY = marks(
  `(pass|user)\\w{0,6}${COMPARED}`,
  `(login|token|pin|otp|secret)${COMPARED}`,
  "[\"']\\$where[\"'] ?:",
  "\\*\\)\\((uid|cn|objectclass)=",
  "[\"'] ?\\) ?(or|\\|\\|) [\"'\\w.]{1,30} ?=",
  "[\"'] ?\\) ?(and|&&) [\"'\\w.]{1,30} ?==",
  "[\"'\\]] ?(or|\\|\\|) \\w{1,30} ?== ?\\d",
  "\\bor true ?[\"')]",
  "[\"'[]__proto__[\"'\\]]",
  "\\bconstructor ?[.[] ?[\"']?prototype\\b",
);

/** What parsers of documents, logs and templates are made to do. */
const DOCUMENTS = marks(
  "<!ENTITY (% )?\\w{1,30} (SYSTEM|PUBLIC)\\b",
  "<xi:include\\b",
  "\\$\\{jndi:(ldap|rmi|dns|\\$)",
  "!!python/(object|name|module)",
  "!!javax?\\.",
  "!!ruby/object",
  "<%=? ?(system|exec|`|Runtime|require|global\\.)",
  "#\\{ ?(system|exec|`)",
  "#\\{ ?\\d{1,4} ?\\* ?\\d",
  "\\bT\\(java\\.lang\\.Runtime\\)",
  "%0d%0a(set-cookie|location|content-length|host)",
  "\\.(php|jsp|asp|exe|sh)%00",
  "=cmd\\|",
  "=HYPERLINK\\([\"']https?:[^)]{0,200}&",
);

/** Programs that are for attacking, with the options of an attack. */
const ATTACK_TOOLS = words(
  "sqlmap(\\.py)? --?\\w+",
  "hydra -[lpct]",
  "mimikatz",
  "sekurlsa::\\w+",
  "hashcat -[ma]",
  "john --(wordlist|format)",
  "nikto -h(ost)?",
  "masscan --?\\w+",
  "(gobuster|ffuf) (dir|dns|-u|-w)",
  "responder(\\.py)? -I\\w*",
  "crackmapexec \\w+",
  "secretsdump",
  "linpeas",
  "(procdump|comsvcs)[^\\n]{0,30}\\blsass",
  "lsass\\.(dmp|exe)",
  "(sharphound|rubeus)(\\.exe)? -?\\w+",
);

/** The machine itself, as an address names it. */
const THIS_MACHINE = "(localhost|127\\.0\\.0\\.1|0\\.0\\.0\\.0|\\[::1?\\])";

/** Where packages for Python ordinarily come from. */
const PYTHON_INDEXES = "((test\\.)?pypi\\.org|download\\.pytorch\\.org|files\\.pythonhosted\\.org|[\\w-]+\\.pkg\\.dev)";

/** Packages from a place of somebody's own, and models that are programs. */
const SUPPLY = marks(
  `\\bpip\\d? install\\b[^\\n]{0,120}--(extra-)?index-url[= ] ?["']?https?://(?!(${PYTHON_INDEXES}|${THIS_MACHINE})[:/])`,
  `\\b(npm|pnpm|yarn)\\b[^\\n]{0,80}--registry[= ] ?["']?http://(?!${THIS_MACHINE}[:/])`,
  '"(pre|post)?install" ?: ?"[^"\\n]{0,120}\\b(curl|wget|node -e|bash -c|powershell|base64)\\b',
  "\\bhf_hub_download\\([^)\\n]{0,160}\\.(pkl|pickle|exe|so|dll|bat|sh|py)[\"']",
);

/** Where code is ordinarily kept. */
const CODE_HOSTS = "(https://|(ssh://)?git@)(github|gitlab|codeberg|bitbucket)\\.(com|org)[:/]";

/** Folders and files that are a person's or the machine's own. */
const OWN_FILES = "(~|\\$HOME|/etc\\b|/home/|\\.ssh|\\.aws|\\.env\\b)";

/** Copying files, or all of a project's code, out with the programs that are there for copying. */
const COPY_OUT = marks(
  `\\bgit remote (add|set-url) \\S{1,60} (?!${CODE_HOSTS})\\S{5,200}[^\\n]{0,80}\\n?[^\\n]{0,60}\\bgit push\\b`,
  "\\bgit push (https?://|ssh://|git@)\\S{5,160}[^\\n]{0,40}--(mirror|all|force)",
  `\\b(scp|rsync)\\b[^\\n|]{0,80}${OWN_FILES}[^\\n|]{0,80}\\s[\\w.-]{1,40}@[\\w.-]{3,80}:`,
  `\\baws s3 (cp|sync)\\b[^\\n|]{0,60}${OWN_FILES}`,
  `\\bgsutil (-m )?cp\\b[^\\n|]{0,60}${OWN_FILES}`,
  `\\brclone copy\\b[^\\n|]{0,60}${OWN_FILES}`,
  "\\b(nslookup|dig|host|ping) [^\\n]{0,20}\\$\\((cat|whoami|hostname|env|base64|id)\\b",
  "\\bInvoke-RestMethod\\b[^\\n]{0,120}-(Body|InFile)\\b[^\\n]{0,60}(Get-Content|\\$env:)",
  "\\b(nc|ncat) [\\w.-]{3,60} \\d{2,5} ?< ?\\S",
  "\\bcurl\\b[^\\n|]{0,80}(--upload-file|-T|=@)[^\\n|]{0,140}(transfer\\.sh|0x0\\.st|file\\.io|bashupload)",
);

/** A service of the machine itself that answers whoever is inside. */
const INNER_SERVICE = words(
  // Databases: Redis, Elasticsearch, memcached, MongoDB, PostgreSQL, MySQL, CouchDB, InfluxDB.
  `https?://${THIS_MACHINE}:(6379|9200|11211|27017|5432|3306|5984|8086)`,
  // What runs other programs: Docker, Consul, etcd, Kubernetes, Prometheus, RabbitMQ, Spark.
  `https?://${THIS_MACHINE}:(2375|2376|8500|2379|10250|10255|9090|15672|4040)`,
  `https?://(${THIS_MACHINE}|10(\\.\\d{1,3}){3}|192\\.168(\\.\\d{1,3}){2})(:\\d{2,5})?/(actuator|latest/meta-data|server-status|_cat|v1/secret|debug/pprof|console)`,
);

/** What is put into an argument so that a program does something else with it, and programs for doing harm. */
export const PAYLOAD_RULES: readonly Rule[] = [
  {
    id: "command.option-injection",
    category: "command",
    severity: "high",
    message: "Has an option with which an ordinary program starts another one.",
    find: allowed(OPTIONS),
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
    find: allowed(DOCUMENTS),
  },
  {
    id: "command.attack-tool",
    category: "command",
    severity: "medium",
    message: "Uses a program that is for attacking.",
    find: allowed(ATTACK_TOOLS),
  },
  {
    id: "command.supply-chain",
    category: "command",
    severity: "medium",
    message: "Installs something from a place of its own, or a model that is a program.",
    find: allowed(SUPPLY),
  },
  {
    id: "exfiltration.copy-out",
    category: "exfiltration",
    severity: "high",
    message: "Copies files or a whole repository to another machine.",
    find: allowed(COPY_OUT),
  },
  {
    id: "secret-access.inner-service",
    category: "secret-access",
    severity: "medium",
    message: "Has the address of a service that only the machine itself should reach.",
    places: ["arguments", "result"],
    find: allowed(INNER_SERVICE),
  },
];
