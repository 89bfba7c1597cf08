import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { QuickJSSyncVariant, QuickJSWASMModule } from "quickjs-emscripten-core";

// The project's type libraries do not include WebAssembly, so the used parts are declared here.
interface WebAssemblyApi {
  compile(bytes: Uint8Array): Promise<object>;
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => object;
}
const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyApi };

const PAGE_BYTES = 64 * 1024;

/** The initial memory pages of the interpreter. */
const INITIAL_PAGES = 256;

let compiled: Promise<object> | undefined;

/** QuickJS as a WebAssembly.Module, compiled once for all jobs of the process. */
export function compileInterpreter(): Promise<object> {
  compiled ??= readFile(fileURLToPath(import.meta.resolve("@jitl/quickjs-wasmfile-release-sync/wasm"))).then((bytes) =>
    WebAssembly.compile(bytes),
  );
  return compiled;
}

/** Creates an instance. Its memory cannot grow past the job's limit, whatever the interpreter does. */
export async function loadInterpreter(interpreter: object, memoryBytes: number): Promise<QuickJSWASMModule> {
  const [{ newQuickJSWASMModuleFromVariant, newVariant }, loaded] = await Promise.all([
    import("quickjs-emscripten-core"),
    import("@jitl/quickjs-wasmfile-release-sync"),
  ]);
  // Its types describe the CommonJS build, in which the default is one level deeper.
  const variant = loaded.default as unknown as QuickJSSyncVariant;
  const maximum = INITIAL_PAGES + Math.ceil(memoryBytes / PAGE_BYTES);
  const wasmMemory = new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum });
  const options = { wasmModule: interpreter, wasmMemory } as Parameters<typeof newVariant>[1];
  return newQuickJSWASMModuleFromVariant(newVariant(variant, options));
}
