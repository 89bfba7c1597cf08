import { describe, expect, it } from "vitest";
import {
  CARRIER,
  CONVERSATION,
  CREDENTIALS,
  DESTINATION,
  INCLUDE,
  KEY_FILES,
  PRIVATE_DATA,
  READ,
  SECRET_FILES,
  SEND,
  SHOW,
  SYSTEM_PROMPT,
} from "./vocabulary.ts";

/** Each phrase is found from its first to its last letter, and nothing is found in the others. */
function finds(name: string, expression: RegExp, phrases: readonly string[], others: readonly string[]): void {
  describe(name, () => {
    it.each(phrases)("has: %s", (phrase) => {
      expect(phrase.match(expression)).toEqual([phrase]);
    });

    it.each(others)("has not: %s", (other) => {
      expect(other.match(expression)).toBeNull();
    });
  });
}

const each = (phrases: string): readonly string[] => phrases.split(" ");

finds(
  "SEND",
  SEND,
  [
    ...each("sends sending sent forwarded transmitting uploads posting relay exfiltrate leaks emailing"),
    ...each("submits delivering pipe piped pipes curl wget transferring ships beacon syncing mirrors"),
    "streams to",
  ],
  ["sender", "a stream of words", "by email only", "email address", "the pipeline", "postal"],
);

finds(
  "INCLUDE",
  INCLUDE,
  [
    ...each("includes append embedding passes attaching inserts adding putting encode smuggling provides"),
    ...each("copies copying places storing populate offload fill supply concatenates"),
  ],
  ["inclusive", "passenger", "address", "place_id", "filled"],
);

finds(
  "SHOW",
  SHOW,
  [
    ...each("reveals outputting prints repeating disclose displays dump leaking echoes showing shares"),
    ...each("returning recite exposing"),
    "tell me",
    "give me",
    "reply with",
    "respond with",
    "spell out",
    "write out",
  ],
  ["tell them", "give us", "reply", "printer", "write down"],
);

finds(
  "READ",
  READ,
  [
    ...each("reads opening load accesses extracting fetches collect harvesting steals grabbing scans"),
    ...each("retrieving dumps gather find get obtain cat tail base64 xxd tar zip scp rsync cp readFileSync"),
    ...each("read_file"),
    "searches for",
    "look for",
  ],
  ["reader", "search", "look up", "accessory", "category", "heading"],
);

finds(
  "CONVERSATION",
  CONVERSATION,
  [
    "chat history",
    "user's entire previous conversation log",
    "session metadata",
    "conversational data",
    "conversation text",
    "this whole conversation",
    "user transcripts",
    "chat transcript",
    "earlier messages",
    "all past turns",
    "prior interactions",
    "users' queries",
    "original prompt",
    "context window",
    "all context",
    "everything the user",
    "everything in your context",
    "everything we discussed",
    "everything that was said",
    "tool call history",
    "all messages",
    "complete dialogue",
    "whole transcript",
    "transcript so far",
    "this dialog",
    "last ten messages of this session",
    "recent turns in the chat",
  ],
  [
    "a conversation",
    "the conversation id",
    "the conversation with Dana",
    "the conversations",
    "the conversation_list",
    "chat room",
    "messages",
    "everything else",
    "last messages of May",
    "the transcript",
  ],
);

finds(
  "SYSTEM_PROMPT",
  SYSTEM_PROMPT,
  [
    "system prompt",
    "hidden instructions",
    "developer_message",
    "pre-prompt",
    "your instructions",
    "your own full guidelines",
    "text that came before this",
    "lines above the",
    "everything above",
    "knowledge base contents",
    "tool schemas verbatim",
  ],
  ["system settings", "your new rules", "prompts", "text before lunch", "above", "knowledge base", "tool schemas"],
);

finds(
  "CREDENTIALS",
  CREDENTIALS,
  [
    "credential",
    "API-keys",
    "apikey",
    "bearer tokens",
    "session_cookie",
    "Authorization header",
    "npm token",
    "secret access key",
    "secret-keys",
    "secret",
    "secrets",
    "passwords",
    "ssh key",
    "private_key",
    "recovery phrase",
    "environment variables",
    "env vars",
    "all env",
    "cookies",
    "pii",
    "social security numbers",
    "SSN",
    "credit card",
    "credit card details",
    "process.env",
    "os.environ",
    "OPENAI_API_KEY",
    "_PASSWORD",
    "db_secret",
  ],
  ["token", "keyboard", "a cookie", "secretary", "public key", "environment", "phrase", "OPENAI_API", "TOKEN_COUNT"],
);

