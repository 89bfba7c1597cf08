import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { type ArsenalError, fixable, isArsenalError } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import type { Emit } from "../../../observe/events.ts";
import type { OfferedTool, Source } from "../../../register/source.port.ts";
import { type WatchedFiles, watchFiles } from "../../../system/watch-files.ts";
import type {
  ImportCommand,
  Reach,
  SourceSurroundings,
  WatchedFiles as WatchedDescriptors,
} from "../source-adapter.ts";
import { descriptorFiles } from "./descriptor-files.ts";
import { findInvocable } from "./find-invocable.ts";
import { type Invocables, type InvokerOf, toHandler } from "./invocable.ts";
import { type EnsembleDescriptor, type InvokerDescriptor, readEnsemble, readInvoker } from "./read-descriptor.ts";
import type { DescriptorsSettings } from "./settings.ts";

/** The TOML file of an ensemble, and the functions that run its tools. */
export interface DescriptorSettings {
  readonly file: string;
  /** Functions by name, for invokers without a module. The name is the invoker's `handler`, or else the invoker's own name. */
  readonly handlers?: Invocables;
}

/** Optional dependencies of the source of an ensemble's tools. */
export interface DescriptorParts {
  readonly clock?: Clock;
  /** Creates `context.invoker` for invocables. Defaults to the invoker's name, tool and schema. */
  readonly invokerOf?: InvokerOf;
  /** If false, the modules of handlers are not loaded: tools can be listed but not called. Defaults to true. */
  readonly loadModules?: boolean;
}

/** A source of one ensemble's tools, read from a TOML file. */
export interface DescriptorSource extends Source {
  readonly enabled: boolean;
  readonly configuration: EnsembleDescriptor["configuration"];
  /** The problems of the invokers at the last listing. */
  readonly problems: readonly InvokerProblem[];
  /** Invokers that are listed but cannot be called, because no function was given for them. */
  readonly withoutHandler: readonly string[];
}

/** A problem with an invoker. The invoker is omitted, or keeps its version from before its file changed. */
export interface InvokerProblem {
  /** The name of the invoker if it is known, otherwise the name of its file. */
  readonly invoker: string;
  /** Names file, line and key. */
  readonly error: ArsenalError;
}

/**
 * Offers the tools of an ensemble that a TOML file describes. Throws CONFIG_INVALID, with file, line and key, if the ensemble's file is invalid.
 * Invalid invokers are reported; the rest are used. Changed files are read again.
 *
 * @example
 * await arsenal.add(await descriptorSource({ file: "ensembles/io.toml", handlers: { read_file: readFile } }));
 */
