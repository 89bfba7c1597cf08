import { basename } from "node:path";

/** `petstore` of `./petstore.openapi.yaml`. */
export function fileName(path: string): string {
  return basename(path).replace(/\.[^.].*$/, "") || "imported";
}
