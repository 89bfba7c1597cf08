import { randomUUID } from "node:crypto";
import { type StreamResponse, type Task, TaskPushNotificationConfig } from "@a2a-js/sdk";
import { V03PushNotificationSerializer } from "@a2a-js/sdk/compat/v0_3/server";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import {
  type PushNotificationSender,
  type PushNotificationStore,
  type ServerCallContext,
  V1PushNotificationSerializer,
} from "@a2a-js/sdk/server";
import { isArsenalError } from "../../../errors/arsenal-error.ts";
import { messageOf } from "../../../errors/show-value.ts";
import { checkUrl } from "../../../guard/egress/check-url.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { createShares } from "../../../base/shares.ts";
import { pause } from "../../../base/turns/until-aborted.ts";
import type { Replica } from "../../replica.ts";
import { ownerIn } from "../call-context.ts";
import type { A2aOutside, A2aSettings } from "../settings.ts";
import { bookAttachment, holderOf, pushKey } from "./task-index.ts";

/** Notifies callers' webhooks about their tasks. */
export interface Pushes {
  readonly store: PushNotificationStore;
  readonly sender: PushNotificationSender;
  /** Waits a moment for pending notifications to arrive, and drops the rest. */
  close(): Promise<void>;
}

interface StoredConfig {
  readonly config: TaskPushNotificationConfig;
  /** The A2A version of the notification's format, which is the version of the request for it. */
  readonly wireVersion: string;
}

const MOST_CONFIGS = 10;
/** For all sealed configurations of a task together. */
const MOST_CONFIG_BYTES = 32 * 1024;
const MOST_URL_LENGTH = 2_000;
/** Limits for notifications that are queued or wait for an answer. */
const WAITING = { count: 5_000, bytes: 32 * 1024 * 1024, perCaller: { count: 1_000, bytes: 8 * 1024 * 1024 } };
const ATTEMPT_MS = 5_000;
/** Delays before retries. */
const PAUSES_MS: readonly number[] = [1_000, 5_000];
const CLOSING_MS = 1_000;

const SERIALIZERS = { "1.0": new V1PushNotificationSerializer(), "0.3": new V03PushNotificationSerializer() };
type Version = keyof typeof SERIALIZERS;
const versionOf = (wireVersion: string): Version => (wireVersion === "0.3" ? "0.3" : "1.0");

interface Notification {
  readonly body: string;
  readonly contentType: string;
}

