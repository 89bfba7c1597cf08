import { sandboxedExecutor } from "../../adapters/executors/sandboxed.ts";
import { bubblewrapSandbox } from "../../adapters/sandboxes/bubblewrap/bubblewrap.ts";
import { dockerSandbox } from "../../adapters/sandboxes/docker/docker.ts";
import { isolateSandbox } from "../../adapters/sandboxes/isolate/isolate.ts";
import { subprocessSandbox } from "../../adapters/sandboxes/subprocess/subprocess.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { Executor } from "../../execute/executor.port.ts";
import type { Sandbox } from "../../execute/sandbox.port.ts";
import type { SandboxName } from "../config.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";
import { MAX_TIMEOUT_MS } from "../schema.ts";

/** What runs tools apart from the program, by configuration. */
export interface ConfiguredExecutors {
  /** What runs functions; none where they run in this process. */
  readonly executors: readonly Executor[];
  /** What runs the code that `code_execute` is given; undefined where there is no such tool. */
  readonly codeSandbox: Sandbox | undefined;
  /** Rejects with CONFIG_INVALID where a sandbox in use does not work on this machine. */
  check(): Promise<void>;
}

const SANDBOXES: Readonly<Record<SandboxName, () => Sandbox>> = {
  bubblewrap: bubblewrapSandbox,
  docker: dockerSandbox,
  isolate: isolateSandbox,
  subprocess: subprocessSandbox,
};

/** Makes the sandboxes that a configuration asks for. */
export function configuredExecutors({ execution, builtins }: ResolvedConfig): ConfiguredExecutors {
  const { enableSandbox, sandboxType } = execution;
  const forFunctions = enableSandbox && sandboxType !== "none" ? SANDBOXES[sandboxType]() : undefined;
  const codeSandbox = builtins.tools.includes("code-execute") ? SANDBOXES[builtins.code.sandbox]() : undefined;
  return {
    // A call's own deadline ends it, as it does outside of a sandbox.
    executors: forFunctions
      ? [sandboxedExecutor({ sandbox: forFunctions, limits: { timeoutMs: MAX_TIMEOUT_MS } })]
      : [],
    codeSandbox,
    async check() {
      if (forFunctions) await refuseAbsent(forFunctions, "execution.sandbox_type");
      if (codeSandbox) await refuseAbsent(codeSandbox, "builtins.code.sandbox");
    },
  };
}

async function refuseAbsent(sandbox: Sandbox, field: string): Promise<void> {
  const works = await sandbox.available();
  if (works === true) return;
  const message = `${field} is ${sandbox.name}, which does not work on this machine. ${works}`;
  throw new ArsenalError("CONFIG_INVALID", message, { field, value: sandbox.name, fix: works });
}
