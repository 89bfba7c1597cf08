import { fixable } from "../errors/arsenal-error.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { Changes } from "../state/changes.port.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import type { Policy } from "./policy.port.ts";

const TOPIC = "policy";

/** Returns the injected policy, or else the configured one. This process, or another one on the same state, can reload the configured policy. */
export function reloadablePolicy(parts: {
  readonly injected: Policy | undefined;
  readonly file: string | undefined;
  read(file: string): string;
  /** Creates the configured policy from the text of the file, if there is a file. */
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
    // Every process that watches the file announces the change, so this process often has the text already.
    if (next !== text) put(path, next);
  }

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
    /** Returns the current policy with another clock, to evaluate it at another time. An injected policy keeps its own clock. */
    at: (other: Clock): Policy => injected ?? create(other, text),
    /** Reloads the policy file in this process and every other. Throws, and keeps the old policy, if the file is invalid. */
    reload(): void {
      if (file === undefined) {
        const fix = "Set security.policy_file, and inject no policy of your own.";
        throw fixable("CONFIG_INVALID", "There is no policy file to reload.", fix, { field: "security.policy_file" });
      }
      put(file, read(file));
      // If the store is unavailable, the other processes detect the change of the file themselves, or get their own reload request.
      changes.publish(TOPIC, { from: self }).catch(() => undefined);
    },
    /** Starts following reloads by other processes. Safe to call twice. */
    follow(): void {
      // If the file is invalid, the old policy stays. The process that reloaded has already reported why.
      if (file !== undefined) unsubscribe ??= changes.subscribe(TOPIC, (data) => heard(file, data));
    },
    close: (): void => unsubscribe?.(),
  };
}
