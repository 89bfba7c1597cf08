import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { ErrorCode } from "../../errors/codes.ts";
import { answerJson } from "./answer.ts";

/** Why a request to `/api/v1` was not done: a code of the closed list, what happened, and what to do. */
export interface Problem {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly fix: string;
}

/** Answers with a problem, and closes the connection where the request's body was left unread. */
export function answerProblem(
  response: ServerResponse,
  { status, ...error }: Problem,
  headers?: OutgoingHttpHeaders,
): void {
  const unread = status === 408 || status === 413 ? { connection: "close" } : {};
  answerJson(response, status, { error }, { ...headers, ...unread });
}
