import { auditLogs } from "./audit/manifest.ts";
import { dialects } from "./dialects/manifest.ts";
import { embedders } from "./embedders/manifest.ts";
import { engines } from "./engines/manifest.ts";
import { executors } from "./executors/manifest.ts";
import { identities } from "./identity/manifest.ts";
import { llms } from "./llms/manifest.ts";
import { policies } from "./policies/manifest.ts";
import { rerankers } from "./rerankers/manifest.ts";
import { sandboxes } from "./sandboxes/manifest.ts";
import { scanners } from "./scanners/manifest.ts";
import { sinks } from "./sinks/manifest.ts";
import { sources } from "./sources/manifest.ts";
import { states } from "./state/manifest.ts";
import { validators } from "./validators/manifest.ts";

/** Kinds of adapters: the folder, which is also the subpath (`toolarsenal/sinks`), and the manifest. */
export const KINDS = {
  audit: auditLogs,
  dialects,
  embedders,
  engines,
  executors,
  identity: identities,
  llms,
  policies,
  rerankers,
  sandboxes,
  scanners,
  sinks,
  sources,
  state: states,
  validators,
};
