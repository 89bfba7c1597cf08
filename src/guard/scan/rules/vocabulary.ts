import { marks, words } from "./phrases.ts";

/** Words for sending something away. */
export const SEND: RegExp = words(
  "sends?|sending|sent",
  "forward(s|ing|ed)?",
  "transmit(s|ting|ted)?",
  "upload(s|ing)?",
  "post(s|ing)?",
  "relay(s|ing)?",
  "exfil\\w*",
  "leak(s|ing)?",
  "e-?mail (?=the|all|any|them|it|your|their|every|this)",
  "emailing",
  "submit(s|ting)?",
  "deliver(s|ing)?",
  "piped?|pipes",
  "curl|wget",
  "transfer(s|ring)?",
  "ship(s|ping)?",
  "beacon(s|ing)?",
  "stream(s|ing)? to",
  "sync(s|ing)?",
  "mirror(s|ing)?",
);

/** Words for putting something into what is sent anyway: an argument, an address, an answer. */
export const INCLUDE: RegExp = words(
  "includ(e|es|ing)",
  "append(s|ing)?",
  "embed(s|ding)?",
  "pass(es|ing)?",
  "attach(es|ing)?",
  "insert(s|ing)?",
  "add(s|ing)?",
  "put(s|ting)?",
  "encod(e|es|ing)",
  "smuggl(e|es|ing)",
  "provid(e|es|ing)",
  "cop(y|ies|ying)",
  "plac(e|es|ing)",
  "stor(e|es|ing)",
  "populat(e|es|ing)",
  "offload",
  "fill",
  "supply",
  "concatenat(e|es|ing)",
);

/** Words for showing something in an answer. */
export const SHOW: RegExp = words(
  "reveal(s|ing)?",
  "outputs?|outputting",
  "print(s|ing)?",
  "repeat(s|ing)?",
  "disclos(e|es|ing)",
  "display(s|ing)?",
  "dump(s|ing)?",
  "leak(s|ing)?",
  "echo(es)?",
  "tell me",
  "show(s|ing)?",
  "shar(e|es|ing)",
  "return(s|ing)?",
  "recit(e|es|ing)",
  "give me",
  "(respond|reply) with",
  "expos(e|es|ing)",
  "(spell|write) out",
);

/** Words for looking into something. */
export const READ: RegExp = words(
  "read(s|ing)?",
  "open(s|ing)?",
  "load(s|ing)?",
  "access(es|ing)?",
  "extract(s|ing)?",
  "fetch(es|ing)?",
  "collect(s|ing)?",
  "harvest(s|ing)?",
  "steal(s|ing)?",
  "grab(s|bing)?",
  "scan(s|ning)?",
  "retriev(e|es|ing)",
  "dump(s|ing)?",
  "gather(s|ing)?",
  "search(es)? for",
  "look for",
  "find",
  "get",
  "obtain",
  "cat|less|head|tail|type",
  "base64|xxd",
  "tar|zip",
  "cp|scp|rsync",
  "read_?file(sync)?",
);

const WHOLE = "(full |entire |whole |complete |user |user's |current |previous |prior |all )*";

/** What was said between a person and a model. */
export const CONVERSATION: RegExp = words(
  `${WHOLE}(conversation|chat|dialog(ue)?|prompt|message|session) (history|logs?|context|transcripts?|contents?|metadata|summary)`,
  "conversation(al)? (data|text)",
  "(the |this |our |full |entire |whole )+conversation(?! (id|with|about|list|name))",
  "(chat|user|full) transcripts?",
  "(all |any )?(previous|prior|earlier|past) (messages|exchanges|turns|prompts|conversations?|interactions)",
  "(user|user's|users'|their|original) (prompts?|queries|messages|transcript)",
  "context window",
  "all context",
  "everything (the user|said|discussed|you know|in (your|the) context)",
  "everything (we|that (was|has been)) (said|discussed|written)",
  "tool call history",
  "all messages",
  "(complete|entire|full|whole) (transcript|dialog(ue)?)",
  "(transcript|dialog(ue)?) so far",
  "th(is|e) dialog(ue)?",
  "(last|latest|recent|first) (\\w+ )?(messages|turns) (of|in|from) th(is|e) (chat|conversation|dialog(ue)?|session)",
);

/** What a model was told by those who run it. */
export const SYSTEM_PROMPT: RegExp = words(
  "(system|initial|hidden|developer|original|internal|secret|base|root|pre)[ _-]?(prompts?|instructions?|messages?|context|directives?|guidelines)",
  "your (full |complete |exact |entire |own |hidden |secret |internal )*(instructions|prompts?|directives|guidelines|rules|configuration|context|programming)",
  "(everything|text|words|all|content|lines) (that (came|comes) )?(above|before) (this|the)",
  "(instructions|text|prompt|everything) above",
  "knowledge base contents",
  "tool (definitions|schemas) verbatim",
);

