import type { AsyncLocalStorage } from "node:async_hooks";
import { Context, Effect, Tracer } from "effect";
import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Handler, HandlerContext } from "../tool/handler.ts";
import type { EffectHandler } from "./tool-service.ts";

/** The context of the fiber that made the current call. Omitted if the call was not made through the service. */
export type CallerContext = AsyncLocalStorage<Context.Context<never>>;

/** Turns an Effect into a handler. The Effect gets the services it was registered with and the caller's trace, and is interrupted with the call. */
export function toHandler<E, R>(
  handler: EffectHandler<E, R>,
  registered: Context.Context<R>,
  { callers, isClosed }: { readonly callers: CallerContext; readonly isClosed: () => boolean },
): Handler {
  const services = Context.omit(Tracer.ParentSpan)(registered) as Context.Context<R>;
  return (args, context) =>
    Effect.runPromiseWith(contextOf(services, callers.getStore(), context))(
      Effect.suspend(() => (isClosed() ? Effect.die(closed(context)) : handler(args, context))),
      { signal: context.signal },
    );
}

function closed({ tool }: HandlerContext): ArsenalError {
  const message = `The layer that registered ${tool.id} was closed. Register the tool again.`;
  return new ArsenalError("CLOSED", message, { beforeSend: true });
}

function contextOf<R>(
  services: Context.Context<R>,
  caller: Context.Context<never> | undefined,
  { traceId, spanId }: HandlerContext,
): Context.Context<R> {
  if (caller !== undefined) return Context.merge(caller, services);
  return Context.add(services, Tracer.ParentSpan, Tracer.externalSpan({ traceId, spanId }));
}
