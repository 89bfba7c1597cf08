import { execFileSync } from "node:child_process";
import { packedFiles } from "../package/packed-files.ts";
import { sizeByPart } from "../package/size.ts";
import { ROOT } from "./recorded.ts";

/** The weights that retrieval depends on. */
const WEIGHTS = ["models/weights/static.i6", "models/weights/tuned.bin"];

/** Where a measurement runs. */
export interface Measurement {
  /** The folder with labelled sets that are not in the repository. */
  readonly shared: string;
}

/** Figures that are measured together. */
export interface MeasuredGroup {
  readonly command: string;
  /** The files whose change makes the figures stale. */
  readonly inputs: readonly string[];
  readonly source?: string;
  measure(where: Measurement): Readonly<Record<string, string>>;
}

/** Runs a program of the repository with the pinned Node and reads its last line as JSON. */
function json<Output>(...parameters: readonly string[]): Output {
  const output = execFileSync(process.execPath, parameters, {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 2 ** 28,
  });
  return JSON.parse(output.trim().split("\n").at(-1) ?? "") as Output;
}

const count = (value: number): string => Math.round(value).toLocaleString("en-US");
const percent = (share: number): string => (100 * share).toFixed(0);
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

interface Tokens {
  readonly tools: number;
  readonly plain: { readonly tools: number; readonly tokens: number };
  readonly hub: { readonly tools: number; readonly tokens: number };
  readonly static: { readonly list: number };
  readonly dynamic: {
    readonly count: number;
    readonly list: number;
    readonly searches: readonly number[];
    readonly missed: readonly string[];
  };
  readonly search: number;
  /** Of each task: tokens with searches, as a share of those with every tool listed. */
  readonly shares: readonly number[];
}

/** One row of bench/gateway.ts. */
interface GatewayRow {
  readonly name: string;
  readonly upstream: string;
  readonly client: string;
  readonly cpuMsPerCall: number;
}

/** The processor time of a call by contender, upstream and client, and its ratio to a direct call of the same client. */
function costsOfCalls(rows: readonly GatewayRow[]): Readonly<Record<string, string>> {
  const direct = new Map(rows.filter(({ name }) => name === "direct").map((row) => [row.client, row.cpuMsPerCall]));
  return Object.fromEntries(
    rows.flatMap(({ name, upstream, client, cpuMsPerCall }) => {
      const key = `${name.replace(/^ours \//, "").replaceAll("/", "-")}.${upstream}.${client}`;
      // The server itself is not served over HTTP+SSE.
      const baseline = direct.get(client === "sse" ? "legacy" : client) ?? Number.NaN;
      return [
        [key, cpuMsPerCall.toFixed(3)],
        [`${key}.of-direct`, (cpuMsPerCall / baseline).toFixed(2)],
      ];
    }),
  );
}

const TIERS = { words: "lexical", static: "static", tuned: "tuned" } as const;
/** The sets that are quoted, by the title of their column. */
const QUOTED_SETS: Readonly<Record<string, string>> = {
  "held-out servers": "held-out",
  "held-out follow-ups": "follow-ups",
  "mcp-bench": "mcp-bench",
  "restbench-tmdb": "restbench-tmdb",
  "toolret-apibank": "toolret-apibank",
};
const SETS_SOURCE =
  "toucan-paraphrase (124 MCP servers of Toucan, requests reworded), mcp-bench, RestBench TMDB and API-Bank of ToolRet, each as tools.jsonl and queries.jsonl in FOLDER/eval";

/** Reads the table of bench/retrieval.ts: a column of figures for each set, a row for each tier. */
function recallOfSets(output: string): Readonly<Record<string, string>> {
  const [head = "", ...rows] = output.split("\n").slice(1);
  const names = head.trim().split(/ {2,}/);
  return Object.fromEntries(
    Object.entries(TIERS).flatMap(([row, tier]) => {
      const cells =
        rows
          .find((line) => line.startsWith(`${row} `))
          ?.trim()
          .split(/ {2,}/)
          .slice(1) ?? [];
      return names.flatMap((name, at) => {
        const [, first, five] = (cells[at] ?? "").split(" / ");
        const set = QUOTED_SETS[name];
        if (set === undefined || first === undefined || five === undefined) return [];
        return [
          [`${set}.${tier}`, five],
          [`${set}.${tier}@1`, first],
        ];
      });
    }),
  );
}

export const GROUPS: Readonly<Record<string, MeasuredGroup>> = {
  package: {
    command: "npm run size",
    inputs: ["models/weights/SHA256SUMS"],
    measure() {
      const packed = packedFiles();
      const parts = sizeByPart(packed).map(
        ({ name, installed, packed: size }) => [name.replaceAll(" ", "-"), installed, size] as const,
      );
      return {
        archive: megabytes(packed.size),
        installed: megabytes(packed.unpackedSize),
        ...Object.fromEntries(
          parts.flatMap(([name, installed, size]) => [
            [`${name}.installed`, megabytes(installed)],
            [`${name}.packed`, megabytes(size)],
          ]),
        ),
      };
    },
  },

  tokens: {
    command: "node bench/gateway-tokens.ts",
    inputs: ["bench/gateway-tokens.ts", "test/e2e/real-servers.ts", ...WEIGHTS],
    measure() {
      const measured = json<Tokens>("bench/gateway-tokens.ts", "--json");
      const { tools, plain, hub, static: all, dynamic, search, shares } = measured;
      const share = (searches: number): number => (dynamic.list + searches * search) / all.list;
      return {
        tools: count(tools),
        listed: count(all.list),
        dynamic: count(dynamic.list),
        search: count(search),
        "after-two": count(dynamic.list + 2 * search),
        "after-two-share": percent(share(2)),
        "after-five": count(dynamic.list + 5 * search),
        "after-five-share": percent(share(5)),
        "break-even": count(Math.ceil((all.list - dynamic.list) / search)),
        "plain.tools": count(plain.tools),
        "plain.listed": count(plain.tokens),
        "mcp-hub.tools": count(hub.tools),
        "mcp-hub.listed": count(hub.tokens),
        "dynamic.tools": count(dynamic.count),
        searches: count(dynamic.searches.length),
        missed: count(dynamic.missed.length),
        "cheapest-search": count(Math.min(...dynamic.searches)),
        "dearest-search": count(Math.max(...dynamic.searches)),
        "dearest-task-share": (100 * Math.max(...shares)).toFixed(1),
      };
    },
  },

  gateway: {
    command: "node bench/gateway.ts --built --rounds 5 --seconds 2",
    inputs: [
      "bench/gateway.ts",
      "bench/gateway/contenders.ts",
      "bench/gateway/echo-server.ts",
      "bench/gateway/load.ts",
      "bench/gateway/wire-client.ts",
      "test/peers/package-lock.json",
    ],
    measure: () => costsOfCalls(json("bench/gateway.ts", "--built", "--rounds", "5", "--seconds", "2", "--json")),
  },

  retrieval: {
    command: "node bench/retrieval.ts --shared FOLDER",
    inputs: [...WEIGHTS, "bench/retrieval.ts", "bench/retrieval-pool.ts", "bench/retrieval-sets.ts"],
    source: SETS_SOURCE,
    measure: ({ shared }) =>
      recallOfSets(
        execFileSync(process.execPath, ["bench/retrieval.ts", "--shared", shared], { cwd: ROOT, encoding: "utf8" }),
      ),
  },
};
