import { describe, expect, it } from "vitest";
import { KINDS } from "../../src/adapters/kinds.ts";
import { files, has, read } from "./project.ts";

/** Which contract suites an adapter of a kind can run. It must run at least one of them. */
const SUITES: Readonly<Record<string, readonly string[]>> = {
  sources: ["sourceContract"],
  engines: ["catalogEngineContract"],
  embedders: ["embedderContract"],
  rerankers: ["rerankerContract"],
  llms: ["llmContract"],
  dialects: ["dialectContract"],
  validators: ["validatorContract"],
  executors: ["executorContract"],
  sandboxes: ["sandboxContract"],
  policies: ["policyContract"],
  identity: ["identityContract"],
  state: ["stateContract", "limitsContract", "changesContract"],
  audit: ["auditContract"],
  scanners: ["scannerContract"],
  sinks: ["sinkContract"],
};

interface Adapter {
  readonly kind: string;
  readonly name: string;
  readonly file: string;
}

const adapters: readonly Adapter[] = Object.keys(KINDS).flatMap((kind) =>
  [...read(`src/adapters/${kind}/manifest.ts`).matchAll(/^ {2}"?([\w-]+)"?: \(\) => import\("\.\/([^"]+)"\),$/gm)].map(
    ([, name = "", file = ""]) => ({ kind, name, file: `src/adapters/${kind}/${file}` }),
  ),
);

/** What a stranger would still have to add for an adapter to be complete. */
function missing({ kind, name, file }: Adapter): readonly string[] {
  const test = file.replace(/\.ts$/, ".test.ts");
  const suites = SUITES[kind];
  if (suites === undefined) return [`a contract suite for the kind ${kind}, named in test/repo/adapters.test.ts`];
  const lacks: string[] = [];
  const runs = suites.map((suite) => `${suite}(`);
  if (!has(test)) lacks.push(`${test} that runs ${suites.join(" or ")}`);
  else if (!runs.some((call) => read(test).includes(call))) lacks.push(`${suites.join(" or ")} run in ${test}`);
  const page = `docs/reference/adapters/${kind}/${name}.md`;
  if (!has(page)) lacks.push(page);
  else if (/^export (?:const config\b|\{ config \})/m.test(read(file)) && !read(page).includes("<!-- config -->"))
    lacks.push(`<!-- config --> and <!-- /config --> in ${page}, for the table of its settings`);
  return lacks;
}

describe("adapters", () => {
  it("are listed in their kind's manifest, one line each, and every manifest is known", () => {
    expect(adapters.map(({ kind, name }) => `${kind}/${name}`)).toEqual(
      Object.entries(KINDS).flatMap(([kind, manifest]) => Object.keys(manifest).map((name) => `${kind}/${name}`)),
    );
    expect(files("src/adapters/*/manifest.ts").map((path) => path.split("/")[2])).toEqual(Object.keys(KINDS));
  });

  it("have every contract test in the manifest: no adapter is left out", () => {
    const runs = files("src/adapters/**/*.test.ts").filter((path) => {
      const suites = SUITES[path.split("/")[2] ?? ""] ?? [];
      return suites.some((suite) => read(path).includes(`${suite}(`));
    });
    const listed = adapters.map(({ file }) => file.replace(/\.ts$/, ".test.ts"));
    expect(runs.filter((path) => !listed.includes(path))).toEqual([]);
  });

  it.each(adapters)("$kind/$name has its contract test and its page", (adapter) => {
    expect(missing(adapter), `src/adapters/${adapter.kind}/${adapter.name} is not complete; it lacks`).toEqual([]);
  });
});
