import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import { messageOf } from "../../../errors/show-value.ts";
import { createSecrets, type Secrets } from "../../../guard/secrets/secrets.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import type { Emit } from "../../../observe/events.ts";
import type { OfferedTool, Source } from "../../../register/source.port.ts";
import { findProgram } from "../../../system/find-program.ts";
import { watchFolders } from "../../../system/watch-files.ts";
import { fileName } from "../file-name.ts";
import { hasReference, type ImportCommand, type Reach, type SourceSurroundings } from "../source-adapter.ts";
import { subprocessSandbox } from "../../sandboxes/subprocess/subprocess.ts";
import {
  type Declaration,
  oneLine,
  type ReadScripts,
  type ScriptProblem,
  toObjectSchema,
  toolName,
} from "./declaration.ts";
import { findFiles, languageOf, type ScriptFile } from "./find-files.ts";
import { readBash } from "./read-bash.ts";
import { readPython } from "./read-python.ts";
import { createHandler, type RunParts } from "./run-script.ts";
import type { ScriptsSettings } from "./settings.ts";

/** Optional dependencies of the source of tools in files. */
export interface ScriptsParts {
  /** Where secrets are read from. Defaults to the environment, files and the keychain. */
  readonly secrets?: Secrets;
  readonly clock?: Clock;
}

/** A source of the tools in source files. */
export interface ScriptsSource extends Source {
  /** The files and functions that were not tools at the last listing. */
  readonly problems: readonly ScriptProblem[];
}

/** A stopped call ends its processes this long before the call's own deadline. */
const STOP_MS = 2_000;

/**
 * Offers functions in TypeScript, JavaScript, Python and bash files as tools. The files are read without running them. Each call runs in its own
 * process.
 *
 * @example
 * await arsenal.add(scriptsSource({ name: "web", paths: ["./tools"] }));
 */
export function scriptsSource(settings: ScriptsSettings, parts: ScriptsParts = {}): ScriptsSource {
  const { name = "scripts", timeoutMs = 60_000, env = {}, paths } = settings;
  const { secrets = createSecrets(), clock = systemClock } = parts;
  const limits = {
    timeoutMs,
    cpuMs: timeoutMs * availableParallelism(),
    memoryBytes: settings.maxMemoryBytes ?? 1024 * 1024 * 1024,
    outputBytes: settings.maxOutputBytes ?? 1024 * 1024,
  };
  const sandbox = subprocessSandbox();
  const watched = new Set<string>();
  let problems: readonly ScriptProblem[] = [];

  async function environment(signal: AbortSignal): Promise<Record<string, string>> {
    const filled = Object.entries(env).map(async ([key, value]) => {
      return [key, await secrets.fill(value, { scope: name, field: `env.${key}`, signal })] as const;
    });
    return Object.fromEntries(await Promise.all(filled));
  }

  function tell(found: readonly ScriptProblem[], emit: Emit | undefined): void {
    const known = new Set(problems.map(showProblem));
    problems = found;
    for (const problem of found) {
      const message = showProblem(problem);
      if (known.has(message)) continue;
      emit?.("tool-rejected", { name: problem.file, code: "TOOL_INVALID", message });
    }
  }

  return {
    name,
    kind: "descriptor",
    namespaces: [settings.namespace ?? name],
    // A program on this machine can use the files and the network of the user who runs it.
    capabilities: ["file_system", "network_access"],
    timeoutMs: timeoutMs + STOP_MS,
    maxConcurrent: settings.maxConcurrent,
    get problems() {
      return problems;
    },
    async connect({ signal }) {
      signal.throwIfAborted();
      const available = await sandbox.available();
      if (available !== true) throw new ArsenalError("SANDBOX_FAILED", available, { fix: available });
      for (const folder of (await findFiles(paths)).folders) watched.add(folder);
    },
    async list({ signal, emit }) {
      const found = await findFiles(paths);
      const read = await readFiles(found.files, settings, signal);
      signal.throwIfAborted();
      const { first, repeated } = byName(read.declarations);
      tell([...found.problems, ...read.problems, ...repeated], emit);
      const run: RunParts = { sandbox, programs: read.programs, environment, cwd: settings.cwd, limits };
      return first.map((declaration) => toOffered(declaration, run));
    },
    watch: (changed) =>
      watchFolders([...watched], { changed, clock, matters: (file) => languageOf(file) !== undefined }),
    async disconnect() {
      watched.clear();
    },
  };
}

