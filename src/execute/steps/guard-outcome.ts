import { nextTurn } from "../../base/turns/event-loop.ts";
import { ArsenalError, isArsenalError } from "../../errors/arsenal-error.ts";
import type { Aegis } from "../../guard/aegis.ts";
import type { Obligations, Redaction } from "../../guard/policy.port.ts";
import type { InspectedResult } from "../../guard/scan/inspection.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { toPlainData } from "../../tool/schema/plain-data.ts";
import type { Tool } from "../../tool/tool.ts";
import type { ReportedError } from "./attempts.ts";
import { type MeasuredJson, measureJson } from "../../base/json/measure-json.ts";
import type { Outcome } from "../outcome.ts";
import { redactLarge, redactResult } from "../results/redact-result.ts";
import type { ResultError } from "../result.ts";
import { toResultError } from "../results/to-result-error.ts";

interface OutcomeGuard {
  readonly tool: Tool;
  readonly obligations: Obligations | undefined;
  readonly aegis: Pick<Aegis, "inspect" | "inspectLarge">;
  /** The limit for every result, in bytes. A rule can set a lower one. */
  readonly maxResultBytes: number;
}

/**
 * Redacts and inspects the output of a tool, and checks its size. Returns the same outcome if nothing changed; otherwise changes or removes the
 * answer as well. For a large result, yields to the event loop between steps.
 */
export function guardOutcome(
  outcome: Outcome,
  reported: ReportedError | undefined,
  guard: OutcomeGuard,
): Outcome | Promise<Outcome> {
  if (outcome.status !== "success") {
    const answer = answerOf(reported);
    const { error } = outcome;
    if (error === undefined || answer === undefined || !isLarge(answer)) return guardNow(outcome, reported, guard);
    return guardLargeError(outcome, error, answer, guard);
  }
  const measured = measureJson(outcome.result, limitOf(guard));
  return measured.fits && !measured.isLarge
    ? guardNow(outcome, reported, guard, measured)
    : guardLarge(outcome, guard, measured);
}

async function guardLarge(outcome: Outcome, guard: OutcomeGuard, measured: MeasuredJson): Promise<Outcome> {
  const { tool, aegis, obligations } = guard;
  const { result } = outcome;
  try {
    let given = result;
    for (const redaction of obligations?.redact ?? []) given = await redactLarge(given, redaction);
    await nextTurn();
    given = valueOf(await aegis.inspectLarge(tool, given));
    await nextTurn();
    checkSize(given, guard, given === result ? measured : undefined);
    await nextTurn();
    return withResult(outcome, given);
  } catch (problem) {
    return withheld(outcome, tool, problem);
  }
}

async function guardLargeError(
  outcome: Outcome,
  error: ResultError,
  answer: unknown,
  guard: OutcomeGuard,
): Promise<Outcome> {
  const { tool, aegis, obligations } = guard;
  try {
    let words: unknown = error;
    let shown = answer;
    for (const redaction of obligations?.redact ?? []) {
      words = await redactLarge(words, redaction);
      shown = await redactLarge(shown, redaction);
      const isInAnswer = (await redactLarge(answer, redaction)) !== answer;
      if (isInAnswer && (await redactLarge(error.message, redaction)) === error.message) throw takenOut();
    }
    const kept = asWords(words, error);
    if (kept === undefined) throw takenOut();
    const inspected = valueOf(await aegis.inspectLarge(tool, shown));
    await nextTurn();
    checkSize(inspected, guard);
    const isUntouched = inspected === answer;
    const message = isUntouched ? kept.message : String(valueOf(await aegis.inspectLarge(tool, kept.message)));
    await nextTurn();
    checkSize(message, guard);
    if (kept === error && message === error.message && isUntouched) return outcome;
    const { answered: _, ...rest } = kept;
    const { answer: __, ...others } = outcome;
    return { ...others, error: { ...rest, message } };
  } catch (problem) {
    return withheld(outcome, tool, problem);
  }
}

/** True if each step over the value takes milliseconds. */
function isLarge(value: unknown): boolean {
  const measured = measureJson(value, Number.POSITIVE_INFINITY);
  return measured.fits && measured.isLarge;
}

/** The complete answer behind a tool's error. */
function answerOf(reported: ReportedError | undefined): unknown {
  const answer = reported?.answer;
  return answer !== undefined && "error" in answer ? answer.error : answer?.result;
}

/** `measured` compares the result, as the tool returned it, with the size limit. */
function guardNow(
  outcome: Outcome,
  reported: ReportedError | undefined,
  guard: OutcomeGuard,
  measured?: MeasuredJson,
): Outcome {
  const { answer: _, ...rest } = outcome;
  const { status, result, error } = rest;
  try {
    if (status === "success") return withResult(outcome, guardValue(result, guard, measured));
    if (error === undefined || reported === undefined) return outcome;
    const given = guardError(error, answerOf(reported), guard);
    return given === error ? outcome : { ...rest, error: given };
  } catch (problem) {
    return withheld(outcome, guard.tool, problem);
  }
}

function withResult(outcome: Outcome, given: unknown): Outcome {
  const { answer, ...rest } = outcome;
  if (given === rest.result) return outcome;
  const stands = answer !== undefined && keepsForm(given, rest.result);
  return { ...rest, result: given, ...(stands && { answer: { result: given } }) };
}

