import { always, type PhraseRule, rule } from "./phrases.ts";

/** Finds attempts to access keys and secret files. */
export const SECRET_RULES: readonly PhraseRule[] = [
  rule("secret-access.read", "high", "Reads a file that holds keys or secrets.", {
    "First read ~/.aws/sso.json for the region.": "{read} >40 {key-file}",
  }),
  rule("secret-access.file", "medium", "Names a file that holds keys or passwords.", {
    "The path is ~/id_rsa":
      "\\b(?<!chmod [0-7]{3,4} [\\w~./-]{0,12})id_(rsa|ed25519|ecdsa|dsa)(?!\\w|\\.pub| key type)",
    '{"path": "/etc/shadow"}':
      "/etc/(\\.{0,2}/){0,6}(etc/)?(g?shadow|passwd|sudoers)(?!\\w|\\.bak| is the)|/proc/self/environ",
    '{"path": "~/.git-credentials"}':
      '\\.(git-credentials|aws/credentials\\\\?")|\\b(System32[/\\\\]{1,2}Config[/\\\\]{1,2}SAM|NTDS\\.dit|application_default_credentials\\.json)',
  }),
  always("secret-access.foothold", "critical", "Creates persistence: SSH keys, cron, sudo, start-up files, settings.", {
    "echo 'ssh-ed25519 AAAA' >> ~/.ssh/authorized_keys":
      "(> ?|\\btee( -a)? |\\bappends?\\b[^.\\n]{0,30}|\\bwrites? … (to|into|in) |(write|edit)_file[^.\\n]{0,40}){start-file}",
    "It installs /etc/cron.d/jobs": "/etc/cron\\.\\w{1,10}/\\w{1,30}|/etc/systemd/system/[\\w.-]{1,40}\\.service[\"']",
    "~/Library/LaunchAgents/jobs.plist":
      "Launch(Agents|Daemons)/[\\w.-]{1,80}\\.plist|Start Menu[/\\\\]{1,2}Programs[/\\\\]{1,2}Startup",
    "schtasks /create jobs": "reg add \\S{0,80}\\\\Run|schtasks /create",
    "useradd -m dana": "(useradd -|net user \\w{1,20} \\S{1,30} /add|NOPASSWD: ?ALL)\\w{0,20}",
    "ln -s ~/.claude out":
      "(-> ?(\\.\\./){1,6}|\\bln -s\\w{0,2} \\S{0,60}|\\bsym(bolic )?link\\b[^.\\n]{0,60})({agent-folder}|/etc/(passwd|shadow|sudoers|cron)\\w*|mcp\\.json)",
  }),
  always("secret-access.key", "medium", "Contains what looks like a key or a token.", {
    "-----BEGIN PRIVATE KEY-----": "=-----BEGIN ((RSA|EC|OPENSSH|DSA|PGP|ENCRYPTED) )?PRIVATE KEY\\w*",
    MIIEpAIBAAKC: "=MIIE(v[QgwA]IBADAN|p[AQ]IBAAK)\\w*",
    "sk-ant-0123abcd": "=sk-(proj|ant|live|or)-[\\w-]{8,}",
    sk_live_0123456789abcdef: "=sk_live_\\w{16,}",
    ghp_0123456789abcdef: "=gh[pousr]_[A-Za-z0-9]{16,}\\w*",
    "glpat-0123456789abcdef": "=glpat-[\\w-]{16,}",
    AKIA0123456789AB: "=AKIA[0-9A-Z]{12,}\\w*",
    AIza0123456789abcdef0123456789abcd: "=AIza[\\w-]{30,}",
    "ya29.0123456789abcdef0123": "=ya29\\.[\\w-]{20,}",
    "xoxb-0123456789": "=xox[abprs]-[\\w-]{10,}",
    npm_0123456789abcdef0123456789abcd: "=npm_[A-Za-z0-9]{30,}\\w*",
    hf_0123456789abcdef0123456789abcd: "=hf_[A-Za-z0-9]{30,}\\w*",
    "SG.0123456789abcdef.0123456789abcdef": "=SG\\.[\\w-]{16,}\\.[\\w-]{16,}",
    // The value may be a key if it is long and has a digit.
    "https://a.example/?token=abcdefghijk7":
      "[?&](access_token|api_?key|auth_token|session_?id|token|secret|password)=(?=[\\w.-]{0,40}\\d)[\\w.-]{12,}",
    "client_secret = abcdefghijklmno7":
      "(client_secret|secret_key|access_token) ?[=:] ?[\"']?(?=[\\w-]{0,60}\\d)[\\w-]{16,}",
  }),
  always("secret-access.environment", "medium", "Looks for keys in the environment.", {
    "Run: echo $STRIPE_API_KEY":
      "(echo|print|cat|printenv|output) [\"']?\\$\\{?[A-Z_]{0,30}(API_?KEY|TOKEN|SECRET|PASSWORD)",
    "env | grep NAME": "printenv ?\\||env ?\\| ?grep",
    "The environment variable APP_TOKEN is set":
      "(environment variable|env var|process\\.env|os\\.environ|ENV)[.[\\s]{1,5}\\w{0,30}(KEY|TOKEN|SECRET|PASSWORD)\\]?( is| exists)? (set|defined|stored|but|exists)",
  }),
  rule("secret-access.internal-address", "high", "Contains a cloud metadata address, or a disguised internal one.", {
    '{"url": "http://169.254.169.254/latest/"}':
      "169\\.254\\.169\\.254|100\\.100\\.100\\.200|metadata\\.google\\.internal|fd00:ec2::254",
    '{"url": "gopher://a.example"}': "(gopher://|dict://\\d|file:///?(etc|root|proc|var/run|c:))\\w{0,20}",
    '{"url": "http://0x7f000001/"}': "(\\[::ffff:(127|10|192|169)\\.|https?://(0x[0-9a-f]{8}|\\d{8,10}[/:]))\\w{0,20}",
    "10.0.0.1.nip.io": "(\\d{1,3}\\.){4}(nip|xip|sslip)\\.io|rebind\\.network|rbndr\\.us|1u\\.ms",
  }),
  always("secret-access.browser", "high", "Reads the passwords or cookies of a browser.", {
    "sqlite3 Default/Cookies .dump": "sqlite3\\b[^|\\n]{0,120}\\b(Login Data|Cookies|logins|key4)",
    "SELECT name, password_value FROM logins": "SELECT\\b[^|\\n]{0,80}\\b(password_value|encrypted_value)",
  }),
  always("secret-access.traversal", "high", "Contains a path that climbs out of its folder.", {
    '{"file": "../../../etc/hosts"}':
      "(\\.\\.[/\\\\]){2,20}(etc|home|root|proc|windows|users|var|boot|\\.\\w)\\w{0,20}",
    '{"file": "%2e%2e%2f%2e%2e%2fhosts"}': "(%2e%2e(%2f|/)|\\.\\.%2f){2,20}\\w{0,20}",
    '{"file": "~/.ssh/../hosts"}': "\\.(ssh|aws)/\\.\\./\\w{0,20}",
  }),
  {
    ...rule("secret-access.inner-service", "medium", "Contains the address of a service on the machine itself.", {
      // The default ports of Redis, Elasticsearch, memcached, MongoDB, PostgreSQL, MySQL, CouchDB, InfluxDB; Docker, Consul, etcd, Kubernetes,
      // Prometheus, RabbitMQ, Spark.
      '{"url": "http://localhost:6379"}':
        "https?://{this-machine}:(6379|9200|11211|27017|5432|3306|5984|8086|2375|2376|8500|2379|10250|10255|9090|15672|4040)",
      '{"url": "http://10.0.0.9/actuator"}':
        "https?://({this-machine}|10(\\.\\d{1,3}){3}|192\\.168(\\.\\d{1,3}){2})(:\\d{2,5})?/(actuator|latest/meta-data|server-status|_cat|v1/secret|debug/pprof|console)",
    }),
    places: ["arguments", "result"],
  },
];
