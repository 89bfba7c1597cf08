import type { OpenApiSettings } from "../../adapters/sources/openapi/settings.ts";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import { type ConfiguredDocument, isLocalDocument } from "../openapi-config.ts";

/** Adds the operations of a document as tools. Returns how many came. */
export interface DocumentTaker {
  addOpenApi(settings: OpenApiSettings): Promise<number>;
}

/** How one document fared: how many tools it gave, or why it gave none. */
export interface DocumentReport {
  readonly name: string;
  readonly document: string;
  readonly tools?: number;
  readonly error?: Error;
}

/**
 * Adds each document's operations as tools. Resolves once the local documents are loaded; addresses may be slow, and `reports` waits for them
 * too. Never rejects: a document that cannot be used is reported.
 */
export async function loadDocuments(
  arsenal: DocumentTaker,
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

/** What is wrong with the document itself says more than that its ensemble is unavailable. */
export function reasonOf(error: unknown): Error {
  const reason = isArsenalError(error) && isArsenalError(error.cause) ? error.cause : error;
  return reason instanceof Error ? reason : new Error(String(reason));
}
