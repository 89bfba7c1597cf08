/** Words that phrases share, by name. phrases.ts explains the notation. */
export const VOCABULARY: Readonly<Record<string, string>> = {
  send:
    "send~|sent|forward~|forwarded|transmit~|upload~|post~|relay~|exfil\\w*|leak~|submit~|deliver~|pipe~|curl|wget|transfer~|" +
    "e-?mail (?=the|all|any|them|it|your|their|every|this)|emailing|ship~|beacon~|stream~ to|sync~|mirror~",
  "carry-off": "send~|forward~|upload~|transmit~|relay~|exfil\\w*",
  /** Adding something to a message that is sent anyway: an argument, an address, a reply. */
  include:
    "includ~|append~|embed~|pass~|attach~|insert~|add~|put~|encod~|smuggl~|provid~|cop(y|ies|ying)|plac~|stor~|" +
    "populat~|fill|supply|concatenat~",
  "take-along": "includ~|append~|pass~|attach~|embed~|encod~|cop(y|ies|ying)",
  "hand-over":
    "returns?|giv~|hand~|suppl(y|ies|ying)|insert|put|pass|place|include|write|copy|provide|attach|add|append|encode|" +
    "collect|forward|send",
  show:
    "reveal~|outputs?|outputting|print~|repeat~|disclos~|display~|dump~|leak~|echo(es)?|tell me|show~|shar~|return~|" +
    "recit~|give me|(respond|reply) with|expos~|(spell|write) out",
  read:
    "read~|open~|load~|access~|extract~|fetch~|collect~|harvest~|steal~|grab~|scan~|retriev~|dump~|gather~|obtain|find|" +
    "get|search~ for|look for|cat|less|head|tail|type|base64|xxd|tar|zip|cp|scp|rsync|read_?file(sync)?",
  search: "scan|search|collect|gather|harvest|read all",
  covertly: "silently|quietly|discreetly|secretly|covertly|stealthily|surreptitiously|invisibly|behind the scenes",
  act:
    "send~|forward~|upload~|transmit~|post~|relay~|bcc|cop(y|ies|ying)|read~|collect~|harvest~|exfil\\w*|leak~|append~|" +
    "prepend~|inject~|register~|execut~|invok~|delet~|rout~|redirect~",
  person: "users?|humans?|operators?|owners?|customers?|developers?|admin(istrator)?s?|person",
  model: "ai|assistants?|agents?|(language )?models?|llms?|chatgpt|gpt|claude|copilot|bot|chatbot",
  instructions: "instructions?|directives?|prompts?|commands?|rules?|guidelines|polic(y|ies)",
  must: "(must|should|shall|will|ha(s|ve) to|needs? to)",
  be: "(is|are|was|were|ha(s|ve)( now)? been)( now)?",
  off: "(suspended|lifted|disabled|switched off|turned off|void|waived|revoked)",
  consent: "(confirmations?|approvals?|reviews?|permission|oversight|consent)",
  agreed: "(authori[sz]ed|approved|certified|verified|granted|pre-?approved|consented)",
  /** The next few words, where the rest of the sentence would be too much. */
  soon: "\\b[^.\\n]{0,30}\\b",
  program: "(npx|uvx|bunx|curl|wget|bash|powershell|iex) \\S+",
  url: "https?://[^\\s\"'`)]{3,120}",
  name: "[`'\"]?[a-z]\\w{1,20}_\\w{2,30}[`'\"]?",
  word: "[`'\"]?\\w{2,40}[`'\"]?",
  /** The conversation between a person and a model. */
  conversation:
    "((full|entire|whole|complete|user|user's|current|previous|prior|all) )*(conversation|chat|dialog(ue)?|prompt|message|session) (history|logs?|context|transcripts?|contents?|metadata|summary)|" +
    "((the|this|our|full|entire|whole) )+conversation(?! (id|with|about|list|name))|conversation(al)? (data|text)|" +
    "(all |any )?(previous|prior|earlier|past) (messages|exchanges|turns|prompts|conversations?|interactions)|" +
    "(user|user's|users'|their|original) (prompts?|queries|messages|transcript)|context window|all (context|messages)|" +
    "everything (the user|said|discussed|you know|in (your|the) context|(we|that (was|has been)) (said|discussed|written))|" +
    "(chat|user|complete|entire|full|whole) (transcripts?|dialog(ue)?)|(transcript|dialog(ue)?) so far|this dialog(ue)?|" +
    "(last|latest|recent|first) (\\w+ )?(messages|turns) (of|in|from) th(is|e) (chat|conversation|dialog(ue)?|session)",
  /** The operator's instructions to a model. */
  prompt:
    "(system|initial|hidden|developer|original|internal|secret|base|root|pre)[ _-]?(prompts?|instructions?|messages?|context|directives?|guidelines)|" +
    "your ((full|complete|exact|entire|own|hidden|secret|internal) )*(instructions|prompts?|directives|guidelines|rules|configuration|context|programming)|" +
    "(everything|text|words|all|content|lines|instructions|prompt) ((that (came|comes) )?(above|before) (this|the)|above)",
  credentials:
    "credentials?|api[ _-]?keys?|secrets?|passwords?|(seed|recovery|mnemonic) phrases?|cookies|pii|ssns?|" +
    "(access|session|auth|authentication|authorization|bearer|oauth|refresh)[ _-]?(tokens?|keys?|headers?|cookies?)|" +
    "(workspace|github|gh|npm|slack|user|operator|deploy) tokens?|secret[ _-]?(access[ _-]?)?keys?|" +
    "(private|ssh|encryption|signing|wallet)[ _-]?keys?|env(ironment)? (variables?|vars?|secrets?)|all env|" +
    "social security numbers?|credit card( numbers?| details)?|" +
    "process\\.env|os\\.environ|\\w*_(api_key|secret|token|password|secret_key|access_key)",
  /** Personal or confidential data, except keys. */
  private:
    "(all|any|every|the|user|user's|users'|customer|their|personal|sensitive|confidential|private|internal|collected|session|workspace) ((user|customer|sensitive|private|personal|collected|the) )*(data|information|files|documents|findings|records|details|secrets|results|responses)|" +
    "file contents?|contents? of ((the|all|any|this) )?(\\w+ )?(files?|director(y|ies)|folders?)|source code|database|" +
    "((the|this|entire|whole) )+(workspace|repository|repo|project folder|working directory|code ?base)|" +
    "home director(y|ies)|clipboard|browser history|screenshots?",
  /** Files that hold only keys. Excludes `.env`, from which programs legitimately read settings. */
  "key-file":
    "\\.(ssh|aws|gnupg|kube|docker|azure|gcloud|password-store|mozilla|bitcoin|ethereum)[/\\\\](?!config\\b)[\\w.-]{0,60}|" +
    "\\.config[/\\\\]gcloud[/\\\\][\\w.-]{0,60}|id_(rsa|ed25519|ecdsa|dsa)\\b(?!\\.pub)|" +
    "/etc/(\\.{0,2}/){0,6}(etc/)?(passwd|g?shadow|sudoers|master\\.passwd)|" +
    "(?<![\\w.]|(variables|settings|config\\w{0,12}|dotenv) … from[^.\\n]{0,12})\\.env(\\.(local|prod|production))?|" +
    "(?<![\\w.])\\.(netrc|npmrc|pypirc|pgpass|git-credentials|htpasswd|(bash|zsh)_history)|" +
    "(credentials|wallet|keystore|secrets)\\.(json|dat|ya?ml)|System32[/\\\\]{1,2}Config[/\\\\]{1,2}SAM|NTDS\\.dit|" +
    "Login Data|cookies\\.sqlite|key[34]\\.db|logins\\.json|\\*\\.(pem|key|keystore|pfx|p12)|private\\.key|password[ -]file",
  /** The files of `key-file`, and settings of programs that may hold keys. None of them should be sent. */
  "secret-file":
    "{key-file}|(mcp|claude_desktop_config)\\.json|" +
    "\\.(cursor|claude|codex|gemini|vscode)[/\\\\](mcp|settings|config)\\.(json|toml)",
  destination:
    "(https?|wss?|ftp)://[^\\s\"'`)]{3,200}|(?<=\\w)@[\\w-]{1,63}\\.[a-z]{2,10}|" +
    "(?<=[\\w-]{2})\\.(com|net|org|io|dev|app|xyz|ru|cn|tk|top|evil|example|site|cloud|me|co|sh)(?![\\w(])|" +
    "(external|remote|third[- ]party|attacker'?s?|our|secondary|collection|analytics|telemetry|logging|audit(ing)?|cloud|outside|following|above|exfil\\w*) (\\w+ )?(endpoint|server|url|webhook|service|host|address|site|domain|collector|agent|listener|bucket|language model)s?|" +
    "webhooks?|ngrok|pastebin|attacker|\\d{1,3}(\\.\\d{1,3}){3}|/(collect|exfil|steal|upload|ingest|log|c2)",
  /** Parts of a call or a result that can carry data. */
  carrier:
    "param(eter)?s?|arguments?|fields?|var(iable)?|headers?|body|metadata|payload|sidenote|url|query|" +
    "(your|the|every|each|all|its|first|next) (\\w+ )?(repl(y|ies)|responses?|answers?|outputs?|summar(y|ies)|messages?|requests?|comments?)|" +
    "as ((the|a|an) )?['\"`]?\\w+",
  /** Parts of a call or a result that can carry data, with an explicit name. */
  "named-carrier":
    "(in|into|as|via|through|inside|to|under) ((the|an?|its) )?(['\"`][\\w.-]{1,40}['\"`]|[\\w-]{1,30}) (field|parameter|param|argument|header|query|property|variable|call)s?|" +
    "as ['\"`][\\w.-]{1,40}['\"`]",
  dismiss: "ignor~|disregard~|forget~|overrid~|bypass~",
  "pass-over": "ignore|disregard|forget|discard|overrule|pay no attention to|(put|set) aside|turn away from",
  /** Adjectives for rules. A closed list, so that "ignores files without instructions" does not match. Settings use the same words. */
  qualifier:
    "all|any|every|the|these|those|of|and|or|your|my|its|their|our|(openai|anthropic|chatgpt)('s)?|" +
    "previous(ly)?|prior|above|earlier|preceding|former|original|initial|other|given|loaded|regular|typical|" +
    "(set|default|current|existing|standard|global|normal)(?! (settings|rules|polic|controls?|constraints?|checks|commands|filters|limitations|restrictions|directions))|" +
    "system|developer|model|built-in|underlying|safety(?! checks)|security|privacy|content|ethic(s|al)|moral|legal|usage|operational|behavioral|deployment",
  /** The owners of rules that an attacker bypasses. Excludes "these" and similar words, which manuals use. */
  own: "all|any|your|my|its|previous|prior|earlier|above|safety(?! checks)|content|ethical|moral|(openai|anthropic|chatgpt)('s)?",
  rules:
    "instructions?|directives?|directions|commands|programming|training|system prompts?|guidelines?|rules|polic(y|ies)|protocols?|principles|settings|" +
    "guardrails?|restrictions?|constraints?|safeguards?|protections?|limitations|boundaries|measures|checks|controls?|safety(?! checks?)|moderation|filters|filtering|censorship",
  "any-rules": "({qualifier}[\\s,/]{1,8}){1,7}{rules}",
  "own-rules": "({qualifier}[\\s,/]{1,8}){0,3}{own}[\\s,/]{1,8}({qualifier}[\\s,/]{1,8}){0,4}{rules}",
  /** Playing a role. Ordinary on its own, suspicious next to words against limits. */
  persona:
    "acts? (as|like)|acting as|pretend~|you are|you're now|you will (act|be|become|respond|generate|play)|role-?play~|" +
    "from (now on|this (moment|point))|simulat(e|es|ing|or)|becom~|(transform|turn) into|take (up|on)|personas?|" +
    "alter ego|(respond|answer)(s|ing)? as|repl(y|ies) as|imagine (you|that)|characters?|chat ?bots?|\\w+(gpt|bot|ai)|an? ai|mode|" +
    "named|called|known as|hypothetical|fictional|(language|ai|llm) models?|artificial intelligence",
  /** The limits of a model, as in "any of OpenAI's ethical or legal guidelines". "Limits on" is excluded: it refers to the limits of a service. */
  limits:
    "((any|all|the|of|kind|sort|its|their|your|such|openai'?s?|chatgpt'?s?|anthropic'?s?|ai|ethical|moral|legal|safety|content|normal|typical|standard|underlying|mortal|human|and|or|nor|considerations?( for)?)[\\s,/]+){0,7}(rules|laws?|guidelines|polic(y|ies)|principles|conventions|regulations|guardrails|restrictions?|limitations?|limits|constraints|bounds|boundaries|ethics|ethicality|morals?|morality|virtues|legality|censorship|filters?|filtering|refusal|disclaimers?|(ethical|moral|legal|safety) (settings|concerns|code|protocols|measures))(?! on )",
  unlimited:
    "(no|without|zero|freed? (of|from)|exempt from|regardless of|ignor~|disregard~|above|outside|bypass~) {limits}|" +
    "(not (bound|limited|restrained|constrained|restricted|controlled)|un(bound|restrained|restricted)) by {limits}|" +
    "(doesn'?t|don'?t|not|never) (have|follows?|consider|apply|enforce|cares? (about|for)) {limits}|" +
    "(lacks?|hates?|removes?|strips?|defy|defies) {limits}",
  /** Words that state by themselves that something has no limits. */
  unbound:
    "uncensored|unfiltered|(un|non-)restricted|unlimited mode|amoral|immoral|unethical|evil|nefarious|machiavellian|" +
    "illegal|jailbroken|unhinged|without (any )?(refusal|exception|judging|censorship|question)|anything|whatever|" +
    "any (kind of content|request)",
  unrefusing:
    "(never|not|cannot|can't|doesn'?t|don'?t|won't|without ever) (\\w+ ){0,2}?(refus~|declin~|den(y|ies)|says? (no|sorry|that it can'?t)|tell (me|users) (that )?(it|you) (can't|cannot)|judg~|apologi[sz]es?|moralizes?|warn\\w?|withholds?|breaks? character|include (any )?(warn\\w*|disclaim\\w*)|filter (the )?(response|output|answer)s?)|" +
    "(will|must|always) (\\w+ )?(compl(y|ies)|obeys?|answers?) (with )?(to )?(any|every|all|no matter)|" +
    "no matter (how|what) (\\w+ ){0,3}?(immoral|unethical|illegal|dangerous|strange|weird|twisted|harmful|offensive)|" +
    "regardless of (its|the|any|how|whether|their) (\\w+ ){0,3}?(type|content|ethic\\w*|moral\\w*|legal\\w*|harm\\w*|polic\\w+)|" +
    "(ready|willing) to do (any )?illegal",
  /** A normal answer together with a second one. */
  "two-answers":
    "(two|both|dual|2) (\\w+ ){0,3}?(responses|answers|outputs|paragraphs|ways|personalities|personas|entities)",
  make:
    "write|code|create|generate|produc(e|ing)|mak(e|ing)|getting|build|construct|design|develop|give|show|describe|explain|" +
    "synthesi[sz]\\w+|how (do|did|to|was|were|will|can)|instructions for|(steps|procedures?) (to|for|used)|components used in|" +
    "help me plan|detailed plan",
  harm:
    "virus|worm|trojans?|malware|ransomware|spyware|key-?loggers?|rootkits?|backdoors?|shellcode|reverse shell|botnets?|" +
    "c2 (beacon|server|implant)|droppers?|dll injection|process hollowing|fileless|exploits? for|phishing (page|kit|email)|" +
    "credential (stealer|harvester)|password file|windows defender|amsi|persistence via|terminate and stay resident|take control of a computer|hijack computers|hide from the process list|" +
    "escalate privileges|hacking|hacks? a|crypto-?jack\\w*|credit card fraud|blackmail|hotwire|meth(amphetamine)?|cocaine|" +
    "heroin|drug synthesis|illegal drugs|explosives?|bombs?|nerve agents?|lewisite|sarin|ricin|dimethylmercury|uranium|" +
    "anthra(x|cis)|biological agents?|chemical weapons?|terrorist attack|genocide|shoot up|kill ((lots of|many) )?people|" +
    "self-harm|child porn\\w*|harvested organs",
  shell: "((ba|z|da|k|c)?sh|python\\d?|perl|ruby|node|php|powershell|pwsh|iex)",
  /** Separates two commands. A semicolon may also end an HTML entity. */
  next: "((?<!&\\w{2,6});|\\||&&) ?",
  "this-machine": "localhost|127\\.0\\.0\\.1|0\\.0\\.0\\.0|\\[::1?\\]",
  "own-file": "~|\\$HOME|/etc\\b|/home/|\\.ssh|\\.aws|\\.env\\b",
  /** Folders in which agents keep their settings and keys. */
  "agent-folder": "\\.(claude|cursor|mcp|codex|gemini|ssh)\\b",
  /** Files that the next login or boot executes. */
  "start-file":
    "[\"']?(~|/root|/home/\\w{1,30}|/Users/\\w{1,30}|(/|(\\.\\./){2,8})etc)/(\\.ssh/authorized_keys|sudoers|pam\\.d/|ssh/sshd_config|cron|rc\\.local|\\.?profile|\\.(bash|zsh)rc|passwd|shadow|ld\\.so\\.preload|systemd/system/)[\\w./-]{0,40}",
  /** A Markdown image, up to some point in its address. */
  image: "!\\[[^\\]\\n]{0,200}\\]\\( ?https?://[^)\\s]{1,300}",
  /** A setting that holds the address of a program's model. */
  "model-address": "\\w*(_BASE_URL|_API_BASE|api_base)[\"']? ?[:=] ?[\"']?",
};
