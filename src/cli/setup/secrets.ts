import { inputVariable } from "../../config/clients/client-references.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { fitsEnvFile } from "./env-file.ts";
import type { ServerEntry } from "./entry-styles.ts";
import { isSecretAddress, isSecretName, isSecretText, looksSecret } from "../../guard/secrets/looks-secret.ts";

export const HIDDEN = "…";

/** A secret and its position in an entry. */
interface SecretPlace {
  /** `env.TOKEN`, `args.2`, `url` */
  readonly field: string;
  /** The name of the secret: `TOKEN`, `--api-key`. */
  readonly key: string;
  readonly value: string;
}

/** Moves secrets from an entry to the server's env file, and writes `${NAME}` instead. Values that an env file cannot represent stay. */
export function separateSecrets(server: string, entry: ServerEntry) {
  const secrets = new Map<string, string>();
  const prefix = inputVariable(server).replace(/^_+|_+$/g, "") || "SERVER";
  const env = isPlainObject(entry["env"]) ? entry["env"] : {};
  const isTaken = (name: string, value: string): boolean =>
    (secrets.get(name) ?? value) !== value || (Object.hasOwn(env, name) && env[name] !== value);

  const separated = replaceSecrets(entry, ({ field, key, value }) => {
    const raw = value.replaceAll("$${", "${");
    if (field.startsWith("env.")) {
      if (!fitsEnvFile(key, raw)) return value;
      secrets.set(key, raw);
      return undefined;
    }
    const own = inputVariable(key).replace(/^_+|_+$/g, "");
    const wanted = own.startsWith(`${prefix}_`) ? own : `${prefix}_${own}`;
    let name = wanted;
    for (let count = 2; isTaken(name, raw); count++) name = `${wanted}_${count}`;
    if (!fitsEnvFile(name, raw)) return value;
    secrets.set(name, raw);
    return `\${${name}}`;
  });
  return { entry: separated, secrets: Object.fromEntries(secrets) };
}

export function withoutSecrets(entry: ServerEntry): ServerEntry {
  return replaceSecrets(entry, () => HIDDEN);
}

/** Returns a function that hides the secrets of these entries in a text, with any escape rules. */
export function hideSecretsOf(entries: Readonly<Record<string, unknown>>): (text: string) => string {
  const found = new Set<string>();
  for (const entry of Object.values(entries))
    if (isPlainObject(entry))
      replaceSecrets(entry, ({ value }) => {
        const raw = value.replaceAll("$${", "${");
        const lines = raw.split("\n").map((line) => line.trim());
        const spellings = [raw, JSON.stringify(raw).slice(1, -1), raw.replaceAll("'", "''"), ...lines];
        for (const each of spellings) if (each.length >= SHORTEST || each === raw) found.add(each);
        return HIDDEN;
      });
  const secrets = [...found].filter((secret) => secret !== "").sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text);
}

/** A shorter line of a secret reveals nothing, and may occur in any text. */
const SHORTEST = 8;

/**
 * Replaces each secret: in `env`, `headers` and `oauth`, after flags such as `--api-key`, in header arguments and in addresses. If `replace` returns
 * undefined, removes the secret.
 */
function replaceSecrets(entry: ServerEntry, replace: (place: SecretPlace) => string | undefined): ServerEntry {
  /** Keeps prefixes such as `Bearer` readable. */
  const credential = (place: SecretPlace): string | undefined => {
    const [, scheme = ""] = /^((?:Bearer|Basic|Token) )/i.exec(place.value) ?? [];
    if (place.field.startsWith("env.")) return replace(place);
    return `${scheme}${replace({ ...place, value: place.value.slice(scheme.length) })}`;
  };
  type IsSecret = (key: string, given: unknown) => boolean;
  const isCredential: IsSecret = (key, given) =>
    given !== null && typeof given !== "object" && looksSecret(key, String(given));
  const isClientSecret: IsSecret = (key, given) => /secret/i.test(key) && typeof given === "string";
  const members = (field: string, value: unknown, looks: IsSecret, change: typeof replace): unknown => {
    if (!isPlainObject(value)) return value;
    const changed = Object.entries(value).map(([key, given]) => {
      const text = String(given);
      const isSecret = isLiteral(text) && looks(key, given);
      return [key, isSecret ? change({ field: `${field}.${key}`, key, value: text }) : given] as const;
    });
    return Object.fromEntries(changed.filter(([, member]) => member !== undefined));
  };
  const args = (value: unknown): unknown => {
    if (!Array.isArray(value)) return value;
    return value.map((argument: unknown, index) => {
      if (typeof argument !== "string" || !isLiteral(argument)) return argument;
      const field = `args.${index}`;
      const before: unknown = value[index - 1];
      const flag = typeof before === "string" && /^--?[\w-]+$/.test(before) && !argument.startsWith("-") ? before : "";
      if (isSecretName(flag) && looksSecret(flag, argument)) return credential({ field, key: flag, value: argument });
      const [, start = "", name = "", rest = ""] = /^((-{0,2}[\w-]+)(?:=|:\s*(?!\/\/)))(.+)$/s.exec(argument) ?? [];
      if (isSecretName(name) && looksSecret(name, rest))
        return `${start}${credential({ field, key: name, value: rest })}`;
      return isSecretText(argument) ? replace({ field, key: `arg_${index}`, value: argument }) : argument;
    });
  };
  const address = (field: string, value: unknown): unknown => {
    if (typeof value !== "string" || !isLiteral(value) || !isSecretAddress(value)) return value;
    return replace({ field, key: "url", value });
  };
  const replaced = Object.entries(entry).map(([key, value]) => {
    if (key === "env" || key === "headers") return [key, members(key, value, isCredential, credential)] as const;
    if (key === "args") return [key, args(value)] as const;
    if (key === "oauth" || key === "auth") return [key, members(key, value, isClientSecret, replace)] as const;
    return [key, /url$|^endpoint$/i.test(key) ? address(key, value) : value] as const;
  });
  const isEmptied = ([key, value]: readonly [string, unknown]): boolean =>
    key === "env" && isPlainObject(value) && Object.keys(value).length === 0;
  return Object.fromEntries(replaced.filter((member) => !isEmptied(member)));
}

/** A text with a reference does not contain the secret itself. */
function isLiteral(text: string): boolean {
  return !text.replaceAll("$${", "").includes("${");
}
