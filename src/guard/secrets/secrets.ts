import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import type { Clock } from "../../observe/clock.ts";
import type { Emit } from "../../observe/events.ts";
import type { Caller } from "../../tool/handler.ts";
import { createRedactor, type Redactor } from "../redaction/redactor.ts";
import type * as Readers from "./read-secret-file.ts";
import { MIN_SECRET_LENGTH } from "../redaction/form-index.ts";
import { callerProblem, fillCaller } from "./fill-members.ts";
import {
  Missing,
  readReference,
  type ReadReference,
  referencesIn,
  replaceReferences,
  type SecretReference,
} from "./reference.ts";

export interface SecretUse {
  /** The server, API or component whose settings hold the reference. */
  readonly scope: string;
  /** The path of the reference in those settings. */
  readonly field: string;
  /** The caller, if each caller has their own secret. */
  readonly principal?: Caller | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves secrets on demand, and adds each one to the redactor. Both methods reject with CONFIG_INVALID if a secret is missing. */
export interface Secrets {
  /** Resolves a reference. Refuses other texts without showing them, because they may be the secret itself. */
  resolve(reference: SecretReference | string, use: SecretUse): Promise<string>;
  /** Resolves the references in a text. The text is a reference, contains references as `${secret:env:NAME}`, or is literal. */
  fill(text: SecretReference | string, use: SecretUse): Promise<string>;
  readonly redactor: Redactor;
}

/** Loaded with the first secret from a file or a keychain. */
const readers = (): Promise<typeof Readers> => import("./read-secret-file.ts");

/** Reading the keychain starts a program, so its result is cached for this time. */
const KEYCHAIN_MS = 60_000;

/** Creates the lookup of secrets. Reads nothing in advance. */
export function createSecrets(
  options: {
    /** The environment for `env:NAME`. Defaults to the process environment. */
    readonly environment?: Readonly<Record<string, string | undefined>>;
    readonly redactor?: Redactor;
    /** Reports secrets that are too short to be redacted. */
    readonly emit?: Emit;
    readonly clock?: Pick<Clock, "now">;
    readonly platform?: string;
  } = {},
): Secrets {
  const { redactor = createRedactor(), emit, clock = performance, platform = process.platform } = options;
  const kept = new Map<string, { readonly value: string; readonly until: number }>();
  const warnedOf = new Set<string>();

  async function read(reference: ReadReference, use: SecretUse): Promise<string> {
    const environment = options.environment ?? process.env;
    switch (reference.kind) {
      case "env": {
        const name = fillCaller(reference.name, use.principal);
        const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
        if (value === undefined || value === "") throw new Missing("the variable is not set", `Set ${reference.name}.`);
        return value;
      }
      case "file":
        return (await readers()).readSecretFile(fillCaller(reference.path, use.principal));
      case "keychain": {
        const service = fillCaller(reference.service, use.principal);
        const account = fillCaller(reference.account, use.principal);
        const key = JSON.stringify([service, account]);
        const earlier = kept.get(key);
        if (earlier !== undefined && earlier.until > clock.now()) return earlier.value;
        const { readKeychain } = await readers();
        const value = await readKeychain(service, account, { platform, environment, signal: use.signal });
        kept.set(key, { value, until: clock.now() + KEYCHAIN_MS });
        return value;
      }
    }
  }

  async function resolve(given: SecretReference | string, use: SecretUse): Promise<string> {
    if (typeof given === "function") {
      const { signal } = use;
      return known(fetched(await given(signal === undefined ? {} : { signal }), use), "a function", use);
    }
    const reference = typeof given === "string" ? readReference(given) : undefined;
    if (reference === undefined) throw noReference(use);
    const problem = callerProblem(given, use.principal);
    if (problem !== undefined) throw unusable(given, use, new Missing(problem, "Fix the reference."));
    const value = await read(reference, use).catch((error: unknown) => {
      throw error instanceof Missing ? unusable(given, use, error) : error;
    });
    return known(value, given, use);
  }

  function known(value: string, reference: string, { scope, field }: SecretUse): string {
    if (redactor.add(value)) return value;
    const place = `${scope} ${field}`;
    if (!warnedOf.has(place))
      emit?.("secret-skipped", {
        scope,
        field,
        message: `${reference} is shorter than ${MIN_SECRET_LENGTH} characters, so it cannot be redacted in logs. Use a longer one.`,
      });
    warnedOf.add(place);
    return value;
  }

  return {
    redactor,
    resolve,
    async fill(text, use) {
      if (typeof text !== "string") return resolve(text, use);
      const references = referencesIn(text);
      if (references[0] === text) return resolve(text, use);
      // An invalid reference must not be sent in place of the secret.
      if (text.split("${secret:").length - 1 !== references.length) throw noReference(use);
      const values = new Map<string, string>();
      for (const reference of references) values.set(reference, await resolve(reference, use));
      return replaceReferences(text, values);
    },
  };
}

function fetched(value: unknown, use: SecretUse): string {
  if (typeof value === "string" && value !== "") return value;
  throw invalid("is a function that returned no secret", use, "Let it return a nonempty text.");
}

function noReference(use: SecretUse): ArsenalError {
  const fix = `Write ${use.field}: "env:NAME", "file:/WHOLE/PATH" or "keychain:SERVICE/ACCOUNT".`;
  return invalid("is not a reference to a secret", use, fix);
}

function unusable(reference: string, use: SecretUse, { message, fix }: Missing): ArsenalError {
  const whose = use.principal !== undefined && reference.includes("{") ? ` for ${showValue(use.principal.id)}` : "";
  return invalid(`refers to ${reference}${whose}: ${message}`, use, fix);
}

function invalid(problem: string, { scope, field }: SecretUse, fix: string): ArsenalError {
  const details = { field, beforeSend: true };
  return fixable("CONFIG_INVALID", `${field} of ${showValue(scope)} ${problem}.`, fix, details);
}
