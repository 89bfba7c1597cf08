import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder with descriptors, in the form of the tool calling architecture's own listings. */
export interface DescriptorFolder {
  readonly path: string;
  /** Writes a file, with the folders it needs, and returns its path. */
  write(name: string, text: string): string;
  remove(): void;
}

/** `data/ensembles/io.toml` of the listing. */
export const IO_TOML = `[ensemble]
name = "io"
enabled = true

[defaults]
timeout = 30
max_retries = 3

[[invokers]]
source = "io/invokers/read_file.toml"

[[invokers]]
source = "io/invokers/write_file.toml"
`;

/** `data/ensembles/io/invokers/read_file.toml` of the listing. */
export const READ_FILE_TOML = `[invoker]
name = "read_file"
enabled = true
description = "Reads contents of a file"

[arguments]
type = "object"
required = ["path"]

[arguments.properties.path]
type = "string"
description = "Absolute path to file"

[arguments.properties.encoding]
type = "string"
description = "File encoding"
default = "utf-8"
`;

export const WRITE_FILE_TOML = `[invoker]
name = "write_file"
description = "Writes text to a file"
handler = "../handlers.mjs#writeFile"

[arguments]
type = "object"
required = ["path", "text"]
properties = { path = { type = "string" }, text = { type = "string" } }
`;

const HANDLERS = `
export const readFile = async (context, { path, encoding }) => ({ path, encoding, auxdata: context.auxdata });
export const writeFile = async (context, { path, text }) => {
  context.namespace.set(path, text);
  return [context.invoker.name, context.invoker.tool.id, ...context.namespace.keys()];
};
`;

export function createDescriptorFolder(): DescriptorFolder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "ensembles-")));
  const folder: DescriptorFolder = {
    path,
    write(name, text) {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
  folder.write("io.toml", IO_TOML);
  folder.write("io/invokers/read_file.toml", READ_FILE_TOML);
  folder.write("io/invokers/write_file.toml", WRITE_FILE_TOML);
  folder.write("io/handlers.mjs", HANDLERS);
  return folder;
}
