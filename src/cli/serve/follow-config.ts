import { isDeepStrictEqual } from "node:util";
import { internalsOf, operationsOf, type ToolArsenal } from "../../arsenal.ts";
import { configChanges } from "../../config/load/config-changes.ts";
import { configuredToolsets } from "../../wire/guard.ts";
import { addSources, reasonOf, type SourceReport } from "../../config/start/start-configured.ts";
import type { ResolvedConfig } from "../../config/load/resolve-config.ts";
import { loadSource } from "../../adapters/sources/load-source.ts";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import { createEgress } from "../../guard/egress/egress.ts";
import { createSecrets } from "../../guard/secrets/secrets.ts";
import type { Source } from "../../register/source.port.ts";
import { messageOf } from "../../errors/show-value.ts";
import { systemClock } from "../../observe/clock.ts";
import { watchConfig, type WatchedConfig } from "../../system/watch-files.ts";
import { present } from "../../base/present.ts";
import type { Configured, FollowedSource } from "../arsenal/open-arsenal.ts";
import { toldFailure } from "./upstream-status.ts";

const NOT_RELOADED = "The configuration was not reloaded: the old one stays in force.";

/** Applies a changed configuration to a running arsenal. Only changed sources and toolsets are affected. */
export function createFollower(
  start: Configured,
  parts: {
    readonly arsenal: ToolArsenal;
    readonly load: () => Promise<Configured>;
    /** The results of the sources that were configured at the start. */
    readonly reports?: Promise<readonly SourceReport[]>;
    /** Prints the changes on one line. */
    readonly tell: (text: string) => void;
    /** Called after sources were added or removed, with the results of the added ones. */
    readonly changed: (configured: Configured, reports: readonly SourceReport[]) => void;
  },
) {
  const { arsenal, load, tell, changed } = parts;
  const toldOf = new Set<string>();
  let current = start;
  let running: Promise<void> = Promise.resolve();
  let closed = false;

  /** The ensembles of each configured source, and whether its last attempt failed. */
  const known = new Map<string, { readonly names: readonly string[]; readonly failed: boolean }>();

  function note(reports: readonly SourceReport[]): void {
    for (const { configuredAs, name, error } of reports)
      known.set(configuredAs, { names: [name], failed: error !== undefined });
  }

  const namesOf = (source: string): readonly string[] => known.get(source)?.names ?? [source];

  /** A failed source that is still not connected counts as new. A source that follows its own files recovers without this. */
  const isMissing = ({ name, watched }: FollowedSource): boolean =>
    known.get(name)?.failed === true &&
    watched?.followed !== true &&
    namesOf(name).every((each) => internalsOf(arsenal).ensembleTools(each).length === 0);

  /** Enqueues a reload. Reloads never run concurrently. */
  function enqueue(): Promise<void> {
    const turn = running.then(() => (closed ? undefined : reload()));
    running = turn.catch(() => {});
    return turn;
  }

  async function reload(): Promise<void> {
    const refuse = (problems: readonly string[]): void => {
      for (const line of [...problems, NOT_RELOADED]) tell(line);
    };
    let next: Configured;
    try {
      next = await load();
    } catch (error) {
      return refuse(problemsOf(error));
    }
    // An editor may truncate a file before it writes, and a full disk leaves it empty. Therefore an empty file does not remove the servers.
    if (next.emptyFile !== undefined && current.emptyFile === undefined)
      return tell(`${next.emptyFile} is empty. ${NOT_RELOADED}`);
    next = { ...next, sources: await usableSources(current.sources, next.sources) };
    const { leaving, needRestart } = configChanges(current, next);
    const there = { ...current, sources: current.sources.filter((source) => !isMissing(source)) };
    const { coming } = configChanges(there, next);
    let toolsets: ReturnType<typeof followToolsets>;
    try {
      toolsets = followToolsets(arsenal, current.config, next.config);
    } catch (error) {
      followToolsets(arsenal, next.config, current.config);
      return refuse(problemsOf(error));
    }
    current = next;
    // A failed source may still be retried.
    const failed = coming.map(({ name }) => name).filter((name) => known.get(name)?.failed === true);
    for (const name of [...leaving, ...failed]) for (const each of namesOf(name)) await arsenal.remove(each);
    const reports = await (await addSources(coming, arsenal)).reports;
    note(reports);
    const came = reports.filter(({ error }) => error === undefined).map(({ name }) => name);
    const left = leaving.flatMap(namesOf);
    tell(`Configuration reloaded: ${summary([...left, ...toolsets.leaving], [...came, ...toolsets.coming])}.`);
    if (needRestart.length > 0) tell(`Changed too, and in force after a restart: ${needRestart.join(", ")}.`);
    changed(next, reports);
  }

  /** Returns the usable new sources. If the files of a source are unusable now, its previous version stays, with its tools. */
  async function usableSources(
    before: readonly FollowedSource[],
    after: readonly FollowedSource[],
  ): Promise<readonly FollowedSource[]> {
    return Promise.all(
      after.map(async (source) => {
        const old = before.find(({ name }) => name === source.name);
        if (old === undefined || isMissing(old) || isDeepStrictEqual(old, source)) return source;
        const problem = await sourceProblem(source);
        if (problem === undefined) return source;
        const line = `${old.name}: ${toldFailure(problem)} The tools of the old document stay.`;
        const key = `${line} ${source.contentHash ?? ""}`;
        if (!toldOf.has(key)) tell(line);
        toldOf.add(key);
        return old;
      }),
    );
  }

  void parts.reports?.then(note);
  return {
    /** Reads the configuration again. If it is invalid, the old one stays. Retries sources that could not be loaded. */
    follow: enqueue,
    close(): void {
      closed = true;
    },
  };
}

