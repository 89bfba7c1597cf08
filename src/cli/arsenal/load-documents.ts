import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { ToolArsenal } from "../../arsenal.ts";
import { type ConfiguredDocument, isLocalDocument } from "../../config/openapi-config.ts";
import { isArsenalError } from "../../errors/arsenal-error.ts";

/** A document with what its file held when the configuration was read, so that a changed file is noticed. */
export interface FollowedDocument extends ConfiguredDocument {
  readonly contentHash?: string;
}

/** How one document fared: how many tools it gave, or why it gave none. */
export interface DocumentReport {
  readonly name: string;
  readonly document: string;
  readonly tools?: number;
  readonly error?: Error;
}

/** Adds each document's operations as tools. Never rejects: a document that cannot be used is reported. */
export async function loadDocuments(
  arsenal: Pick<ToolArsenal, "addOpenApi">,
  documents: readonly ConfiguredDocument[],
): Promise<readonly DocumentReport[]> {
  const { reports } = await beginDocuments(arsenal, documents);
  return reports;
}

/** Like `loadDocuments`, but resolves once the local documents are loaded. Addresses may be slow; `reports` waits for them too. */
export async function beginDocuments(
  arsenal: Pick<ToolArsenal, "addOpenApi">,
  documents: readonly ConfiguredDocument[],
): Promise<{ readonly reports: Promise<readonly DocumentReport[]> }> {
  const loading = documents.map(async ({ settings }): Promise<DocumentReport> => {
    const { name, document } = settings;
    try {
      return { name, document, tools: await arsenal.addOpenApi(settings) };
    } catch (error) {
      return { name, document, error: reasonOf(error) };
    }
  });
  await Promise.all(loading.filter((_, index) => isLocalDocument(documents[index]?.settings.document ?? "")));
  return { reports: Promise.all(loading) };
}

/** Why a local document cannot be used; undefined when it can. Nothing is registered. */
export async function documentProblem({ settings }: ConfiguredDocument): Promise<Error | undefined> {
  if (!isLocalDocument(settings.document)) return undefined;
  const { openapi } = await import("../../adapters/sources/openapi/openapi.ts");
  const source = openapi(settings);
  try {
    await source.connect({ signal: AbortSignal.timeout(30_000) });
    return undefined;
  } catch (error) {
    return reasonOf(error);
  } finally {
    await source.disconnect();
  }
}

/** The documents with what their files hold now. */
export function withContent(documents: readonly ConfiguredDocument[]): Promise<readonly FollowedDocument[]> {
  return Promise.all(
    documents.map(async (each) => {
      if (!isLocalDocument(each.settings.document)) return each;
      const bytes = await readFile(each.settings.document).catch(() => undefined);
      return bytes === undefined ? each : { ...each, contentHash: createHash("sha256").update(bytes).digest("hex") };
    }),
  );
}

/** The files among the documents. */
export function documentFiles(documents: readonly ConfiguredDocument[]): readonly string[] {
  return documents.map(({ settings }) => settings.document).filter(isLocalDocument);
}

/** What is wrong with the document itself says more than that its ensemble is unavailable. */
function reasonOf(error: unknown): Error {
  const reason = isArsenalError(error) && isArsenalError(error.cause) ? error.cause : error;
  return reason instanceof Error ? reason : new Error(String(reason));
}