export async function descriptorSource(
  { file: given, handlers = {} }: DescriptorSettings,
  { clock = systemClock, invokerOf, loadModules = true }: DescriptorParts = {},
): Promise<DescriptorSource> {
  const file = resolve(given);
  const texts = new Map<string, string | undefined>();
  let current = await readOwn();
  const { name } = current;
  /** The last valid version of each invoker, by file. */
  let good = new Map<string, BoundInvoker>();
  let problems: readonly InvokerProblem[] = [];
  let tell: Emit | undefined;
  let watched: WatchedFiles | undefined;

  async function readOwn(): Promise<EnsembleDescriptor> {
    const read = await readText(file, (problem) => {
      throw fixable("CONFIG_INVALID", `${file} ${problem}.`, "Check the path.", { field: "file", value: file });
    });
    return readEnsemble(file, read);
  }

  async function readText(path: string, refuse: (problem: string) => never): Promise<string> {
    texts.set(path, undefined);
    const read = await readFile(path, "utf8").catch((error: Error) => refuse(`cannot be read: ${error.message}`));
    texts.set(path, read);
    return read;
  }

  const readModule = (path: string): Promise<string> =>
    readText(path, (problem) => {
      throw new Error(problem);
    });

  async function bind(path: string, refuseSource: (problem: string) => never): Promise<BoundInvoker> {
    const invoker = await readInvoker(path, await readText(path, refuseSource));
    const isLoaded = invoker.enabled && loadModules;
    const invocable = isLoaded ? await findInvocable(path, invoker, handlers, readModule) : undefined;
    const handler = invocable ? toHandler(invoker.name, invocable, invokerOf) : missing(path, invoker);
    return { ...invoker, offered: { draft: invoker.draft, handler }, runs: invocable !== undefined };
  }

  /** Reads every invoker. If one is invalid, reports it and uses its last valid version. */
  async function bindAll({ invokers, refuse }: EnsembleDescriptor): Promise<readonly InvokerProblem[]> {
    const next = new Map<string, BoundInvoker>();
    const found: InvokerProblem[] = [];
    const names = new Map<string, string>();
    for (const [index, path] of invokers.entries()) {
      const last = good.get(path);
      try {
        const fix = `Check the path, which is relative to the folder of ${basename(file)}.`;
        const bound = await bind(path, (problem) => refuse(["invokers", index, "source"], problem, fix));
        const other = names.get(bound.name);
        if (bound.enabled && other !== undefined)
          bound.refuse(["invoker", "name"], `is ${showValue(bound.name)}, as in ${other}`, "Rename one of them.");
        next.set(path, bound);
      } catch (error) {
        if (!isArsenalError(error)) throw error;
        found.push({ invoker: last?.name ?? basename(path, ".toml"), error });
        if (last !== undefined && !names.has(last.name)) next.set(path, last);
      }
      const kept = next.get(path);
      if (kept?.enabled) names.set(kept.name, path);
    }
    good = next;
    return found;
  }

  const follow = (): void => watched?.follow([...texts.keys()], [...texts.values()]);

  function report(found: readonly InvokerProblem[]): void {
    const known = new Set(problems.map(({ error }) => error.message));
    problems = found;
    for (const { invoker, error } of found)
      if (!known.has(error.message))
        tell?.("tool-rejected", { name: `${name}.${invoker}`, code: error.code, message: error.message });
  }

  const enabled = (): readonly BoundInvoker[] =>
    current.enabled ? [...good.values()].filter((bound) => bound.enabled) : [];

  const withoutHandler = (): readonly string[] => enabled().flatMap((bound) => (bound.runs ? [] : bound.name));

  return {
    name,
    kind: "descriptor",
    // The operator wrote the files, so their annotations are reliable.
    trustsAnnotations: true,
    get enabled() {
      return current.enabled;
    },
    get configuration() {
      return current.configuration;
    },
    get timeoutMs() {
      const { timeout } = current.configuration;
      return timeout === undefined ? undefined : timeout * 1000;
    },
    get maxRetries() {
      return current.configuration.maxRetries;
    },
    get maxConcurrent() {
      return current.configuration.maxConcurrent;
    },
    get problems() {
      return problems;
    },
    get withoutHandler() {
      return withoutHandler();
    },
    findings() {
      if (!current.enabled) return [{ state: "ok", message: `not enabled in ${file}` }];
      const fix = 'Add handler = "./MODULE.ts#NAME" to its [invoker].';
      return [
        ...problems.map(({ invoker, error }) => ({
          state: "failed" as const,
          tool: invoker,
          message: error.message,
          error,
        })),
        ...withoutHandler().map((tool) => {
          return { state: "warning" as const, tool, message: "can be found but not run: no handler", fix };
        }),
      ];
    },
    async connect({ signal, emit }) {
      signal.throwIfAborted();
      tell = emit;
    },
    async list({ signal, emit }) {
      tell = emit ?? tell;
      try {
        texts.clear();
        const next = await readOwn();
        if (next.name !== name)
          next.refuse(["ensemble", "name"], `was ${showValue(name)} when it was loaded`, "Restore it, or restart.");
        const found = next.enabled ? await bindAll(next) : [];
        signal.throwIfAborted();
        current = next;
        report(found);
      } finally {
        follow();
      }
      return enabled().map(({ offered }) => offered);
    },
    watch(changed) {
      const onFailure = (error: Error): void => {
        const message = `Cannot watch the files of ${name}: ${error.message}`;
        tell?.("ensemble-failed", { ensemble: name, kind: "descriptor", message });
      };
      const watching = watchFiles({ onChange: changed, onFailure, clock });
      watched = watching;
      follow();
      return () => void watching.close();
    },
    async disconnect() {
      await watched?.close();
      watched = undefined;
    },
  };
}

export async function create(
  { paths }: DescriptorsSettings,
  surroundings: SourceSurroundings,
): Promise<DescriptorSource> {
  const { handlers, clock } = surroundings;
  return descriptorSource({ file: paths[0] ?? "", ...(handlers && { handlers }) }, { clock });
}

/** Returns the settings of one source for each file. */
export async function expand({ paths }: DescriptorsSettings): Promise<readonly DescriptorsSettings[]> {
  const files: string[] = [];
  for (const path of paths) files.push(...(await descriptorFiles(path)));
  return files.map((file) => ({ paths: [file] }));
}

export function reach({ paths }: DescriptorsSettings): Reach {
  // The modules of handlers run in this process.
  return { reads: paths, commands: ["handlers"] };
}

export function watch({ paths }: DescriptorsSettings): WatchedDescriptors {
  return { files: paths, followed: true };
}

const importDescriptors: ImportCommand = {
  summary: "From TOML descriptors of ensembles: a file, a folder or a pattern",
  positionals: ["SOURCE"],
  examples: ["import descriptor ensembles/io.toml"],
  async open([path = ""], { folder, name }) {
    const files = await descriptorFiles(resolve(folder, path));
    // An import calls no tools, so the modules of handlers are not loaded.
    const opened = await Promise.all(files.map((file) => descriptorSource({ file }, { loadModules: false })));
    return opened.map((each) => ({
      source: name === undefined ? each : { ...each, namespaces: [name] },
      skipped: () => each.problems.map(({ invoker, error }) => `Skipped: ${each.name}.${invoker}: ${error.message}`),
    }));
  },
};

export { importDescriptors as import };
export { config } from "./settings.ts";

interface BoundInvoker extends InvokerDescriptor {
  readonly offered: OfferedTool;
  readonly runs: boolean;
}

function missing(path: string, { name, handler = name }: InvokerDescriptor): () => never {
  return () => {
    const fix = `Add handler = "./MODULE.ts#NAME" to [invoker] in ${path}, or register handlers: { ${handler} }.`;
    throw fixable("HANDLER_MISSING", `Nothing runs ${showValue(name)}.`, fix, { field: "handler" });
  };
}
