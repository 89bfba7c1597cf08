import { processHost } from "./processes/process-host.ts";
import type { ProgramBounds, ProgramHost, ProgramSandbox } from "./program.ts";
import { threadHost } from "./threads/thread-host.ts";

/** Creates the configured host of programs. Nothing starts before the first program. */
export function programHost(
  sandbox: ProgramSandbox,
  bounds: ProgramBounds,
  settings: { readonly denoPath?: string | undefined } = {},
): ProgramHost {
  return sandbox === "quickjs" ? threadHost(bounds) : processHost(sandbox, bounds, settings);
}
