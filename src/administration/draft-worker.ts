import { parentPort, workerData } from "node:worker_threads";
import { rulesPolicy } from "../adapters/policies/rules/rules.ts";
import { isArsenalError } from "../errors/arsenal-error.ts";
import { messageOf } from "../errors/show-value.ts";
import type { DraftJob, JudgedDraft } from "./judge-draft.ts";
import { judgeCases } from "./policy-cases.ts";

/** Compiles a draft of a policy and evaluates cases with it, in this thread. */
async function judge({ policy, cases }: DraftJob): Promise<JudgedDraft> {
  try {
    return { judged: await judgeCases(cases, (clock) => rulesPolicy(policy, { clock })) };
  } catch (error) {
    if (!isArsenalError(error)) return { error: { code: "INPUT_INVALID", message: messageOf(error), details: {} } };
    const { code, message, details } = error;
    return { error: { code, message, details: JSON.parse(JSON.stringify(details)) } };
  }
}

parentPort?.postMessage(await judge(JSON.parse(workerData as string) as DraftJob), []);
