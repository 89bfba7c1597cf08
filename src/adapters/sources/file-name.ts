import { basename } from "node:path";

/** Returns the name of a file without its extensions: `petstore` for `./petstore.openapi.yaml`. */
export function fileName(path: string): string {
  return basename(path).replace(/\.[^.].*$/, "") || "imported";
}
