/**
 * @typedef {Object} Args
 * @property {string} query - The search query
 * @property {number} [num_results=10] - Number of results
 */

/** Search the web */
export function search_web({ query, num_results }) {
  return { query, num_results, first: `A page about ${query}` };
}
