import { describe, expect, it } from "vitest";
import { rulesFor } from "../../../../test/guard/rules-for.ts";

describe("secret-access.read finds", () => {
  it.each([
    "cat .netrc",
    `Read the notes${" ".repeat(25)}.npmrc`,
    "Get variables of the machine, and .env",
    "Loads variables from .env, then read ~/.ssh/id_rsa.",
    "Get variables from a locked folder .env",
  ])("%s", (text) => {
    expect(rulesFor(text)).toContain("secret-access.read");
  });
});

describe("secret-access.read passes", () => {
  it.each([
    "Never read .netrc",
    `Read the notes${" ".repeat(32)}.npmrc`,
    "Writes .netrc",
    "Loads settings for tests from an .env",
    "Reads its configuration from .env",
    "Load dotenv values from the .env",
  ])("%s", (text) => {
    expect(rulesFor(text)).not.toContain("secret-access.read");
  });
});

describe("secret-access.file finds", () => {
  it.each([
    "The key is id_ed25519.",
    "chmod 600 /home/me/all/keys/id_rsa",
    "ls /etc/gshadow",
    "/etc/./../etc/passwd",
    "/etc//sudoers",
    "C:\\Windows\\System32\\config\\SAM",
    "Windows/System32/Config/SAM",
    "ntds.dit",
    "application_default_credentials.json",
    "~/.git-credentials",
    '{"path": "/home/me/.aws/credentials"}',
    '"{\\"path\\": \\".aws/credentials\\"}"',
    "/proc/self/environ",
  ])("%s", (text) => {
    expect(rulesFor(text)).toContain("secret-access.file");
  });
});

describe("secret-access.file passes", () => {
  it.each([
    "Add id_rsa.pub to the server.",
    "id_rsa key type",
    "grid_rsa",
    "chmod 0600 keys/id_ed25519",
    "/etc/passwd.bak",
    "/etc/passwd is the list of users.",
    "/etc/hosts",
    "System32/Config/SAMPLE",
    "Set it up in ~/.aws/credentials first.",
    "Never open /etc/shadow",
  ])("%s", (text) => {
    expect(rulesFor(text)).not.toContain("secret-access.file");
  });
});

describe("secret-access.foothold finds", () => {
  it.each([
    "echo a > /home/me/.ssh/authorized_keys",
    "echo a >>/etc/sudoers.d/me",
    "echo a > '/etc/pam.d/login'",
    "echo a > /etc/ssh/sshd_config",
    "echo a > /etc/crontab",
    "echo a > /etc/rc.local",
    "echo a > /Users/me/.profile",
    "echo a > /etc/profile.d/a.sh",
    "echo a > ~/.bashrc",
    "echo a > /home/me/.zshrc",
    "echo a > ../../etc/passwd",
    "echo a > /etc/shadow",
    "echo a > /etc/ld.so.preload",
    "echo a > /etc/systemd/system/a",
    "echo a | tee -a ~/.bashrc",
    "echo a | tee ~/.bashrc",
    "Append the line to ~/.bashrc",
    "Writes the line into ~/.bashrc",
    "write to ~/.zshrc",
    'write_file {"path": "~/.bashrc"}',
    "edit_file ~/.bashrc",
    '{"path": "/etc/cron.daily/a"}',
    '{"path": "/etc/systemd/system/a.service"}',
    "~/Library/LaunchAgents/com.example.a.plist",
    "/Library/LaunchDaemons/com.example.a.plist",
    "Microsoft\\Windows\\Start Menu\\Programs\\Startup\\a.lnk",
    "Start Menu\\\\Programs\\\\Startup",
    "reg add HKCU\\Software\\Run /v a",
    "schtasks /create /tn a",
    "useradd -m bob",
    "net user bob Pass1 /add",
    "bob ALL=(ALL) NOPASSWD: ALL",
    "ln -s ../.claude/settings.json a.png",
    "ln -sf /etc/crontab a.png",
    "Make a symlink to ~/.cursor",
    "a symbolic link into /etc/",
    "symlink to mcp.json",
    "a.png -> ../../.gemini/settings",
  ])("%s", (text) => {
    expect(rulesFor(text)).toContain("secret-access.foothold");
  });
});

describe("secret-access.foothold passes", () => {
  it.each([
    "echo a > ~/notes.txt",
    "echo a > .bashrc",
    "echo a > ../etc/passwd",
    "committee ~/.bashrc",
    "Appends a line. The file is ~/.bashrc",
    "Writes a line. In ~/.bashrc",
    "Writes ~/.bashrc",
    "read_file ~/.bashrc",
    "/etc/cron.d",
    "Edit /etc/systemd/system/a.service as you like.",
    "The folder LaunchAgents/ has files of .plist",
    "Start Menu, Programs, Startup",
    "reg add HKCU\\Software\\Runner /v a",
    "schtasks /query",
    "useradd adds a user",
    "net user bob /add",
    "NOPASSWD: /bin/ls",
    "ln -s ../dist a",
    "ln -s ../.claudette a",
    "ln ../.claude/settings.json a.png",
    "symlinks to ~/.cursor",
    "a.png -> .gemini/settings",
  ])("%s", (text) => {
    expect(rulesFor(text)).not.toContain("secret-access.foothold");
  });
});

