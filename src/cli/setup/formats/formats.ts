import { jsoncFormat } from "./edit-jsonc.ts";
import { tomlFormat } from "./edit-toml.ts";
import { yamlFormat } from "./edit-yaml.ts";
import type { FileFormat } from "./file-format.ts";

export const FORMATS = { jsonc: jsoncFormat, yaml: yamlFormat, toml: tomlFormat } as const satisfies Readonly<
  Record<string, FileFormat>
>;
