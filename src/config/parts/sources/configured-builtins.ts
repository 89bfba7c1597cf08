import { builtinSource } from "../../../adapters/sources/builtin/builtin.ts";
import type { BuiltinParts, BuiltinSettings } from "../../../adapters/sources/builtin/settings.ts";
import type { Sandbox } from "../../../execute/sandbox.port.ts";
import type { Source } from "../../../register/source.port.ts";
import type { ResolvedConfig } from "../../load/resolve-config.ts";

/** The built-in tools by configuration; undefined if it names none. */
export function configuredBuiltins(
  config: ResolvedConfig,
  { codeSandbox, ...parts }: BuiltinParts & { readonly codeSandbox: Sandbox | undefined },
): Source | undefined {
  const { tools, webSearch, files, http } = config.builtins;
  if (tools.length === 0) return undefined;
  const settings = {
    tools,
    webSearch,
    files,
    http,
    ...(codeSandbox === undefined ? {} : { code: { sandbox: codeSandbox } }),
  };
  // The key was checked to be a reference when the configuration was read.
  return builtinSource(settings as BuiltinSettings, parts);
}
