/** Checks the package as npm would publish it: publint, and its types under each way of resolving modules ("are the types wrong?"). */
import { readFileSync } from "node:fs";
import { importPeer, PEERS_ABSENT, peersInstalled } from "../../test/peers/peers.ts";
import { packedFiles, ROOT } from "./packed-files.ts";

interface Publint {
  publint(options: object): Promise<{ readonly messages: readonly object[]; readonly pkg: object }>;
}
interface PublintUtilities {
  formatMessage(message: object, pkg: object, options: { readonly color: boolean }): string | undefined;
}
interface TypesProblem {
  readonly kind: string;
  readonly entrypoint?: string;
  readonly resolutionKind?: string;
  readonly [detail: string]: unknown;
}
interface TypesWrong {
  readonly Package: new (files: Readonly<Record<string, string>>, name: string, version: string) => object;
  checkPackage(files: object): Promise<{ readonly types: unknown; readonly problems?: readonly TypesProblem[] }>;
}

/**
 * Problems that an ES module has by design: `require` loads one since Node 22.12, which the checker does not know, and the oldest way to resolve modules
 * knows no `exports`.
 */
function isByDesign({ kind, resolutionKind }: TypesProblem): boolean {
  return resolutionKind === "node10" || (resolutionKind === "node16-cjs" && kind === "CJSResolvesToESM");
}

/** Every problem with the files that npm packs, one line each. */
async function problems(): Promise<readonly string[]> {
  const contents = packedFiles()
    .files.filter(({ path }) => !/^(?:models|docs)\//.test(path))
    .map(({ path }) => ({ path, data: readFileSync(ROOT + path) }));
  const { publint } = await importPeer<Publint>("publint");
  const { formatMessage } = await importPeer<PublintUtilities>("publint/utils");
  const files = contents.map(({ path, data }) => ({ name: `package/${path}`, data }));
  const { messages, pkg } = await publint({ pkgDir: "package", strict: true, pack: { files } });

  const { Package, checkPackage } = await importPeer<TypesWrong>("@arethetypeswrong/core");
  const texts = contents.map(({ path, data }) => [`/node_modules/toolarsenal/${path}`, data.toString()] as const);
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as { readonly version: string };
  const types = await checkPackage(new Package(Object.fromEntries(texts), "toolarsenal", version));
  return [
    ...messages.map(
      (message) => `publint: ${formatMessage(message, pkg, { color: false }) ?? JSON.stringify(message)}`,
    ),
    ...(types.types === false ? ["types: the package has none"] : []),
    ...(types.problems ?? []).filter((each) => !isByDesign(each)).map((each) => `types: ${JSON.stringify(each)}`),
  ];
}

if (!peersInstalled()) console.log(`not run: ${PEERS_ABSENT}`);
else {
  const found = await problems();
  for (const line of found) console.error(line);
  process.exitCode = found.length === 0 ? 0 : 1;
}
