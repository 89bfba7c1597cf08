import type { HostileRequest } from "./observed-gateway.ts";

export const many = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** Words, each once. */
export const texts = (count: number): string[] => many(count, (at) => `w${at.toString(36)}`);

/** A request of the REST API. */
export function rest(name: string, who: HostileRequest["who"], path: string, body: unknown): HostileRequest {
  return { name, who, path: `/api/v1${path}`, body };
}

/** A search of a caller without rights. */
export function search(name: string, context: object, more: object = {}): HostileRequest {
  return rest(`search: ${name}`, "rightless", "/search", { context: { query: "find a pet", ...context }, ...more });
}
