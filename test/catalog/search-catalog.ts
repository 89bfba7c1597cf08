import { type Catalog, type CatalogParts, createCatalog } from "../../src/catalog/catalog.ts";
import { type Candidates, findCandidates } from "../../src/retrieve/find-candidates.ts";
import { type FusedEvidence, fuseEvidence } from "../../src/retrieve/fuse/fuse-evidence.ts";
import type { Request } from "../../src/retrieve/understand/understand.ts";
import { EVERY_TOOL, type ToolFilter } from "../../src/tool/tool-filter.ts";
import type { Tool } from "../../src/tool/tool.ts";

/** What to look for in a catalog. */
export interface CatalogSearch extends Pick<Request, "folded" | "steps"> {
  readonly limit: number;
  readonly filter?: ToolFilter;
  readonly accept?: (tool: Tool) => boolean;
  readonly signal?: AbortSignal;
}

/** Searches a catalog as retrieval does, up to the fused order. */
export async function searchCatalog(
  catalog: Pick<Catalog, "engine" | "request">,
  text: string,
  { limit, filter = EVERY_TOOL, accept = () => true, signal, ...read }: CatalogSearch,
): Promise<FusedEvidence & Candidates> {
  const texts = [text, ...(read.folded ? [read.folded.text] : [])];
  const request: Request = { text, ...read, texts, meanings: [...texts, ...(read.steps?.clauses ?? [])] };
  const filtered = filter !== EVERY_TOOL;
  const vectors = await catalog.request(request.meanings, { filtered, ...(signal ? { signal } : {}) });
  const query = { filter, visible: EVERY_TOOL, accept, limit: Math.max(100, 2 * limit), signal };
  const found = await findCandidates(catalog.engine, request, vectors, query);
  const { hits, tier } = fuseEvidence(request, found.answer, vectors);
  return { ...found, hits: hits.slice(0, limit), tier };
}

/** A catalog that is open. */
export async function openCatalog(parts: CatalogParts): Promise<Catalog> {
  const catalog = createCatalog(parts);
  await catalog.open();
  return catalog;
}
