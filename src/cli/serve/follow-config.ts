import type { ToolArsenal } from "../../arsenal.ts";
import { configChanges } from "../../config/config-changes.ts";
import type { ConfiguredDocument } from "../../config/openapi-config.ts";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import { documentProblem, type DocumentReport, type FollowedDocument, loadDocuments } from "../load-documents.ts";
import type { Configured } from "../open-arsenal.ts";
import { toldFailure } from "./upstream-status.ts";

/** Takes a changed configuration into a running arsenal. */
export interface ConfigFollower {
  /** Reads the configuration again. If it is invalid, the old one stays. */
  follow(): Promise<void>;
}

/** What following a configuration needs. */
export interface FollowParts {
  readonly arsenal: Pick<ToolArsenal, "addMcpServer" | "addOpenApi" | "removeEnsemble">;
  readonly load: () => Promise<Configured>;
  /** Says what was done, on one line. */
  readonly tell: (text: string) => void;
  /** Called after servers and documents came or left, with how the documents fared that came. */
  readonly changed: (configured: Configured, reports: readonly DocumentReport[]) => void;
}

const NOT_RELOADED = "The configuration was not reloaded: the old one stays in force.";

/** Follows a configuration: only servers and documents that changed are touched. */
export function createFollower(start: Configured, { arsenal, load, tell, changed }: FollowParts): ConfigFollower {
  let current = start;
  return {
    async follow() {
      let next: Configured;
      try {
        next = await load();
      } catch (error) {
        for (const line of problemsOf(error)) tell(line);
        tell(NOT_RELOADED);
        return;
      }
      // An editor may empty a file before it writes, and a full disk leaves it empty: nobody means to remove every server so.
      if (next.emptyFile !== undefined && current.emptyFile === undefined) {
        tell(`${next.emptyFile} is empty. ${NOT_RELOADED}`);
        return;
      }
      next = { ...next, documents: await usableDocuments(current.documents, next.documents, tell) };
      const { leaving, coming, comingDocuments, needRestart } = configChanges(current, next);
      current = next;
      for (const name of leaving) await arsenal.removeEnsemble(name);
      for (const server of coming) await arsenal.addMcpServer(server, { patient: true });
      const reports = await loadDocuments(arsenal, comingDocuments);
      tell(`Configuration reloaded: ${summary(leaving, [...coming, ...comingDocuments.map(nameOf)])}.`);
      if (needRestart.length > 0) tell(`Changed too, and in force after a restart: ${needRestart.join(", ")}.`);
      changed(next, reports);
    },
  };
}

/** The new documents, with the old one in place of each whose file cannot be used now: its tools stay. */
async function usableDocuments(
  before: readonly FollowedDocument[],
  after: readonly FollowedDocument[],
  tell: (text: string) => void,
): Promise<readonly FollowedDocument[]> {
  return Promise.all(
    after.map(async (document) => {
      const old = before.find(({ settings }) => settings.name === document.settings.name);
      const problem = old === undefined ? undefined : await documentProblem(document);
      if (old === undefined || problem === undefined) return document;
      tell(`${old.settings.name}: ${toldFailure(problem)} The tools of the old document stay.`);
      return old;
    }),
  );
}

function nameOf({ settings: { name } }: ConfiguredDocument): { readonly name: string } {
  return { name };
}

function summary(leaving: readonly string[], coming: readonly { readonly name: string }[]): string {
  const names = coming.map(({ name }) => name);
  const parts = [
    ["added", names.filter((name) => !leaving.includes(name))],
    ["replaced", names.filter((name) => leaving.includes(name))],
    ["removed", leaving.filter((name) => !names.includes(name))],
  ] as const;
  const said = parts.filter(([, list]) => list.length > 0).map(([word, list]) => `${word} ${list.join(", ")}`);
  return said.length === 0 ? "no server changed" : said.join("; ");
}

function problemsOf(error: unknown): readonly string[] {
  if (!isArsenalError(error)) return [error instanceof Error ? error.message : String(error)];
  const rest = error.details.issues?.slice(1, 20) ?? [];
  return [error.message, ...rest.map(({ field, message, fix = "" }) => `  ${field}: ${message}. ${fix}`)];
}
