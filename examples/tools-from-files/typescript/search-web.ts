interface Args {
  /** The search query */
  readonly query: string;
  /** Number of results */
  readonly num_results?: number;
}

/** Search the web */
export function search_web({ query, num_results = 10 }: Args): object {
  return { query, num_results, first: `A page about ${query}` };
}