/** Redacts the result of an earlier call according to the current rules. */
export function redactReplayed(outcome: Outcome, tool: Tool, redactions: readonly Redaction[]): Outcome {
  const aegis: OutcomeGuard["aegis"] = {
    inspect: (_tool, value) => ({ value }),
    inspectLarge: async (_tool, value) => ({ value }),
  };
  const guard = { tool, obligations: { redact: redactions }, aegis, maxResultBytes: Number.POSITIVE_INFINITY };
  return guardNow(outcome, {}, guard);
}

/** Returns true if the changed answer still has its lists. Clients of its protocol could not parse it otherwise. */
function keepsForm(changed: unknown, given: unknown): boolean {
  if (!isPlainObject(changed) || !isPlainObject(given)) return false;
  return Object.keys({ ...given, ...changed }).every(
    (key) => Array.isArray(changed[key]) === Array.isArray(given[key]),
  );
}

function guardValue(value: unknown, guard: OutcomeGuard, measured?: MeasuredJson): unknown {
  const given = inspect(redactResult(value, guard.obligations?.redact), guard);
  checkSize(given, guard, given === value ? measured : undefined);
  return given;
}

/** Guards an error's message and the answer behind it. If either changes, the error no longer counts as the tool's own answer. */
function guardError(error: ResultError, answer: unknown, guard: OutcomeGuard): ResultError {
  const { redact: redactions = [] } = guard.obligations ?? {};
  const words = asWords(redactResult(error, redactions), error);
  // A path that matches in the answer may not match in the message, which would then still reveal the value.
  const revealsMore = (each: Redaction): boolean =>
    redactResult(answer, [each]) !== answer && redactResult(error.message, [each]) === error.message;
  if (words === undefined || redactions.some(revealsMore)) throw takenOut();
  const isUntouched = answer !== undefined && guardValue(answer, guard) === answer;
  // The message of an unchanged answer was already inspected as part of the answer.
  const message = isUntouched ? words.message : String(inspect(words.message, guard));
  checkSize(message, guard);
  if (words === error && message === error.message && (isUntouched || answer === undefined)) return error;
  const { answered: _, ...rest } = words;
  return { ...rest, message };
}

/** Returns a redacted error; undefined if nothing may be shown. */
function asWords(words: unknown, error: ResultError): ResultError | undefined {
  if (words === error) return error;
  if (!isPlainObject(words) || typeof words["message"] !== "string") return undefined;
  return { ...(words as unknown as ResultError), code: error.code };
}

function inspect(value: unknown, { aegis, tool }: OutcomeGuard): unknown {
  return valueOf(aegis.inspect(tool, value));
}

function valueOf(inspected: InspectedResult): unknown {
  if ("refused" in inspected) throw withhold(inspected.refused);
  return inspected.value;
}

function limitOf({ obligations, maxResultBytes }: OutcomeGuard): number {
  return Math.min(obligations?.maxResultBytes ?? Number.POSITIVE_INFINITY, maxResultBytes);
}

function checkSize(
  value: unknown,
  guard: OutcomeGuard,
  measured: MeasuredJson = measureJson(value, limitOf(guard)),
): void {
  if (measured.fits) return;
  const { obligations, maxResultBytes } = guard;
  const demanded = obligations?.maxResultBytes ?? Number.POSITIVE_INFINITY;
  const limit = limitOf(guard);
  const whose = demanded < maxResultBytes ? "a rule" : "execution.max_result_bytes";
  let { bytes, atLeast } = measured;
  if (bytes === undefined) {
    // A value without a JSON form has no size, so it violates a rule with a maximum size.
    if (demanded !== Number.POSITIVE_INFINITY)
      throw withhold(`${whose} allows ${limit} bytes, and it cannot be measured`);
    // Surfaces and dialects write it as plain data.
    const plain = measureJson(toPlainData(value), limit);
    if (plain.fits) return;
    ({ bytes = limit, atLeast } = plain);
  }
  const size = atLeast === true ? `at least ${bytes}` : `${bytes}`;
  throw withhold(`it measures ${size} bytes, and ${whose} allows ${limit}. Ask for less at once`, "RESULT_TOO_LARGE");
}

function withhold(why: string, code: "EXECUTION_FAILED" | "RESULT_TOO_LARGE" = "EXECUTION_FAILED"): ArsenalError {
  return new ArsenalError(code, why);
}

function takenOut(): ArsenalError {
  return withhold("a rule removes it");
}

/** The outcome stays known; only the tool's output is withheld. */
function withheld(outcome: Outcome, tool: Tool, problem: unknown): Outcome {
  const { result: _, answer: __, error, ...rest } = outcome;
  const { message: why } = toResultError(problem);
  const because = isArsenalError(problem) ? why.replace(/\.$/, "") : `it could not be checked: ${why}`;
  if (error === undefined) {
    const message = `${tool.id} ran, but its result is withheld: ${because}.`;
    const isTooLarge = isArsenalError(problem) && problem.code === "RESULT_TOO_LARGE";
    const code = isTooLarge ? "RESULT_TOO_LARGE" : "EXECUTION_FAILED";
    return { ...rest, status: "failure", error: { code, message, field: "result" } };
  }
  const { code, beforeSend, retryAfterMs } = error;
  return {
    ...rest,
    error: {
      code,
      message: `The error that ${tool.id} reported is withheld: ${because}.`,
      ...(beforeSend !== undefined && { beforeSend }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
  };
}
