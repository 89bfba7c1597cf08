import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A large document of somebody else's. */
export interface Corpus {
  readonly name: string;
  readonly file: string;
  /** How many operations it has. */
  readonly operations: number;
  /** What to do where it is not there. */
  readonly absent: string;
}

const shared = process.env["TOOLARSENAL_CORPORA"] ?? fileURLToPath(new URL("../../../shared/corpora", import.meta.url));
const peers = fileURLToPath(new URL("../peers/node_modules/", import.meta.url));

/** Documents of real APIs: what everybody else's look like. */
export const CORPORA: readonly Corpus[] = [
  {
    name: "GitHub",
    file: `${peers}@octokit/openapi/generated/api.github.com.json`,
    operations: 1223,
    absent: "test/peers is not installed: npm ci --ignore-scripts --prefix test/peers",
  },
  {
    name: "Stripe",
    file: `${shared}/openapi/stripe_2022-02.openapi3.json`,
    operations: 395,
    absent: "the corpora are not beside the project: set TOOLARSENAL_CORPORA",
  },
  {
    name: "Kubernetes",
    file: `${shared}/openapi/kubernetes_core_v1_openapi3.json`,
    operations: 248,
    absent: "the corpora are not beside the project: set TOOLARSENAL_CORPORA",
  },
];

/** True where the document is there. A machine of CI must have what npm installs. */
export function isPresent({ name, file, absent }: Corpus): boolean {
  const present = existsSync(file);
  if (!present && name === "GitHub" && process.env["CI"] !== undefined) throw new Error(absent);
  if (!present) process.stderr.write(`${name} is left out: ${absent}\n`);
  return present;
}
