import { inputVariable } from "../../config/client-references.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { ServerEntry } from "./find-servers.ts";

/** A variable to set so that a server has what it had before. */
export interface NeededVariable {
  readonly name: string;
  readonly server: string;
  /** Where the value stands in the client's entry: `env.TOKEN`. */
  readonly field: string;
}

const SECRET_NAME = /key|token|secret|passw|passphrase|credential|auth|cookie|session/i;
const SECRET_SHAPE = /^(?:sk-|ghp_|gho_|github_pat_|glpat-|xox[a-z]-|AKIA|eyJ|ya29\.|AIza)[\w.-]{8,}/;
const SECRET_ADDRESS = /:\/\/[^/\s@]+@|[?&][^=&]*(?:key|token|secret|sig)[^=&]*=[^&$]/i;

/**
 * The entry with what may be secret replaced by references to variables: every value of `env` and `headers`, what follows a flag such as
 * `--api-key`, an address with a password in it. `values` collects what each variable stands for; one name never stands for two values.
 */
export function withoutSecrets(
  server: string,
  entry: ServerEntry,
  values: Map<string, string> = new Map(),
): { readonly entry: ServerEntry; readonly variables: readonly NeededVariable[] } {
  const variables: NeededVariable[] = [];
  const prefix = inputVariable(server).replace(/^_+|_+$/g, "") || "SERVER";
  const refer = (field: string, key: string, value: string): string => {
    const own = inputVariable(key).replace(/^_+|_+$/g, "");
    const wanted = own.startsWith(`${prefix}_`) ? own : `${prefix}_${own}`;
    let name = wanted;
    for (let count = 2; (values.get(name) ?? value) !== value; count++) name = `${wanted}_${count}`;
    values.set(name, value);
    variables.push({ name, server, field });
    return `\${${name}}`;
  };
  const keep = (field: string, text: string): string => {
    for (const [, id = ""] of text.matchAll(/\$\{input:([^}]*)\}/g))
      variables.push({ name: inputVariable(id), server, field });
    return text;
  };
  const literal = (value: unknown): boolean => typeof value !== "string" || !value.includes("${");

  const texts = (field: string, value: unknown): unknown => {
    if (!isPlainObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, given]) => {
        const at = `${field}.${key}`;
        if (!literal(given)) return [key, keep(at, String(given))];
        const [, scheme = ""] = /^((?:Bearer|Basic|Token) )/i.exec(String(given)) ?? [];
        return [key, `${scheme}${refer(at, key, String(given).slice(scheme.length))}`];
      }),
    );
  };
  const args = (value: unknown): unknown => {
    if (!Array.isArray(value)) return value;
    return value.map((argument: unknown, index) => {
      const field = `args.${index}`;
      if (typeof argument !== "string") return argument;
      if (!literal(argument)) return keep(field, argument);
      const before: unknown = value[index - 1];
      const flag = typeof before === "string" && /^--?[\w-]+$/.test(before) && !argument.startsWith("-") ? before : "";
      if (SECRET_NAME.test(flag)) return refer(field, flag, argument);
      const [, assigned = ""] = /^(-{0,2}[\w-]+)=./.exec(argument) ?? [];
      if (SECRET_NAME.test(assigned))
        return `${assigned}=${refer(field, assigned, argument.slice(assigned.length + 1))}`;
      return SECRET_SHAPE.test(argument) || SECRET_ADDRESS.test(argument)
        ? refer(field, `arg_${index}`, argument)
        : argument;
    });
  };
  const address = (field: string, value: unknown): unknown => {
    if (typeof value !== "string") return value;
    if (!literal(value)) return keep(field, value);
    return SECRET_ADDRESS.test(value) ? refer(field, "url", value) : value;
  };
  const oauth = (field: string, value: unknown): unknown => {
    if (!isPlainObject(value)) return value;
    const members = Object.entries(value).map(([key, given]) => {
      const isSecret = /secret/i.test(key) && literal(given);
      return [key, isSecret && typeof given === "string" ? refer(`${field}.${key}`, key, given) : given];
    });
    return Object.fromEntries(members);
  };

  const members = Object.entries(entry).map(([key, value]) => {
    if (key === "env" || key === "headers") return [key, texts(key, value)];
    if (key === "args") return [key, args(value)];
    if (key === "oauth" || key === "auth") return [key, oauth(key, value)];
    return [key, /url$|^endpoint$/i.test(key) ? address(key, value) : value];
  });
  return { entry: Object.fromEntries(members) as ServerEntry, variables };
}
