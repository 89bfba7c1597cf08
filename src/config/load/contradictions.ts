import { readReference } from "../../guard/secrets/reference.ts";
import { configInvalid, type LocatedIssue } from "../../errors/arsenal-error.ts";
import type { KeyStyle, Origin } from "./check-config.ts";
import { namesOf, needsOf } from "../adapter-settings.ts";
import { chosenAdapters, stateType } from "./chosen-adapters.ts";
import { toSnake } from "./key-style.ts";
import type { ResolvedConfig } from "./resolve-config.ts";
import { showValue } from "../../errors/show-value.ts";
import { filterProblem } from "../../tool/tool-filter.ts";
import { idsProblem, isToolsetName, NAME_FIX } from "../../toolset/toolsets.ts";

interface Contradiction {
  readonly path: readonly string[];
  readonly holds: (config: ResolvedConfig) => boolean;
  readonly message: string | ((config: ResolvedConfig) => string);
  readonly fix: string;
}

/** Rules that the schema cannot express. Most are about settings that are valid alone, but that together provide less than the user expects. */
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
    // A default folder could contain this configuration.
    path: ["builtins", "files", "roots"],
    holds: ({ builtins }) =>
      builtins.tools.some((tool) => tool === "file-read" || tool === "file-write") &&
      (builtins.files.roots ?? []).length === 0,
    message: "is empty, but a file tool is enabled",
    fix: "Name the folders it may use, such as [./docs].",
  },
  {
    path: ["builtins", "webSearch", "apiKey"],
    holds: ({ builtins }) => readReference(String(builtins.webSearch.apiKey)) === undefined,
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
    path: ["server", "publicUrl"],
    holds: ({ server: { publicUrl } }) => publicUrl !== undefined && !/^https?:\/\/[^\s?#@]+$/i.test(publicUrl),
    message: ({ server: { publicUrl } }) =>
      `must be an http or https address without user name, query and fragment, not ${showValue(publicUrl)}`,
    fix: "Write https://tools.example.com, or https://example.com/tools if a proxy serves the gateway below a path.",
  },
  {
    path: ["audit", "keyFile"],
    holds: ({ audit: { type, secret, keyFile } }) =>
      type === "postgres" && secret === undefined && keyFile === undefined,
    message: "is needed for postgres, or audit.secret: every process signs with the same key",
    fix: "Name the file of an Ed25519 key, or set audit.secret to env:NAME.",
  },
  {
    path: ["telemetry", "prices", "currency"],
    holds: ({ telemetry: { prices } }) => prices !== undefined && !/^[A-Z]{3}$/.test(prices.currency),
    message: ({ telemetry: { prices } }) => `must be the code of a currency, not ${showValue(prices?.currency)}`,
    fix: "Write three capital letters: USD.",
  },
  {
    path: ["telemetry", "otlp", "endpoint"],
    holds: ({ telemetry: { otlp } }) =>
      otlp?.endpoint !== undefined && !/^https?:$/.test(URL.parse(otlp.endpoint)?.protocol ?? ""),
    message: "is not an http or https address",
    fix: "Write the collector's HTTP address, such as http://localhost:4318.",
  },
];

/** Throws CONFIG_INVALID with every contradiction between settings, and every missing required setting of a chosen adapter. */
export function refuseContradictions(config: ResolvedConfig, style: KeyStyle, origin?: Origin): void {
  const spelled = (path: readonly string[]): readonly string[] => (style === "snake" ? path.map(toSnake) : path);
  const contradictions = CONTRADICTIONS.filter(({ holds }) => holds(config));
  const lacking = chosenAdapters(config).flatMap(({ kind, name, path, settings }) =>
    Object.entries(needsOf(kind, name))
      .filter(([key]) => settings[key] === undefined)
      .map(([key, fix]) => ({ path: [...path, key], message: `is needed for ${name}`, fix })),
  );
  const issues = [...contradictions, ...lacking, ...toolsetIssues(config.toolsets)].map(
    ({ path, message, fix }): LocatedIssue => {
      const keys = spelled(path);
      const told = typeof message === "string" ? message : message(config);
      return { field: keys.join("."), message: told, fix, at: origin?.locate(keys) ?? "" };
    },
  );
  if (issues.length > 0) throw configInvalid(issues);
}

type Issue = Pick<Contradiction, "path" | "fix"> & { readonly message: string };

/** Returns the problems of toolsets that the schema cannot express. */
function toolsetIssues(toolsets: ResolvedConfig["toolsets"]): readonly Issue[] {
  const names = new Set<string>();
  return toolsets.flatMap(({ name, include, exclude, view }, index) => {
    const issues: Issue[] = [];
    const add = (path: string, message: string, fix: string): void =>
      void issues.push({ path: ["toolsets", String(index), ...path.split(".")], message, fix });
    if (!isToolsetName(name)) add("name", `${showValue(name)} is not a valid name`, NAME_FIX);
    if (names.has(name)) add("name", `another toolset is already named ${showValue(name)}`, "Give each its own name.");
    names.add(name);
    const { tools, where, ...followed } = include;
    const problems = [
      tools && idsProblem("include.tools", tools),
      exclude && idsProblem("exclude", exclude),
      where && filterProblem(where, "include.where"),
    ];
    for (const problem of problems) if (problem) add(problem.field, problem.message, problem.fix);
    if (view === "frozen") {
      const [key] = Object.keys(where === undefined ? followed : { where });
      const why = key === undefined ? "include.tools is missing" : `include.${key} would follow the catalog`;
      const fix = `List the ids under include.tools: toolarsenal toolsets show ${name} prints them.`;
      if (key !== undefined || tools === undefined) add("view", `is frozen, and ${why}`, fix);
    }
    return issues;
  });
}
