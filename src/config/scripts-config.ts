import { scriptsSource, type ScriptsParts } from "../adapters/sources/scripts/scripts.ts";
import type { Source } from "../register/source.port.ts";
import { toNamespace } from "../tool/normalise/slug.ts";
import type { ResolvedConfig } from "./load/resolve-config.ts";

/** The tools in source files that a configuration names, one source for each entry. */
export function toScripts(
  { scripts }: ResolvedConfig,
  parts: ScriptsParts,
): readonly { readonly source: Source; readonly paths: string }[] {
  return scripts
    .filter(({ disabled }) => disabled !== true)
    .map(({ disabled: _disabled, name, namespace, ...rest }) => {
      const own = namespace === undefined ? {} : { namespace: toNamespace(namespace) };
      const source = scriptsSource({ ...rest, ...own, name: toNamespace(name) }, parts);
      return { source, paths: rest.paths.join(", ") };
    });
}