/** Returns a problem as one line: `tools.py, line 3: …`. @internal */
export function showProblem({ file, line, reason }: ScriptProblem): string {
  return `${file}${line === undefined ? "" : `, line ${line}`}: ${reason}`;
}

async function readFiles(
  files: readonly ScriptFile[],
  { python = "python3", bash = "bash" }: ScriptsSettings,
  signal: AbortSignal,
): Promise<ReadScripts & Pick<RunParts, "programs">> {
  const programs = { node: process.execPath, python, bash };
  const of = (language: ScriptFile["language"]): string[] =>
    files.filter((file) => file.language === language).map(({ path }) => path);
  const attempts = await Promise.all([
    attempt(of("node"), async (paths) => {
      const { readTypeScript } = await import("./read-typescript.ts");
      return readTypeScript(paths, signal);
    }),
    attempt(of("python"), async (paths) => {
      const read = await readPython(paths, findProgram(python) ?? missing("python", python), signal);
      programs.python = read.executable;
      return read;
    }),
    attempt(of("bash"), async (paths) => {
      programs.bash = findProgram(bash) ?? missing("bash", bash);
      return readBash(paths, programs.bash, signal);
    }),
  ]);
  const order = new Map(files.map(({ path }, place) => [path, place]));
  const byFile = (one: Declaration, other: Declaration): number =>
    (order.get(one.file) ?? 0) - (order.get(other.file) ?? 0);
  return {
    programs,
    declarations: attempts.flatMap(({ declarations }) => declarations).toSorted(byFile),
    problems: attempts.flatMap((each) => each.problems),
  };
}

/** Reads one language. An error affects only the files of that language. */
async function attempt(
  paths: readonly string[],
  read: (paths: readonly string[]) => Promise<ReadScripts>,
): Promise<ReadScripts> {
  if (paths.length === 0) return { declarations: [], problems: [] };
  try {
    return await read(paths);
  } catch (error) {
    return { declarations: [], problems: paths.map((file) => ({ file, reason: messageOf(error) })) };
  }
}

function missing(setting: string, program: string): never {
  const problem = `It needs ${program}, which is not on the PATH.`;
  throw fixable("LIBRARY_MISSING", problem, `Install it, or set ${setting} to its path.`);
}

function toOffered(declaration: Declaration, run: RunParts): OfferedTool {
  const { file, description, fields, entry } = declaration;
  const [summary = "", ...more] = description.split(/\n\s*\n/).map(oneLine);
  return {
    draft: {
      name: toolName(declaration),
      sourceName: entry,
      sourceUri: file,
      parameters: toObjectSchema(fields),
      ...(summary !== "" && { description: summary }),
      ...(more.length > 0 && { extendedDescription: more.join("\n\n") }),
    },
    handler: createHandler(declaration, run),
  };
}

/** If several declarations have the same name, the first is a tool and the others are problems. */
function byName(declarations: readonly Declaration[]) {
  const first = new Map<string, Declaration>();
  const repeated: ScriptProblem[] = [];
  for (const each of declarations) {
    const name = toolName(each);
    const other = first.get(name);
    if (other === undefined) first.set(name, each);
    else {
      const reason = `${name} is already declared in ${other.file}. Rename one of them.`;
      repeated.push({ file: each.file, line: each.line, reason });
    }
  }
  return { first: [...first.values()], repeated };
}

export function create(settings: ScriptsSettings, { secrets, clock }: SourceSurroundings): ScriptsSource {
  return scriptsSource(settings, { secrets, clock });
}

export function reach({ paths, python, bash, env }: ScriptsSettings): Reach {
  return {
    reads: paths,
    commands: [python ?? "python3", bash ?? "bash", process.execPath],
    secrets: hasReference(env),
  };
}

const importScripts: ImportCommand = {
  summary: "From TypeScript, JavaScript, Python and bash files: files, folders or patterns",
  positionals: ["PATH…"],
  examples: ["import scripts ./tools"],
  async open(paths, { folder, name }) {
    const whole = paths.map((path) => resolve(folder, path));
    const source = scriptsSource({ name: name ?? fileName(whole[0] ?? ""), paths: whole });
    return [{ source, skipped: () => source.problems.map((problem) => `Skipped: ${showProblem(problem)}`) }];
  },
};

export { importScripts as import };
export type { ScriptProblem } from "./declaration.ts";
export type { ScriptsSettings } from "./settings.ts";
export { config } from "./settings.ts";
