import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A folder with the one configuration that every surface is measured by. */
export interface Place {
  readonly folder: string;
  readonly config: string;
  /** The records of calls, oldest first, once whatever wrote them has closed. */
  records(): Promise<readonly CallRecord[]>;
  remove(): Promise<void>;
}

/** The part of a record that must not depend on the way a call came. */
export interface CallRecord {
  readonly kind: string;
  readonly toolId: string;
  readonly principal: string;
  readonly toolset?: string;
  readonly decision: { readonly effect: string; readonly rule?: string };
  readonly status: string;
  readonly code?: string;
  readonly confirmationId?: string;
  readonly attempts: number;
  readonly arguments?: { readonly sha256: string };
}

/** What becomes of a call, by the namespace that a tool is in. */
const POLICY = `
version: 1
rules:
  - { id: shut, effect: deny, namespaces: ["closed*"], hide: false, reason: It is shut. }
  - { id: unseen, effect: deny, namespaces: ["secret*"] }
  - { id: masked, effect: allow, namespaces: [masked], obligations: { redact: ["/note/"] } }
  - { id: asked, effect: require_approval, namespaces: ["waits*"], reason: A person looks at it. }
`;

const OWN_TOOLS = fileURLToPath(new URL("./own-tools.ts", import.meta.url));

/** A toolset with every tool, and one with two tools that run and one that waits for a person. */
const TOOLSETS = [
  { name: "everything", include: {} },
  { name: "narrow", include: { tools: ["open.echo", "open_own.echo", "waits_own.echo"] } },
];

/** Writes the configuration: one server under five names, the same tools as functions, one policy, one call a minute of each tool. */
export async function createPlace(url: string, security: object = {}): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "toolarsenal-no-bypass-"));
  const config = join(folder, "arsenal.yaml");
  const audit = join(folder, "audit.jsonl");
  const server = { type: "http", url };
  await writeFile(join(folder, "policy.yaml"), POLICY);
  await writeFile(
    config,
    // JSON is YAML.
    JSON.stringify({
      modules: [OWN_TOOLS],
      telemetry: { enabled: false },
      // Approvals stay out of the home folder of whoever runs the tests.
      state: { file: ":memory:" },
      audit: { file: audit },
      security: { policy_file: "./policy.yaml", max_requests_per_minute: 1, ...security },
      toolsets: TOOLSETS,
      mcpServers: { open: server, closed: server, secret: server, waits: server, masked: server },
    }),
  );
  return {
    folder,
    config,
    async records() {
      const lines = (await readFile(audit, "utf8")).split("\n").filter((line) => line !== "");
      return lines.map((line) => JSON.parse(line) as CallRecord).filter(({ kind }) => kind === "call");
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
