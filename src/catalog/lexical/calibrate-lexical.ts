/**
 * The coverage at which a tool becomes worth showing. At this value 97 % of the right tools that word search ranks in its first five stay,
 * on each of three labelled sets (functions, plugins, MCP tools); a request that shares no telling word with any tool falls below.
 */
const WORTH_SHOWING = 0.025;

/** Maps a lexical score (the share of a request's weight that a tool covers) to [0, 1], upwards, with 0.5 at the point worth showing. */
export function calibrateLexical(coverage: number): number {
  // In this form rounding keeps the order too.
  return coverage <= 0 ? 0 : 1 / (1 + WORTH_SHOWING / coverage);
}
