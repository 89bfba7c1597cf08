// From manifest.ts, by `npm run derive`:
export { noSandbox } from "./none/none.ts";
export { subprocessSandbox } from "./subprocess/subprocess.ts";
export { dockerSandbox, type DockerSettings } from "./docker/docker.ts";
export { bubblewrapSandbox, type BubblewrapSettings } from "./bubblewrap/bubblewrap.ts";
export { isolateSandbox } from "./isolate/isolate.ts";
// The rest of toolarsenal/sandboxes:
export {
  SANDBOX_LIMITS,
  type CommandJob,
  type JavaScriptJob,
  type Sandbox,
  type SandboxJob,
  type SandboxLimits,
  type SandboxOutcome,
} from "../../execute/sandbox.port.ts";
