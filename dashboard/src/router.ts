import { signal } from "@preact/signals";

const { url: script } = import.meta;

/** The path of the dashboard: `/ui`, or `/tools/ui` below a path. This script is one folder below. */
export const BASE: string = new URL("..", script).pathname.replace(/\/$/, "");

/** The path of the gateway: empty, or `/tools`. */
export const GATEWAY: string = BASE.replace(/\/ui$/, "");

// If the page was opened directly at the gateway, adds the path of its proxy. The gateway accepts both.
if (!location.pathname.startsWith(BASE)) history.replaceState(null, "", GATEWAY + location.pathname + location.search);

/** The location in the dashboard: the name of a page, the rest of the path, and the query. */
export interface PageLocation {
  readonly page: string;
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
}

export const place = signal<PageLocation>(read());

function read(): PageLocation {
  const { pathname, search } = location;
  const [page = "", ...rest] = pathname.slice(BASE.length).split("/").filter(Boolean).map(decoded);
  return { page, rest, query: new URLSearchParams(search) };
}

/** Decodes a part of a path. A malformed part is returned unchanged, and the router shows "not found". */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function to(page: string, rest: readonly string[] = [], query: Readonly<Record<string, string>> = {}): string {
  const path = [BASE, page, ...rest.map(encodeURIComponent)].join("/");
  const search = new URLSearchParams(query).toString();
  return search === "" ? path : `${path}?${search}`;
}

/** Navigates to an address of the dashboard. `replace` adds no history entry, for example while typing. */
export function go(address: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  place.value = read();
  if (!replace) window.scrollTo(0, 0);
}

addEventListener("popstate", () => (place.value = read()));

/** Follows links within the dashboard without reloading the page. */
addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link === null || link.target !== "" || link.origin !== location.origin) return;
  if (link.pathname !== BASE && !link.pathname.startsWith(`${BASE}/`)) return;
  event.preventDefault();
  go(link.pathname + link.search);
});
