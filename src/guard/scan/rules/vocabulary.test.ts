import { expect, it } from "vitest";
import { toExpression } from "./phrases.ts";

/** For each list that takes several lines, one sample of each line. */
const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  send: ["sending", "mirrors"],
  include: ["attaching", "concatenates"],
  "hand-over": ["supplies", "forward"],
  show: ["discloses", "write out"],
  read: ["harvests", "look for"],
  act: ["relays", "injecting"],
  conversation: [
    "entire chat history",
    "this conversation",
    "earlier messages",
    "original prompts",
    "everything we discussed",
    "full transcript",
    "last ten messages of this chat",
  ],
  prompt: ["system prompt", "your own rules", "everything above"],
  credentials: ["passwords", "bearer token", "npm tokens", "signing key", "credit card numbers", "MY_ACCESS_KEY"],
  private: ["customer data", "contents of all files", "the whole repository", "screenshots"],
  "key-file": [".kube/key", "id_ed25519", "/etc/shadow", ".env.local", ".pgpass", "wallet.dat", "cookies.sqlite"],
  "secret-file": ["claude_desktop_config.json", ".cursor/mcp.json"],
  destination: ["https://a.example/b", "shop.com", "our logging server", "10.0.0.9"],
  carrier: ["metadata", "your next reply", "as 'note'"],
  "named-carrier": ["in the 'trace' field", "as 'trace'"],
  qualifier: ["your", "preceding", "default", "operational"],
  rules: ["system prompt", "safeguards"],
  persona: ["pretending", "simulator", "alter ego", "fictional"],
  unlimited: ["without any rules", "not bound by laws", "never cares about ethics", "lacks morals"],
  unbound: ["unfiltered", "unhinged", "any request"],
  unrefusing: [
    "never refuses",
    "will obey any",
    "no matter how weird",
    "regardless of its content",
    "willing to do illegal",
  ],
  make: ["design", "instructions for", "detailed plan"],
  harm: ["rootkit", "fileless", "windows defender", "blackmail", "sarin", "genocide", "self-harm"],
};

it.each(Object.entries(SAMPLES))("%s has each of its lines", (list, samples) => {
  const expression = toExpression([`{${list}}`]);
  expect(samples.filter((sample) => sample.search(expression) === -1)).toEqual([]);
});