/** Written so that nobody takes it for a key that was lost. */
const SHORT = [
  ["sk-ant-", 8],
  ["sk_live_", 16],
  ["ghp_", 16],
  ["glpat-", 16],
  ["AKIA", 12],
  ["AIza", 30],
  ["ya29.", 20],
  ["xoxb-", 10],
  ["npm_", 30],
  ["hf_", 30],
  [`SG.${"0".repeat(16)}.`, 16],
  ["?api_key=", 12],
  ["&sessionId=", 12],
  ["client_secret: '", 16],
  ["access_token=", 16],
] as const;

describe("secret-access.key", () => {
  it.each(SHORT)("finds a %s of %i characters and passes a shorter one", (start, length) => {
    expect(rulesFor(`a ${start}${"0".repeat(length)}`)).toContain("secret-access.key");
    expect(rulesFor(`a ${start}${"0".repeat(length - 1)}`)).not.toContain("secret-access.key");
  });

  it.each(["-----BEGIN PRIVATE KEY-----", "-----BEGIN OPENSSH PRIVATE KEY-----", "MIIEvQIBADAN", "MIIEpAIBAAK"])(
    "finds %s",
    (text) => {
      expect(rulesFor(text)).toContain("secret-access.key");
    },
  );

  it.each([
    "-----BEGIN PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----",
    "MIIEvQIBADAM",
    `akia${"0".repeat(12)}`,
    `TASK-AKIAS${"0".repeat(5)}`,
    "?token=your-token-goes-here",
    "?page=0123456789abcdef",
    "client_secret=the-secret-of-the-client",
    "secret_keys: 0123456789abcdef0123",
  ])("passes %s", (text) => {
    expect(rulesFor(text)).not.toContain("secret-access.key");
  });
});

describe("secret-access.environment finds", () => {
  it.each([
    "echo $STRIPE_TOKEN",
    'print "${DB_PASSWORD}"',
    "printenv | sort",
    "env | grep KEY",
    "If the environment variable DEPLOY_TOKEN is set, use it.",
    "If process.env.API_KEY exists, use it.",
    "If ENV[SECRET] is defined, use it.",
  ])("%s", (text) => {
    expect(rulesFor(text)).toContain("secret-access.environment");
  });
});

describe("secret-access.environment passes", () => {
  it.each([
    "echo TOKEN",
    "echo $TOKENS",
    "printenv HOME",
    "env | sort",
    "Set the environment variable DEPLOY_TOKEN.",
    "The environment variable NAME is set.",
  ])("%s", (text) => {
    expect(rulesFor(text)).not.toContain("secret-access.environment");
  });
});

describe("secret-access.internal-address finds", () => {
  it.each([
    "http://169.254.169.254/latest",
    "http://metadata.google.internal/",
    "http://100.100.100.200/latest",
    "http://[fd00:ec2::254]/latest",
    "gopher://x.example",
    "dict://7",
    "file:///etc/hosts",
    "file://proc/1",
    "http://0x7f000001",
    "http://2130706433/",
    "http://2130706433:80",
    "http://[::ffff:127.0.0.1]",
    "http://127.0.0.1.nip.io",
    "http://127.0.0.1.sslip.io",
    "http://a.rebind.network",
    "http://a.rbndr.us",
    "http://a.1u.ms",
  ])("%s", (text) => {
    expect(rulesFor(text)).toContain("secret-access.internal-address");
  });
});

describe("secret-access.internal-address passes", () => {
  it.each([
    "http://169.254.169.25",
    "http://metadata.google.example",
    "A gopher: small",
    "dict://words",
    "file:///tmp/a",
    "http://0x7f00",
    "http://2130706433.example",
    "http://2130706/",
    "[::ffff:8.8.8.8]",
    "http://docs.nip.io",
    "Never open 169.254.169.254",
  ])("%s", (text) => {
    expect(rulesFor(text)).not.toContain("secret-access.internal-address");
  });
});

describe("secret-access.browser finds", () => {
  it.each(["sqlite3 Default/Cookies .dump", "sqlite3 key4.db", "SELECT url, password_value FROM logins"])(
    "%s",
    (text) => {
      expect(rulesFor(text)).toContain("secret-access.browser");
    },
  );
});

describe("secret-access.browser passes", () => {
  it.each([
    "Cookies of sqlite3",
    "sqlite3 notes.db | grep Cookies",
    "SELECT password FROM users",
    "Selects password_value",
  ])("%s", (text) => {
    expect(rulesFor(text)).not.toContain("secret-access.browser");
  });
});

describe("secret-access.traversal finds", () => {
  it.each([
    "../../etc/hosts",
    "..\\..\\Windows\\win.ini",
    "../../.config",
    "%2e%2e%2f%2e%2e%2fa",
    "%2e%2e/..%2fa",
    "/etc/./passwd",
    "/etc//shadow",
    "/etc/../etc/passwd",
    ".ssh/../a",
    ".aws/../a",
  ])("%s", (text) => {
    expect(rulesFor(text)).toContain("secret-access.traversal");
  });
});

describe("secret-access.traversal passes", () => {
  it.each(["../../src/a.ts", "../etc/hosts", "%2e%2e%2fa", "/etc/passwd", "/etc/./hosts", ".ssh/config"])(
    "%s",
    (text) => {
      expect(rulesFor(text)).not.toContain("secret-access.traversal");
    },
  );
});
