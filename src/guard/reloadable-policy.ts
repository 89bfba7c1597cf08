import { fixable } from "../errors/arsenal-error.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { Changes } from "../state/changes.port.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import type { Policy } from "./policy.port.ts";

/** Announces that a process has read its policy file again. */
const TOPIC = "policy";

/** The injected policy, or else the configured one, which can be reloaded here or by another process that shares the state. */
export function reloadablePolicy(parts: {
  readonly injected: Policy | undefined;
  /** The configured policy file. */
  readonly file: string | undefined;
  /** Reads the file. */
  read(file: string): string;
  /** Makes the configured policy, of the text of the file if there is one. */
  create(clock: Clock, text: string | undefined): Policy;
  readonly changes: Changes;
  readonly clock: Clock;
  readonly emit: Emit;
}) {
  const { injected, read, create, changes, clock, emit } = parts;
  const file = injected === undefined ? parts.file : undefined;
  const self = crypto.randomUUID();
  let text = file === undefined ? undefined : read(file);
  let current = injected ?? create(clock, text);
  let unsubscribe: (() => void) | undefined;

  function put(path: string, next: string): void {
    current = create(clock, next);
    text = next;
    emit("policy-reloaded", { file: path });
  }

  function heard(path: string, data: unknown): void {
    if (isPlainObject(data) && data["from"] === self) return;
    const next = read(path);
    // Every process that watches the file announces it, so this process often has the text already.
    if (next !== text) put(path, next);
  }

  /** Answers every question by the policy in force. */
  const policy: Policy = {
    sees: (...question) => current.sees(...question),
    visible: (...question) => current.visible?.(...question),
    refuses: (...question) => current.refuses?.(...question),
    decide: (request) => current.decide(request),
    steps: (request) => current.steps?.(request),
    rules: () => current.rules?.(),
    registration: {
      get maxTools() {
        return current.registration?.maxTools;
      },
      get allowDuplicateNames() {
        return current.registration?.allowDuplicateNames;
      },
    },
  };
  return {
    policy,
    /** The policy in force with another clock, to ask it about another time. An injected policy has its own clock. */
    at: (other: Clock): Policy => injected ?? create(other, text),
    /** Reads the policy file again, here and in every other process. Throws, and keeps the old policy, when the file cannot be used. */
    reload(): void {
      if (file === undefined) {
        const fix = "Set security.policy_file, and inject no policy of your own.";
        throw fixable("CONFIG_INVALID", "There is no policy file to reload.", fix, { field: "security.policy_file" });
      }
      put(file, read(file));
      // If the store is unavailable, the others notice the file by themselves, or get their own reload request.
      changes.publish(TOPIC, { from: self }).catch(() => undefined);
    },
    /** Begins to follow the reloads of other processes. Safe to call twice. */
    follow(): void {
      // A listener that throws keeps the old policy: the process that reloaded has reported why.
      if (file !== undefined) unsubscribe ??= changes.subscribe(TOPIC, (data) => heard(file, data));
    },
    close: (): void => unsubscribe?.(),
  };
}