/** Notifies webhooks that callers registered for their tasks, in order, through the egress guard. Failures are reported as events. */
export function createPushes(
  replica: Replica,
  settings: Pick<A2aSettings & A2aOutside, "egress" | "pushOrigins" | "taskTtlS" | "emit">,
  clock: Clock = systemClock,
): Pushes {
  const { egress, taskTtlS, emit } = settings;
  const ttlMs = taskTtlS * 1000;
  const { state, seal } = replica;
  const { documents } = state;
  const origins = new Set(settings.pushOrigins.map((origin) => URL.parse(origin)?.origin));
  const underWay = new Map<string, Promise<void>>();
  const waiting = createShares(WAITING);
  const closing = new AbortController();

  const isTrusted = (url: string | URL): boolean => origins.has(new URL(url).origin);
  const keyOf = (taskId: string, context: ServerCallContext): string => pushKey(ownerIn(context), taskId);
  /** Configurations contain credentials, so the list of each task is sealed for that task. */
  const bindingOf = (key: string) => ({ principal: { id: key }, plane: "a2a", method: "push", params: {} });

  async function read(
    key: string,
  ): Promise<{ readonly stored: readonly StoredConfig[]; readonly version: number | "absent" }> {
    const entry = await documents.get(key);
    const opened = typeof entry?.value === "string" ? seal.open(entry.value, bindingOf(key)) : undefined;
    return {
      stored: (opened?.["stored"] as readonly StoredConfig[] | undefined) ?? [],
      version: entry?.version ?? "absent",
    };
  }

  async function change(
    taskId: string,
    context: ServerCallContext,
    by: (stored: readonly StoredConfig[]) => readonly StoredConfig[],
  ): Promise<void> {
    const owner = ownerIn(context);
    const key = pushKey(owner, taskId);
    for (;;) {
      const { stored, version } = await read(key);
      const sealed = seal.seal({ stored: by(stored) }, bindingOf(key), ttlMs);
      const bytes = sealed.length;
      if (bytes > MOST_CONFIG_BYTES)
        throw new RequestMalformedError(
          `The push notification configs of this task take ${bytes} bytes; the limit is ${MOST_CONFIG_BYTES}. Delete one, or give shorter credentials.`,
        );
      const expiresAt = clock.now() + ttlMs;
      await bookAttachment(documents, "push", { owner, taskId, bytes, expiresAt });
      if (await documents.set(key, sealed, { ifVersion: version, expiresAt })) return;
    }
  }

  const store: PushNotificationStore = {
    async save(taskId, context, config) {
      refuseAddress(config.url, isTrusted);
      config.id ||= randomUUID();
      config.taskId = taskId;
      const added = {
        config: TaskPushNotificationConfig.fromJSON(TaskPushNotificationConfig.toJSON(config)),
        wireVersion: context.requestedVersion,
      };
      await change(taskId, context, (stored) => {
        const others = stored.filter((each) => each.config.id !== config.id);
        if (others.length >= MOST_CONFIGS)
          throw new RequestMalformedError(
            `A task can have ${MOST_CONFIGS} push notification configs. Delete one first.`,
          );
        return [...others, added];
      });
    },
    load: async (taskId, context) => (await read(keyOf(taskId, context))).stored.map(({ config }) => config),
    async delete(taskId, context, configId) {
      await change(taskId, context, (stored) => stored.filter(({ config }) => config.id !== (configId ?? taskId)));
    },
  };

  /** Makes one attempt. Returns `delivered`, or the reason of the failure and whether a retry may succeed. */
  async function post(config: TaskPushNotificationConfig, sent: Notification): Promise<DeliveryOutcome> {
    const timeout = new AbortController();
    const stopTimer = clock.after(ATTEMPT_MS, () => timeout.abort(), { background: true });
    try {
      const { status, body } = await egress.request(config.url, {
        method: "POST",
        headers: { "content-type": sent.contentType, ...credentialsOf(config) },
        body: sent.body,
        trusted: isTrusted(config.url),
        maxRedirects: 0,
        signal: AbortSignal.any([timeout.signal, closing.signal]),
      });
      body.destroy?.();
      if (status >= 200 && status < 300) return "delivered";
      return { why: `it answered ${status}`, mayRetry: status === 429 || status >= 500 };
    } catch (error) {
      return { why: messageOf(error), mayRetry: !(isArsenalError(error) && error.code === "PERMISSION_DENIED") };
    } finally {
      stopTimer();
    }
  }

  const report = ({ taskId, url }: TaskPushNotificationConfig, attempts: number, message: string): void =>
    emit("push-failed", { taskId, origin: new URL(url).origin, attempts, message });

  async function deliver(config: TaskPushNotificationConfig, sent: Notification): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const outcome = await post(config, sent);
      if (outcome === "delivered") return;
      const pauseMs = PAUSES_MS[attempt];
      if (!outcome.mayRetry || pauseMs === undefined || closing.signal.aborted) {
        return report(config, attempt + 1, outcome.why);
      }
      await pause(pauseMs, clock, { signal: closing.signal, background: true }).catch(() => {});
    }
  }

  async function sendAfter(
    earlier: Promise<void> | undefined,
    { key, owner }: { readonly key: string; readonly owner: string },
    event: StreamResponse,
    task: Task | undefined,
  ): Promise<void> {
    const { stored } = await read(key);
    const [first] = stored;
    if (first === undefined) return earlier;
    const bodies = new Map<Version, Notification>();
    for (const { wireVersion } of stored) {
      const version = versionOf(wireVersion);
      if (!bodies.has(version)) bodies.set(version, SERIALIZERS[version].serialize(event, task));
    }
    const bytes = [...bodies.values()].reduce((total, { body }) => total + body.length, 0);
    const share = waiting.take(holderOf(owner), { bytes });
    if (share === undefined)
      return report(first.config, 0, "too many notifications of this caller are already waiting");
    try {
      await earlier;
      await Promise.all(
        stored.map(async ({ config, wireVersion }) => {
          const sent = bodies.get(versionOf(wireVersion));
          if (sent !== undefined) await deliver(config, sent);
        }),
      );
    } finally {
      share.release();
    }
  }

  return {
    store,
    sender: {
      async send(event, context, task) {
        const taskId = taskIdOf(event);
        if (taskId === "") return;
        const key = keyOf(taskId, context);
        const settled = sendAfter(underWay.get(key), { key, owner: ownerIn(context) }, event, task)
          .catch(() => undefined)
          .finally(() => {
            if (underWay.get(key) === settled) underWay.delete(key);
          });
        underWay.set(key, settled);
        await settled;
      },
    },
    async close() {
      const stopTimer = clock.after(CLOSING_MS, () => closing.abort(), { background: true });
      await Promise.all(underWay.values());
      stopTimer();
      closing.abort();
    },
  };
}

type DeliveryOutcome = "delivered" | { readonly why: string; readonly mayRetry: boolean };

/** Refuses an address that egress would block. The address behind a host name is checked again with each request. */
function refuseAddress(url: string, isTrusted: (url: URL) => boolean): void {
  const parsed = url.length <= MOST_URL_LENGTH ? URL.parse(url) : null;
  if (parsed === null)
    throw new RequestMalformedError("The push notification url is not a URL. Give an https address.");
  try {
    checkUrl(parsed, { allowPrivate: isTrusted(parsed) });
  } catch (error) {
    throw new RequestMalformedError(`The push notification url is refused. ${messageOf(error)}`);
  }
}

function credentialsOf({ authentication, token }: TaskPushNotificationConfig): Readonly<Record<string, string>> {
  const { scheme = "", credentials = "" } = authentication ?? {};
  return {
    ...(scheme !== "" && credentials !== "" && { authorization: `${scheme} ${credentials}` }),
    ...(token !== "" && { "x-a2a-notification-token": token }),
  };
}

function taskIdOf({ payload }: StreamResponse): string {
  if (payload === undefined) return "";
  return payload.$case === "task" ? payload.value.id : payload.value.taskId;
}
