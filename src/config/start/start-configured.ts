import { loadSource } from "../../adapters/sources/load-source.ts";
import type { AddSourceOptions, GivenSource } from "../../adapters/sources/named-source.ts";
import { placeOf } from "../../adapters/sources/source-adapter.ts";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import type { Clock } from "../../observe/clock.ts";
import type { Emit } from "../../observe/events.ts";
import type { Source } from "../../register/source.port.ts";
import type { ToolSource } from "../../tool/tool.ts";
import { fileTexts, watchFiles } from "../../system/watch-files.ts";
import { type ConfiguredSource, configuredSources } from "../load/configured-sources.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";
import type { ConfiguredExecutors } from "../load/configured-executors.ts";

/** Background work of starting an arsenal. */
export interface Started {
  /** Resolves once every configured source was tried, with the result of each. Never rejects. */
  readonly sources: Promise<readonly SourceReport[]>;
  /** The configured names of the sources that are still being added. */
  pending(): readonly string[];
  /** Cancels the remaining work. */
  close(): Promise<void>;
}

/** The result of one configured source: the number of its tools, or the error. */
export interface SourceReport {
  readonly type: string;
  readonly name: string;
  /** The name of the source in the configuration. */
  readonly configuredAs: string;
  /** Its files, address or command. */
  readonly place: string;
  readonly tools?: number;
  readonly error?: Error;
  readonly source?: Source;
}

/** The part of an arsenal that configured sources are added to. */
export interface SourceTaker {
  add(source: GivenSource, options: AddSourceOptions): Promise<number>;
  readonly emit?: Emit;
  readonly clock?: Clock;
  isClosed?(): boolean;
}

/** Checks the sandboxes and adds every configured source. Remote sources connect in the background. Rejects only if a sandbox fails. */
export async function startConfigured(
  config: ResolvedConfig,
  { check }: Pick<ConfiguredExecutors, "check">,
  arsenal: SourceTaker,
): Promise<Started> {
  await check();
  const { sources, problems } = await configuredSources(config);
  for (const { server, field, message, fix } of problems)
    arsenal.emit?.("ensemble-failed", { ensemble: server, message: `${field} ${message}. ${fix}` });
  const { reports, pending, close } = await addSources(sources, arsenal);
  return { sources: reports, pending, close };
}

/**
 * Adds configured sources in order. Resolves once local sources are loaded. `reports` also waits for remote sources, and never rejects. A source with
 * invalid files is added once the files are fixed, until `close`.
 */
export async function addSources(sources: readonly ConfiguredSource[], arsenal: SourceTaker) {
  const { isClosed = () => false, emit, clock } = arsenal;
  /** Sources with invalid files, and the files' content when they were read. */
  const waiting = new Map<ConfiguredSource, readonly (string | undefined)[]>();
  const reported = new Map<string, string>();
  const watched = emit && watchFiles({ ...(clock && { clock }), onChange: retry });

  async function add(configured: ConfiguredSource, isRetry = false): Promise<SourceReport> {
    const { settings, watched: { files, followed } = { files: [], followed: false } } = configured;
    const { type, ...own } = settings;
    const texts = followed ? await fileTexts(files) : [];
    const report = { type, configuredAs: configured.name, place: placeOf((await loadSource(type)).reach(own)) };
    let source: Source | undefined;
    const added = (made: Source): void => void (source = made);
    try {
      const tools = await arsenal.add(settings, { patient: true, configured: true, added });
      waiting.delete(configured);
      return { ...report, name: source?.name ?? configured.name, tools, ...(source && { source }) };
    } catch (thrown) {
      const error = reasonOf(thrown);
      if (followed) waiting.set(configured, texts);
      // The ensemble has already reported its failed connection.
      const isReported = isArsenalError(thrown) && thrown.code === "SOURCE_UNAVAILABLE";
      if (!isReported && reported.get(configured.name) !== error.message)
        emit?.("ensemble-failed", {
          ensemble: configured.name,
          ...(isRetry && { kind: type as ToolSource }),
          message: error.message,
        });
      reported.set(configured.name, error.message);
      return { ...report, name: configured.name, error };
    }
  }

  async function retry(): Promise<void> {
    for (const source of waiting.keys()) await add(source, true);
    follow();
  }

  const follow = (): void =>
    watched?.follow(
      [...waiting.keys()].flatMap((source) => source.watched?.files ?? []),
      [...waiting.values()].flat(),
    );

  const adding: Promise<SourceReport>[] = [];
  const pending = new Set<ConfiguredSource>();
  for (const source of sources) {
    if (isClosed()) break;
    const { type, ...settings } = source.settings;
    const adapter = await loadSource(type);
    pending.add(source);
    const report = add(source).finally(() => pending.delete(source));
    adding.push(report);
    const isLocal = (adapter.reach(settings).addresses ?? []).length === 0;
    if (isLocal || adapter.patient === true) await report;
  }
  follow();
  const names = (): readonly string[] => Array.from(pending, ({ name }) => name);
  return { reports: Promise.all(adding), pending: names, close: async (): Promise<void> => watched?.close() };
}

/** Returns the source's own error, which explains more than the error that its ensemble is unavailable. */
export function reasonOf(error: unknown): Error {
  const reason = isArsenalError(error) && isArsenalError(error.cause) ? error.cause : error;
  return reason instanceof Error ? reason : new Error(String(reason));
}
