import { isDeepStrictEqual } from "node:util";
import type { ToolArsenal } from "../../arsenal.ts";
import { configChanges } from "../../config/load/config-changes.ts";
import { isLocalDocument } from "../../config/api-config.ts";
import { configuredToolsets } from "../../config/parts/configured-guard.ts";
import { connectAgents, type DocumentReport, loadDocuments, reasonOf } from "../../config/parts/start-configured.ts";
import type { ResolvedConfig } from "../../config/load/resolve-config.ts";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import { watchConfig, type WatchedConfig } from "../../system/watch-files.ts";
import { present } from "../../tool/present.ts";
import type { Configured, FollowedDocument } from "../arsenal/open-arsenal.ts";
import { toldFailure } from "./upstream-status.ts";

/** The delay between two attempts to fetch a document. */
const RETRY_MS = 60_000;

const NOT_RELOADED = "The configuration was not reloaded: the old one stays in force.";

/** Applies a changed configuration to a running arsenal: only changed servers, documents, agents and toolsets are touched. */
export function createFollower(
  start: Configured,
  parts: {
    readonly arsenal: Pick<ToolArsenal, "addMcpServer" | "addOpenApi" | "addA2aAgent" | "removeEnsemble" | "toolsets">;
    readonly load: () => Promise<Configured>;
    /** The reports of the documents loaded at the start. */
    readonly documents?: Promise<readonly DocumentReport[]>;
    /** Reports a change on one line. */
    readonly tell: (text: string) => void;
    /** Called after servers and documents were added or removed, with the reports of the added documents. */
    readonly changed: (configured: Configured, reports: readonly DocumentReport[]) => void;
    readonly clock?: Clock;
  },
) {
  const { arsenal, load, tell, changed, clock = systemClock } = parts;
  const toldOf = new Set<string>();
  let current = start;
  let running: Promise<void> = Promise.resolve();
  let cancel: (() => void) | undefined;
  let closed = false;

  /** Failed documents count as new the next time. Those with a URL are retried automatically. */
  function leaveOut(reports: readonly DocumentReport[]): void {
    const failed = reports.filter(({ kind, error }) => kind === "OpenAPI" && error !== undefined);
    const isFailed = (each: FollowedDocument): boolean =>
      failed.some(({ name, document }) => name === each.name && document === each.document);
    current = { ...current, documents: current.documents.filter((document) => !isFailed(document)) };
    cancel?.();
    if (!closed && failed.some(({ document }) => !isLocalDocument(document)))
      cancel = clock.after(RETRY_MS, () => void enqueue(true).catch(() => {}), { background: true });
  }

  /** One at a time: a retry never overlaps a reload. */
  function enqueue(quiet: boolean): Promise<void> {
    const turn = running.then(() => (closed ? undefined : reload(quiet)));
    running = turn.catch(() => {});
    return turn;
  }

  /** If `quiet`, reports nothing unless something was added. */
  async function reload(quiet: boolean): Promise<void> {
    const refuse = (problems: readonly string[]): void => {
      for (const line of quiet ? [] : [...problems, NOT_RELOADED]) tell(line);
    };
    let next: Configured;
    try {
      next = await load();
    } catch (error) {
      return refuse(problemsOf(error));
    }
    // An editor may truncate a file before it writes, and a full disk leaves it empty: an empty file does not remove every server.
    if (next.emptyFile !== undefined && current.emptyFile === undefined)
      return quiet ? undefined : tell(`${next.emptyFile} is empty. ${NOT_RELOADED}`);
    next = { ...next, documents: await usableDocuments(current.documents, next.documents) };
    const { leaving, coming, comingDocuments, comingAgents, needRestart } = configChanges(current, next);
    let toolsets: ReturnType<typeof followToolsets>;
    try {
      toolsets = followToolsets(arsenal, current.config, next.config);
    } catch (error) {
      followToolsets(arsenal, next.config, current.config);
      return refuse(problemsOf(error));
    }
    current = next;
    for (const name of leaving) await arsenal.removeEnsemble(name);
    for (const server of coming) await arsenal.addMcpServer(server, { patient: true, configured: true });
    const { reports: loading } = await loadDocuments(arsenal, comingDocuments);
    const reports = (await Promise.all([loading, connectAgents(arsenal, comingAgents)])).flat();
    leaveOut(reports);
    const loaded = reports.filter(({ error }) => error === undefined);
    const left = [...leaving, ...toolsets.leaving];
    const came = [...coming, ...loaded].map(({ name }) => name).concat(toolsets.coming);
    if (quiet && left.length === 0 && came.length === 0) return;
    tell(`Configuration reloaded: ${summary(left, came)}.`);
    if (needRestart.length > 0) tell(`Changed too, and in force after a restart: ${needRestart.join(", ")}.`);
    changed(next, quiet ? loaded : reports);
  }

  /** The new documents, with the old one in place of each whose file is unusable now: its tools stay. */
  async function usableDocuments(
    before: readonly FollowedDocument[],
    after: readonly FollowedDocument[],
  ): Promise<readonly FollowedDocument[]> {
    return Promise.all(
      after.map(async (document) => {
        const old = before.find(({ name }) => name === document.name);
        if (old === undefined || isDeepStrictEqual(old, document)) return document;
        const problem = await documentProblem(document);
        if (problem === undefined) return document;
        const line = `${old.name}: ${toldFailure(problem)} The tools of the old document stay.`;
        const key = `${line} ${document.contentHash ?? ""}`;
        if (!toldOf.has(key)) tell(line);
        toldOf.add(key);
        return old;
      }),
    );
  }

  void parts.documents?.then(leaveOut);
  return {
    /** Reads the configuration again. If it is invalid, the old one stays. Documents that could not be loaded are retried. */
    follow: (): Promise<void> => enqueue(false),
    /** Stops retrying documents. */
    close(): void {
      closed = true;
      cancel?.();
    },
  };
}

/** Why a local document is unusable; undefined if it is usable. Registers nothing. */
async function documentProblem(settings: FollowedDocument): Promise<Error | undefined> {
  if (!isLocalDocument(settings.document)) return undefined;
  const { openapiSource } = await import("../../adapters/sources/openapi/openapi.ts");
  const source = openapiSource(settings);
  try {
    await source.connect({ signal: AbortSignal.timeout(30_000) });
    return undefined;
  } catch (error) {
    return reasonOf(error);
  } finally {
    await source.disconnect();
  }
}

/** Applies the toolsets that differ between two configurations. Each is named `toolset NAME`; replaced ones are in both lists. Throws if one is invalid. */
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

/** Applies the policy file whenever it changes. An invalid one is reported, and the old policy stays. Undefined if no policy file is configured. */
export async function watchPolicy(
  { security: { policyFile } }: Pick<ResolvedConfig, "security">,
  arsenal: Pick<ToolArsenal, "reloadPolicy">,
  tell: (text: string) => void,
  known?: readonly (string | undefined)[],
): Promise<WatchedConfig | undefined> {
  if (policyFile === undefined) return undefined;
  return watchConfig([policyFile], {
    ...present({ known }),
    onChange() {
      try {
        arsenal.reloadPolicy();
        tell(`Policy reloaded: ${policyFile} is in force for new calls.`);
      } catch (error) {
        tell(`Cannot use the changed policy: ${messageOf(error)}`);
        tell("The old policy stays in force.");
      }
    },
    onFailure: ({ message }) => tell(`Cannot watch ${policyFile} (${message}). Send SIGHUP to reload it.`),
  });
}
