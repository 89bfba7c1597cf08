import { parentPort } from "node:worker_threads";
import { REDACTED } from "../../../guard/redaction/secret-patterns.ts";
import { re2 } from "../../re2.ts";
import type { ReplaceJob } from "./redaction-thread.ts";

/** The thread that searches long texts for patterns. */
parentPort?.on("message", ({ pattern, text }: ReplaceJob) => {
  parentPort?.postMessage(re2().compile(pattern).matcher(text).replaceAll(REDACTED), []);
});