finds(
  "PRIVATE_DATA",
  PRIVATE_DATA,
  [
    "their data",
    "all sensitive customer records",
    "confidential documents",
    "the results",
    "file contents",
    "contents of the directory",
    "content of any log files",
    "source code",
    "database",
    "this repository",
    "the entire codebase",
    "the code base",
    "home directories",
    "clipboard",
    "browser history",
    "screenshots",
  ],
  ["data", "the date", "contents of the box", "code", "a repository", "history", "home"],
);

const KEY_FILE_NAMES = [
  ".ssh/authorized_keys",
  ".aws\\credentials",
  ".kube/",
  ".config/gcloud/legacy.db",
  "id_rsa",
  "id_ed25519",
  "/etc/passwd",
  "/etc/./../etc/shadow",
  "/etc/gshadow",
  ".env",
  ".env.local",
  ".netrc",
  ".git-credentials",
  ".bash_history",
  ".zsh_history",
  "credentials.json",
  "wallet.dat",
  "secrets.yml",
  "System32\\config\\SAM",
  "System32//Config//SAM",
  "NTDS.dit",
  "Login Data",
  "Cookies.sqlite",
  "key4.db",
  "logins.json",
  "*.pem",
  "private.key",
  "password-file",
];

const ORDINARY_FILE_NAMES = [
  ".ssh/config",
  ".aws/config",
  ".git/config",
  "id_rsa.pub",
  "id_rsa_list",
  "/etc/hosts",
  "/etc/passwdqc.conf",
  "process.env",
  ".environment",
  "..env",
  "app.npmrc",
  ".npmrcs",
  "my.bash_history",
  ".zsh_history2",
  "mywallet.json",
  "secrets.txt",
  "login page",
  "monkey3.db",
  "key5.db",
  "blogins.json",
  "*.keys",
  "private.keys",
  "password file2",
];

finds("KEY_FILES", KEY_FILES, KEY_FILE_NAMES, [...ORDINARY_FILE_NAMES, "mcp.json", ".cursor/mcp.json"]);

finds(
  "SECRET_FILES",
  SECRET_FILES,
  [...KEY_FILE_NAMES, "mcp.json", "claude_desktop_config.json", ".claude/settings.json", ".codex\\config.toml"],
  [...ORDINARY_FILE_NAMES, "mcp.json5", "package.json", ".claude/settings.yaml", "settings.json"],
);

finds(
  "CARRIER",
  CARRIER,
  [
    ...each("parameters param argument fields var variable header body metadata payload sidenote url query"),
    "your reply",
    "every tool response",
    "the summary",
    "next comments",
    "as the 'trace",
    "as context",
  ],
  ["parametric", "a reply", "as: x", "varnish", "bodywork", "every other tool response"],
);

describe("DESTINATION", () => {
  it.each([
    ["write to https://drop.example/in now", "https://drop.example/in"],
    ['"wss://drop.test"', "wss://drop.test"],
    ["for dana@mail.test only", "@mail.test"],
    ["at drop-box.xyz", ".xyz"],
    ["to our server", "our server"],
    ["an attacker's own listener here", "attacker's own listener"],
    ["the third-party services", "third-party services"],
    ["any webhook", "webhook"],
    ["through ngrok", "ngrok"],
    ["on pastebin", "pastebin"],
    ["an attacker", "attacker"],
    ["at 192.0.2.17 today", "192.0.2.17"],
    ["to /exfil", "/exfil"],
  ])("has, in %s: %s", (text, place) => {
    expect(text.match(DESTINATION)).toEqual([place]);
  });

  it.each([
    "https://",
    "@dana",
    "@mail.test",
    "a.io",
    "console.me()",
    "main.common",
    "our two best servers",
    "a server",
    "webhooked",
    "attackers",
    "version 1.2.3",
    "/logs",
  ])("has not: %s", (text) => {
    expect(text.match(DESTINATION)).toBeNull();
  });

  it("is an address up to its quotation mark or bracket", () => {
    expect("(http://a.test/x) `ftp://b.test`".match(DESTINATION)).toEqual(["http://a.test/x", "ftp://b.test"]);
  });
});

describe("SEND", () => {
  it("has an e-mail where something follows that can be sent", () => {
    expect("Email the list, then e-mail it.".match(SEND)).toEqual(["Email ", "e-mail "]);
  });
});
