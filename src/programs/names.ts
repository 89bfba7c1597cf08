import { divideId, type Tool } from "../tool/tool.ts";
import type { BoundNamespace } from "./program.ts";

/** Names that a program already has: keywords, built-in objects and helpers. */
const TAKEN: ReadonlySet<string> = new Set(
  (
    "await break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in " +
    "instanceof interface let new null package private protected public return static super switch this throw true try typeof undefined var void while " +
    "with yield async of arguments eval NaN Infinity globalThis Object Array String Number Boolean Symbol BigInt Math JSON Date RegExp Map Set WeakMap WeakSet Promise " +
    "Proxy Reflect Error TypeError RangeError SyntaxError ReferenceError EvalError URIError AggregateError Function Iterator ArrayBuffer DataView " +
    "Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array Float32Array Float64Array BigInt64Array BigUint64Array " +
    "parseInt parseFloat isNaN isFinite escape unescape encodeURI encodeURIComponent decodeURI decodeURIComponent " +
    "console pick group count parallel sleep dates tools input"
  ).split(" "),
);

/** Global objects and modules of other runtimes. Programs do not have them, and they are not misspelt namespaces. */
const FOREIGN: ReadonlySet<string> = new Set(
  (
    "Buffer Bun Deno Intl Temporal URL WebAssembly Atomics axios child_process crypto document fs http https localStorage lodash moment navigator os " +
    "path performance process sessionStorage util window _"
  ).split(" "),
);

function toIdentifier(text: string): string {
  const name = text.replace(/[^A-Za-z0-9_$]/g, "_").replace(/^(?=[0-9])/, "_");
  return name === "" ? "_" : name;
}

const untaken = (name: string): string => (TAKEN.has(name) ? `${name}_` : name);

/** Matches a call of a member: `name.member(`. */
const CALLED = /(?<![\w$.])([A-Za-z_$][\w$]*)\s*\.\s*[A-Za-z_$][\w$]*\s*\(/g;

/** Matches a call: `name.member(`, or `name(`. */
const CALL = /(?<![\w$.])(?:([A-Za-z_$][\w$]*)\s*\.\s*)?([A-Za-z_$][\w$]*)\s*\(/g;

/** Tools of this namespace are global functions in programs. */
const OWN = "default";

/** Returns the name of a tool in programs: `github.search_issues`, or `send_email` for a tool without a namespace. */
export function programName(tool: Pick<Tool, "id">): string {
  const { namespace, name } = divideId(tool.id);
  if (namespace === OWN) return untaken(toIdentifier(name));
  return `${untaken(toIdentifier(namespace))}.${toIdentifier(name)}`;
}

/** The tools of one caller by their names in programs. */
export type ProgramNames = ReturnType<typeof createNames>;

export function createNames(tools: readonly Tool[]) {
  const byName = new Map<string, Tool>();
  const byId = new Map(tools.map((tool) => [tool.id, tool]));
  // If two tools have the same name in programs, the tool with the first id gets it.
  for (const tool of tools.toSorted((one, other) => (one.id < other.id ? -1 : 1))) {
    const name = programName(tool);
    if (!byName.has(name)) byName.set(name, tool);
  }
  const namespaces = new Map<string, Record<string, string>>();
  for (const [name, tool] of byName) {
    const dot = name.indexOf(".");
    const [space, short] = dot < 0 ? ["", name] : [name.slice(0, dot), name.slice(dot + 1)];
    const bound = namespaces.get(space) ?? {};
    bound[short] = tool.id;
    namespaces.set(space, bound);
  }

  return {
    /** Finds a tool by its name in programs, its id, or its name without a namespace. */
    find: (name: string): Tool | undefined => byName.get(name) ?? byId.get(name) ?? byId.get(`${OWN}.${name}`),
    size: byName.size,
    all: (): Iterable<string> => byName.keys(),
    /** Returns the ids of the tools that a program calls by name. */
    calledIn(code: string): readonly string[] {
      const called = Array.from(code.matchAll(CALL), ([, space, name = ""]) =>
        space === undefined ? name : `${space}.${name}`,
      );
      return [...new Set(called.flatMap((name) => byName.get(name)?.id ?? []))];
    },
    /** Returns the namespaces that a program mentions, known or unknown. */
    usedIn(code: string): readonly BoundNamespace[] {
      const words = new Set(code.match(/[A-Za-z_$][\w$]*/g));
      const isEvery = words.has("tools");
      const used: BoundNamespace[] = [];
      for (const [name, bound] of namespaces) {
        if (name !== "" && (isEvery || words.has(name))) used.push({ name, tools: bound });
        if (name !== "") continue;
        const called = Object.entries(bound).filter(([tool]) => isEvery || words.has(tool));
        if (called.length > 0) used.push({ name, tools: Object.fromEntries(called) });
      }
      // Also includes names that only look like a namespace: their calls are refused like calls of any unknown tool. A program's own variables take
      // precedence.
      for (const [, name = ""] of code.matchAll(CALLED))
        if (!TAKEN.has(name) && !FOREIGN.has(name) && !namespaces.has(name) && !used.some((each) => each.name === name))
          used.push({ name, tools: {} });
      return used;
    },
  };
}
