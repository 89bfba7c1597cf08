import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type ConfiguredDocument, isLocalDocument } from "../../config/api-config.ts";
import { reasonOf } from "../../config/parts/start-configured.ts";

/** A document with the hash of its file when the configuration was read, so that a changed file is noticed. */
export type FollowedDocument = ConfiguredDocument & { readonly contentHash?: string };

/** Why a local document cannot be used; undefined when it can. Nothing is registered. */
export async function documentProblem(settings: ConfiguredDocument): Promise<Error | undefined> {
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

/** The documents with what their files hold now. */
export function withContent(documents: readonly ConfiguredDocument[]): Promise<readonly FollowedDocument[]> {
  return Promise.all(
    documents.map(async (each) => {
      if (!isLocalDocument(each.document)) return each;
      const bytes = await readFile(each.document).catch(() => undefined);
      return bytes === undefined ? each : { ...each, contentHash: createHash("sha256").update(bytes).digest("hex") };
    }),
  );
}

/** The files among the documents. */
export function documentFiles(documents: readonly ConfiguredDocument[]): readonly string[] {
  return documents.map(({ document }) => document).filter(isLocalDocument);
}
