import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { has, read, ROOT } from "./project.ts";

/** Which contract suites an adapter of a kind can run. It must run at least one of them. */
const SUITES: Readonly<Record<string, readonly string[]>> = {
  sources: ["sourceContract"],
  stores: ["toolStoreContract", "vectorIndexContract"],
  embedders: ["embedderContract"],
  rerankers: ["rerankerContract"],
  dialects: ["dialectContract"],
  validators: ["validatorContract"],
  executors: ["executorContract"],
  sandboxes: ["sandboxContract"],
  policies: ["policyContract"],
  identity: ["identityContract"],
  state: ["stateContract"],
  audit: ["auditContract"],
  scanners: ["scannerContract"],
  sinks: ["sinkContract"],
};

/** Folders and files beside adapters that are none themselves, `kind/name`, each with its reason. */
const NO_ADAPTERS: Readonly<Record<string, string>> = {
  "dialects/auto": "tells which dialect a client, a model or an example belongs to, tested beside it",
  "dialects/built-in": "the dialects by name, tested beside auto",
  "dialects/parts": "what dialects are made of, tested through them",
  "state/load-sqlite": "how the SQLite adapters load Node's SQLite, tested through them",
  "state/move-aside": "what the SQLite state does with a damaged file, tested through it",
  "stores/snapshot-file": "the file that the memory store writes, tested through it",
  "embedders/encode-queue": "the order in which the tuned embedder's worker takes texts, tested beside it",
  "embedders/encoder-worker": "the tuned embedder's thread, tested through it",
  "embedders/shipped-files": "where the shipped embedders' files lie, tested through them",
  "embedders/shipped-tiers": "the shipped embedders in their order, tested through the arsenal",
  "embedders/static-table": "the arithmetic of the static embedder, tested beside it",
  "embedders/text-limits": "numbers the shipped embedders share, tested through them",
  "embedders/vector-cache": "the file of the cached embedder, tested beside it",
  "embedders/worker-host": "the life of the tuned embedder's thread, tested beside it",
  "embedders/kernel": "the arithmetic of the shipped embedder, tested through it",
  "embedders/wordpiece": "the tokenizer of the shipped embedder, tested beside it",
};

interface Adapter {
  readonly kind: string;
  readonly name: string;
  readonly test: string;
}

const adapters: readonly Adapter[] = folders("src/adapters").flatMap((kind) =>
  readdirSync(`${ROOT}src/adapters/${kind}`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() || (entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts")))
    .map((entry) => {
      const name = entry.name.replace(/\.ts$/, "");
      const within = entry.isDirectory() ? `${kind}/${name}/${name}` : `${kind}/${name}`;
      return { kind, name, test: `src/adapters/${within}.test.ts` };
    })
    .filter(({ name }) => !(`${kind}/${name}` in NO_ADAPTERS)),
);

/** What a stranger would still have to add for an adapter to be complete. */
function missing({ kind, name, test }: Adapter): readonly string[] {
  const suites = SUITES[kind];
  if (suites === undefined) return [`a contract suite for the kind ${kind}, named in test/repo/adapters.test.ts`];
  const lacks: string[] = [];
  const runs = suites.map((suite) => `${suite}(`);
  if (!has(test)) lacks.push(`${test} that runs ${suites.join(" or ")}`);
  else if (!runs.some((call) => read(test).includes(call))) lacks.push(`${suites.join(" or ")} run in ${test}`);
  if (!has(`docs/adapters/${name}.md`)) lacks.push(`docs/adapters/${name}.md`);
  return lacks;
}

describe("adapters", () => {
  it("are there", () => expect(adapters.length).toBeGreaterThanOrEqual(6));

  it.each(adapters)("$kind/$name has its contract test and its page", (adapter) => {
    expect(missing(adapter), `src/adapters/${adapter.kind}/${adapter.name} is not complete; it lacks`).toEqual([]);
  });
});

function folders(path: string): readonly string[] {
  return readdirSync(ROOT + path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}
