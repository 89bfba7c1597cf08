import { countCharacters } from "../../tool/limits.ts";
import { checkOf, throwFor, WORDS } from "../../tool/shape/check.ts";
import { type RefuseMode, TOOL_QUERY, type ToolQuery } from "../query.ts";

/** A valid query with defaults filled in. */
export interface CheckedQuery extends ToolQuery {
  readonly limit: number;
  readonly scoreThreshold: number;
  readonly refuse: RefuseMode;
  readonly excludeDeprecated: boolean;
  readonly excludeUnhealthy: boolean;
  readonly enableReranking: boolean;
  readonly includeDependencies: boolean;
  readonly explain: boolean;
}

const DEFAULT_LIMIT = 5;

/** Fills in a query's defaults. Throws `QUERY_INVALID` with the first invalid field, its value and a fix. */
export function validateQuery(
  query: ToolQuery,
  defaults: Pick<CheckedQuery, "scoreThreshold" | "refuse">,
): CheckedQuery {
  checkQuery(query, "", refuse);
  return {
    ...query,
    limit: query.limit ?? DEFAULT_LIMIT,
    scoreThreshold: query.scoreThreshold ?? defaults.scoreThreshold,
    refuse: query.refuse ?? defaults.refuse,
    excludeDeprecated: query.excludeDeprecated ?? true,
    excludeUnhealthy: query.excludeUnhealthy ?? true,
    enableReranking: query.enableReranking ?? false,
    includeDependencies: query.includeDependencies ?? true,
    explain: query.explain ?? false,
  };
}

const checkQuery = checkOf(TOOL_QUERY, {
  ...WORDS,
  tooLong: (value, max) => [`has ${countCharacters(value)} characters, and may have ${max}`, "Shorten it.", undefined],
});

const refuse = throwFor("query", "QUERY_INVALID");