/** Returns why a source is unusable, for sources that are read from files and do not follow them; otherwise undefined. Registers nothing. */
async function sourceProblem({ settings, watched }: FollowedSource): Promise<Error | undefined> {
  if (watched === undefined || watched.followed || watched.files.length === 0) return undefined;
  const { type, ...own } = settings;
  const egress = createEgress();
  const around = { clock: systemClock, emit: () => {}, egress, secrets: createSecrets(), ownFiles: async () => [] };
  const adapter = await loadSource(type);
  let source: Source | undefined;
  try {
    source = await adapter.create(own, { ...around, patient: false, debugProtocol: false });
    await source.connect({ signal: AbortSignal.timeout(30_000) });
    return undefined;
  } catch (error) {
    return reasonOf(error);
  } finally {
    await source?.disconnect();
    egress.close();
  }
}

/**
 * Applies the toolsets that differ between two configurations. Returns the added and removed toolsets as `toolset NAME`; replaced ones are in both
 * lists. Throws if a toolset is invalid.
 */
function followToolsets(
  { toolsets }: Pick<ToolArsenal, "toolsets">,
  before: Configured["config"],
  after: Configured["config"],
) {
  const [old, next] = [configuredToolsets(before), configuredToolsets(after)];
  const lacking = (from: typeof old, others: typeof old): typeof old =>
    from.filter((toolset) => !others.some((each) => isDeepStrictEqual(each, toolset)));
  const [leaving, coming] = [lacking(old, next), lacking(next, old)];
  for (const toolset of coming) toolsets.add(toolset);
  for (const { name } of leaving) if (!next.some((toolset) => toolset.name === name)) toolsets.remove(name);
  const named = (list: typeof old): string[] => list.map(({ name }) => `toolset ${name}`);
  return { leaving: named(leaving), coming: named(coming) };
}

function summary(leaving: readonly string[], names: readonly string[]): string {
  const parts = [
    ["added", names.filter((name) => !leaving.includes(name))],
    ["replaced", names.filter((name) => leaving.includes(name))],
    ["removed", leaving.filter((name) => !names.includes(name))],
  ] as const;
  const said = parts.filter(([, list]) => list.length > 0).map(([word, list]) => `${word} ${list.join(", ")}`);
  return said.length === 0 ? "no server changed" : said.join("; ");
}

function problemsOf(error: unknown): readonly string[] {
  if (!isArsenalError(error)) return [messageOf(error)];
  const rest = error.details.issues?.slice(1, 20) ?? [];
  return [error.message, ...rest.map(({ field, message, fix = "" }) => `  ${field}: ${message}. ${fix}`)];
}

/** Applies the policy file whenever it changes. Reports an invalid one and keeps the old policy. Returns undefined without a policy file. */
export async function watchPolicy(
  { security: { policyFile } }: Pick<ResolvedConfig, "security">,
  arsenal: ToolArsenal,
  tell: (text: string) => void,
  known?: readonly (string | undefined)[],
): Promise<WatchedConfig | undefined> {
  if (policyFile === undefined) return undefined;
  return watchConfig([policyFile], {
    ...present({ known }),
    onChange() {
      try {
        operationsOf(arsenal).policy.reload();
        tell(`Policy reloaded: ${policyFile} is in force for new calls.`);
      } catch (error) {
        tell(`Cannot use the changed policy: ${messageOf(error)}`);
        tell("The old policy stays in force.");
      }
    },
    onFailure: ({ message }) => tell(`Cannot watch ${policyFile} (${message}). Send SIGHUP to reload it.`),
  });
}
