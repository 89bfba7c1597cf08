// From manifest.ts, by `npm run derive`:
export { directExecutor } from "./direct.ts";
export { sandboxedExecutor, type SandboxedSettings } from "./sandboxed.ts";
// The rest of toolarsenal/executors:
export type { Executor, RunRequest } from "../../execute/executor.port.ts";
