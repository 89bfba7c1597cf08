/**
 * Compiles the WebAssembly kernels of the shipped embedder: `node scripts/build-kernel.ts` writes kernel.wasm and kernel-relaxed.wasm in
 * src/adapters/embedders/kernel, `--check` only compares them with the compiled sources.
 * `--compiler FILE` takes the compiler's asc.js from elsewhere than this project's dependencies.
 */
import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { type KernelKind, readKernel } from "../src/adapters/embedders/kernel/kernel.ts";

/** The folder of the kernel. */
export const KERNEL_FOLDER: URL = new URL("../src/adapters/embedders/kernel/", import.meta.url);

interface Compiler {
  main(
    options: readonly string[],
    host: {
      stdout: { write(text: string): void };
      stderr: { write(text: string): void };
      readFile(name: string): Promise<string | null>;
      writeFile(name: string, contents: Uint8Array | string): void;
    },
  ): Promise<{ readonly error: Error | null }>;
}

/** The compiler, or undefined if it is not installed. */
export async function findCompiler(specifier = "assemblyscript/asc"): Promise<Compiler | undefined> {
  try {
    return (await import(specifier)) as Compiler;
  } catch {
    return undefined;
  }
}

/** The compiler's options, by kernel. */
const KINDS: Readonly<
  Record<KernelKind, { readonly file: string; readonly entry: string; readonly features: string }>
> = {
  plain: { file: "kernel.wasm", entry: "index.ts", features: "--enable simd" },
  relaxed: { file: "kernel-relaxed.wasm", entry: "relaxed.ts", features: "--enable simd --enable relaxed-simd" },
};

/** Compiles a kernel from its sources. */
export async function compileKernel(compiler: Compiler, kind: KernelKind): Promise<Uint8Array> {
  const { file, entry, features } = KINDS[kind];
  let binary: Uint8Array | undefined;
  let messages = "";
  const { error } = await compiler.main(
    `${entry} --outFile ${file} -O3 --converge --noAssert --runtime stub ${features} --use abort= --initialMemory 1`.split(
      " ",
    ),
    {
      stdout: { write: () => {} },
      stderr: { write: (text) => (messages += text) },
      // The sources end in .as so that TypeScript's own compiler and linters ignore them; this compiler requires .ts.
      readFile: async (name) => {
        if (!/^\w+\.ts$/.test(name)) return null;
        return readFile(new URL(`assembly/${name.replace(/\.ts$/, ".as")}`, KERNEL_FOLDER), "utf8").catch(() => null);
      },
      writeFile: (_name, contents) => {
        if (typeof contents !== "string") binary = contents;
      },
    },
  );
  if (error !== null || binary === undefined) {
    throw new Error(`The kernel does not compile:\n${messages}`, { cause: error });
  }
  return binary;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { check: { type: "boolean" }, compiler: { type: "string" } } });
  const compiler = await findCompiler(values.compiler && pathToFileURL(values.compiler).href);
  if (compiler === undefined) {
    console.error("The compiler is not installed: npm install --save-dev assemblyscript@0.28.20");
    process.exit(1);
  }
  let same = true;
  for (const kind of ["plain", "relaxed"] as const) {
    const { file } = KINDS[kind];
    const bytes = await compileKernel(compiler, kind);
    if (values.check === true) {
      const isSame = Buffer.from(bytes).equals(readKernel(kind));
      same &&= isSame;
      console.log(isSame ? `${file} is what its sources give.` : `${file} differs: npm run build:kernel`);
      continue;
    }
    await writeFile(new URL(file, KERNEL_FOLDER), bytes);
    console.log(`${file}: ${bytes.length} bytes`);
  }
  process.exitCode = same ? 0 : 1;
}
