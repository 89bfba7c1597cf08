import { readReference } from "../../guard/secrets/reference.ts";
import { configInvalid, type KeyStyle, type LocatedIssue, type Origin } from "./check-config.ts";
import { namesOf, needsOf } from "../adapter-settings.ts";
import { chosenAdapters } from "./chosen-adapters.ts";
import { stateType } from "./state-type.ts";
import { toSnake } from "./key-style.ts";
import type { ResolvedConfig } from "./resolve-config.ts";

interface Contradiction {
  readonly path: readonly string[];
  readonly holds: (config: ResolvedConfig) => boolean;
  readonly message: string;
  readonly fix: string;
}

/** Settings that are valid alone, but together leave a user with less than they asked for. */
const CONTRADICTIONS: readonly Contradiction[] = [
  {
    path: ["execution", "sandboxType"],
    holds: ({ execution }) => execution.enableSandbox && execution.sandboxType === "none",
    message: "is none, which confines nothing, and a sandbox is enabled",
    fix: `Set it to one of ${namesOf("sandboxes")
      .filter((name) => name !== "none")
      .join(", ")}, or leave the sandbox off.`,
  },
  {
    // A folder that nobody chose may hold this very configuration.
    path: ["builtins", "files", "roots"],
    holds: ({ builtins }) =>
      builtins.tools.some((tool) => tool === "file-read" || tool === "file-write") &&
      (builtins.files.roots ?? []).length === 0,
    message: "is empty, and there is a tool for files",
    fix: "Name the folders it may use, such as [./docs].",
  },
  {
    path: ["builtins", "webSearch", "apiKey"],
    holds: ({ builtins }) => readReference(builtins.webSearch.apiKey) === undefined,
    message: "is not a reference to a secret",
    fix: "Write env:NAME, with the environment variable that holds the key.",
  },
  {
    path: ["server", "auth", "apiKeys", "file"],
    holds: ({ server: { auth } }) =>
      auth?.apiKeys !== undefined && auth.apiKeys.file === undefined && auth.apiKeys.state !== true,
    message: "is needed for API keys",
    fix: "Name the file, or set server.auth.api_keys.state to true.",
  },
  {
    path: ["server", "auth", "apiKeys", "state"],
    holds: ({ server: { auth } }) => auth?.apiKeys?.file !== undefined && auth.apiKeys.state === true,
    message: "cannot be combined with server.auth.api_keys.file",
    fix: "Remove one of them.",
  },
  {
    path: ["server", "auth", "apiKeys", "state"],
    holds: ({ server: { auth }, state }) => auth?.apiKeys?.state === true && stateType(state) === "memory",
    message: "is true, and the state is kept in the memory of one process",
    fix: "Set state.file or state.type, or keep the keys in server.auth.api_keys.file.",
  },
  {
    path: ["audit", "keyFile"],
    holds: ({ audit: { type, secret, keyFile } }) =>
      type === "postgres" && secret === undefined && keyFile === undefined,
    message: "is needed for postgres, or audit.secret: every process signs with the same key",
    fix: "Name the file of an Ed25519 key, or set audit.secret to env:NAME.",
  },
  {
    path: ["a2a", "agents"],
    holds: ({ a2a }) => a2a.agents.length > 0,
    message: "names agents, and there is no A2A source to use them with",
    fix: "Leave it empty, or add a source of your own with addEnsemble.",
  },
];

/** Throws CONFIG_INVALID, with every such pair of settings, and every setting that a chosen adapter needs and lacks. */
export function refuseContradictions(config: ResolvedConfig, style: KeyStyle, origin?: Origin): void {
  const spelled = (path: readonly string[]): readonly string[] => (style === "snake" ? path.map(toSnake) : path);
  const contradictions = CONTRADICTIONS.filter(({ holds }) => holds(config));
  const lacking = chosenAdapters(config).flatMap(({ kind, name, path, settings }) =>
    Object.entries(needsOf(kind, name))
      .filter(([key]) => settings[key] === undefined)
      .map(([key, fix]) => ({ path: [...path, key], message: `is needed for ${name}`, fix })),
  );
  const issues = [...contradictions, ...lacking].map(({ path, message, fix }): LocatedIssue => {
    const keys = spelled(path);
    return { field: keys.join("."), message, fix, at: origin?.locate(keys) ?? "" };
  });
  if (issues.length > 0) throw configInvalid(issues);
}
