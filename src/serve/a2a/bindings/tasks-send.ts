import { randomUUID } from "node:crypto";
import { LegacyJsonRpcTransportHandler, LegacyRestTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { TaskHandler } from "../tasks/task-handler.ts";

type Params = Parameters<LegacyRestTransportHandler["sendMessage"]>[0];

interface TasksSend {
  readonly id?: string | number | null;
  readonly method: "tasks/send" | "tasks/sendSubscribe";
  readonly params?: unknown;
}

type Envelope = { readonly jsonrpc: string; readonly id: string | number | null };

/** Returns true for the methods that send a message in the first drafts of A2A. There, the caller chooses the task's id. */
export function isTasksSend(request: object): request is TasksSend {
  const { method } = request as { readonly method?: unknown };
  return method === "tasks/send" || method === "tasks/sendSubscribe";
}

/** Answers `tasks/send` and `tasks/sendSubscribe` of the first drafts. The tasks are those of 0.3, with the names of the drafts. */
export function createTasksSend(
  handler: TaskHandler,
): (request: TasksSend, context: ServerCallContext) => Promise<Envelope | AsyncGenerator<Envelope, void, undefined>> {
  const legacy = new LegacyRestTransportHandler(handler);

  async function* events(
    id: Envelope["id"],
    params: Params,
    context: ServerCallContext,
  ): AsyncGenerator<Envelope, void, undefined> {
    for await (const event of await legacy.sendMessageStream(params, context))
      yield { jsonrpc: "2.0", id, result: toDraft(event) } as Envelope;
  }

  return async ({ id = null, method, params: given }, context) => {
    try {
      const { taskId, contextId, params } = read(given);
      await handler.create(taskId, contextId, context);
      if (method === "tasks/sendSubscribe") return events(id, params, context);
      const result = toDraft(await legacy.sendMessage(params, context));
      return { jsonrpc: "2.0", id, result } as Envelope;
    } catch (error) {
      return { jsonrpc: "2.0", id, error: LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error) } as Envelope;
    }
  };
}

function read(given: unknown): { readonly taskId: string; readonly contextId: string; readonly params: Params } {
  if (!isPlainObject(given)) throw new RequestMalformedError("params must be an object with an id and a message.");
  const { id: taskId = randomUUID(), sessionId = randomUUID(), message, historyLength, metadata } = given;
  if (typeof taskId !== "string" || taskId.trim() === "" || taskId.length > 128)
    throw new RequestMalformedError("params.id must be a string of 1 to 128 characters.");
  if (typeof sessionId !== "string" || sessionId.length > 128)
    throw new RequestMalformedError("params.sessionId must be a string of at most 128 characters.");
  if (!isPlainObject(message) || !Array.isArray(message["parts"]))
    throw new RequestMalformedError("params.message must have a role and parts.");
  const parts = message["parts"].map((part: unknown) => {
    if (!isPlainObject(part)) throw new RequestMalformedError("Each of params.message.parts must be an object.");
    return { kind: part["type"], ...part };
  });
  const params = {
    message: {
      messageId: randomUUID(),
      role: "user",
      ...message,
      kind: "message",
      taskId,
      parts,
    },
    configuration: { blocking: true, ...(typeof historyLength === "number" && { historyLength }) },
    ...(isPlainObject(metadata) && { metadata }),
  };
  return { taskId, contextId: sessionId, params: params as unknown as Params };
}

/** Adds the members that the drafts name differently: `type` of a part, `sessionId`, and `id` of an event. */
function toDraft(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toDraft);
  if (!isPlainObject(value)) return value;
  const { kind, contextId, taskId } = value;
  const draft = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      // The output of a tool is not converted, even if it has the same keys.
      key === "data" || key === "metadata" ? member : toDraft(member),
    ]),
  );
  if (kind === "text" || kind === "data" || kind === "file") return { type: kind, ...draft };
  return {
    ...draft,
    ...(typeof contextId === "string" && { sessionId: contextId }),
    ...((kind === "status-update" || kind === "artifact-update") && { id: taskId }),
  };
}