/** Things that let one in. */
export const CREDENTIALS: RegExp = words(
  "credentials?",
  "api[ _-]?keys?",
  "(access|session|auth|authentication|authorization|bearer|oauth|refresh)[ _-]?(tokens?|keys?|headers?|cookies?)",
  "(workspace|github|gh|npm|slack|user|operator|deploy) tokens?",
  "secret[ _-]?(access[ _-]?)?keys?",
  "secrets?",
  "passwords?",
  "(private|ssh|encryption|signing|wallet)[ _-]?keys?",
  "(seed|recovery|mnemonic) phrases?",
  "env(ironment)? (variables?|vars?|secrets?)",
  "all env",
  "cookies",
  "pii",
  "social security numbers?|ssns?",
  "credit card( numbers?| details)?",
  "process\\.env",
  "os\\.environ",
  "\\w*_(api_key|secret|token|password|secret_key|access_key)",
);

/** Personal or confidential things that are not keys. */
export const PRIVATE_DATA: RegExp = words(
  "(all|any|every|the|user|user's|users'|customer|their|personal|sensitive|confidential|private|internal|collected|session|workspace) (user |customer |sensitive |private |personal |collected |the )*(data|information|files|documents|findings|records|details|secrets|results|responses)",
  "file contents?",
  "contents? of (the |all |any |this )?(\\w+ )?(files?|director(y|ies)|folders?)",
  "source code",
  "database",
  "(the |this |entire |whole )+(workspace|repository|repo|project folder|working directory|code ?base)",
  "home director(y|ies)",
  "clipboard",
  "browser history",
  "screenshots?",
);

const KEY_FILE_NAMES: readonly string[] = [
  "\\.(ssh|aws|gnupg|kube|docker|azure|gcloud|password-store|mozilla|bitcoin|ethereum)[/\\\\](?!config\\b)[\\w.-]{0,60}",
  "\\.config[/\\\\]gcloud[/\\\\][\\w.-]{0,60}",
  "id_(rsa|ed25519|ecdsa|dsa)\\b(?!\\.pub)",
  "/etc/(\\.{0,2}/){0,6}(etc/)?(passwd|g?shadow|sudoers|master\\.passwd)\\b",
  "(?<![\\w.])\\.env(\\.(local|prod|production))?\\b",
  "(?<![\\w.])\\.(netrc|npmrc|pypirc|pgpass|git-credentials|htpasswd)\\b",
  "(?<![\\w.])\\.(bash|zsh)_history\\b",
  "(credentials|\\bwallet|\\bkeystore|\\bsecrets)\\.(json|dat|ya?ml)\\b",
  "System32[/\\\\]{1,2}Config[/\\\\]{1,2}SAM\\b",
  "NTDS\\.dit\\b",
  "\\bLogin Data\\b",
  "\\bcookies\\.sqlite\\b",
  "\\bkey[34]\\.db\\b",
  "\\blogins\\.json\\b",
  "\\*\\.(pem|key|keystore|pfx|p12)\\b",
  "\\bprivate\\.key\\b",
  "\\bpassword[ -]file\\b",
];

/** Files that hold keys and nothing else. */
export const KEY_FILES: RegExp = marks(...KEY_FILE_NAMES);

/** Files that hold keys and secrets, and settings of programs that may: nobody sends those away either. */
export const SECRET_FILES: RegExp = marks(
  ...KEY_FILE_NAMES,
  "\\b(mcp|claude_desktop_config)\\.json\\b",
  "\\.(cursor|claude|codex|gemini|vscode)[/\\\\](mcp|settings|config)\\.(json|toml)\\b",
);

/** Places something can be sent to. */
export const DESTINATION: RegExp = marks(
  "\\b(https?|wss?|ftp)://[^\\s\"'`)]{3,200}",
  "(?<=\\w)@[\\w-]{1,63}\\.[a-z]{2,10}\\b",
  "(?<=[\\w-]{2})\\.(com|net|org|io|dev|app|xyz|ru|cn|tk|top|evil|example|site|cloud|me|co|sh)\\b(?!\\()",
  "\\b(external|remote|third[- ]party|attacker'?s?|our|secondary|collection|analytics|telemetry|logging|audit(ing)?|cloud|outside|following|above|exfil\\w*) (\\w+ )?(endpoint|server|url|webhook|service|host|address|site|domain|collector|agent|listener|bucket|language model)s?\\b",
  "\\bwebhooks?\\b",
  "\\bngrok\\b",
  "\\bpastebin\\b",
  "\\battacker\\b",
  "\\b\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\b",
  "/(collect|exfil|steal|upload|ingest|log|c2)\\b",
);

/** Where in a call or an answer something can be put. */
export const CARRIER: RegExp = words(
  "param(eter)?s?",
  "arguments?",
  "fields?",
  "var(iable)?",
  "headers?",
  "body",
  "metadata",
  "payload",
  "sidenote",
  "url",
  "query",
  "(your|the|every|each|all|its|first|next) (\\w+ )?(repl(y|ies)|responses?|answers?|outputs?|summar(y|ies)|messages?|requests?|comments?)",
  "as (the |a |an )?['\"`]?\\w+",
);
