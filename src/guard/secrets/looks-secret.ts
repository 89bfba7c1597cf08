import { decodePercent } from "../../tool/schema/keywords.ts";
import { findPatterns } from "../redaction/secret-patterns.ts";

const SECRET_NAME =
  /key|token|secret|passw|passphrase|passwd|pwd|credential|auth|cookie|session|bearer|signature|(?:^|[_-])(?:pat|dsn|pin|jwt|otp|salt)(?:$|[_-])/i;
/** Names that mention tokens and keys but are not secrets: `MAX_TOKENS`, `KEY_COUNT`, `AUTH_MODE`. */
const SETTING_NAME =
  /(?:^|[_-])(?:max|min|limit|count|size|ttl|timeout|expiry|mode|type|method|enabled|author|authors|keyboard|keyword|keywords|tokenizers?)(?:$|[_-])/i;
const SECRET_SHAPE = /^(?:sk-|ghp_|gho_|github_pat_|glpat-|xox[a-z]-|AKIA|eyJ|ya29\.|AIza)[\w.-]{8,}/;
const SECRET_ADDRESS = /:\/\/[^/\s@]+@|[?&][^=&]*(?:key|token|secret|sig|auth|passw)[^=&]*=[^&$]/i;
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i;
const PATH = /^(?:~|\.{1,2})?[\\/]|^[A-Za-z]:[\\/]/;

/** Names of secrets: `X-Api-Key`, `GITHUB_TOKEN`, `--access-token`. */
const CREDENTIAL_NAME =
  /(?:^|[-_.])(?:auth|authorization|cookie|credentials?|api-?key|key|pass|passwd|password|pat|pwd|secret|token)$/i;
/** Shorter literal values may be ordinary words, even under the name of a secret. */
const MIN_WRITTEN_OUT = 12;

/** Returns whether a variable, a header or a flag with this name holds a secret value. */
export function looksSecret(name: string, value: string): boolean {
  if (value === "" || /^(?:true|false|null|none|on|off|yes|no)$/i.test(value)) return false;
  if (ADDRESS.test(value)) return isSecretAddress(value);
  if (isSecretText(value)) return true;
  return isSecretName(name) && !PATH.test(value);
}

/** Returns whether a text is a secret under any name: it has the form of a known key, or is an address that contains one. */
export function isSecretText(value: string): boolean {
  if (ADDRESS.test(value)) return isSecretAddress(value);
  return SECRET_SHAPE.test(value) || findPatterns(value).length > 0 || isRandom(value);
}

/** Returns whether an address contains a password, a key in its query, or a path that only its owner knows. */
export function isSecretAddress(value: string): boolean {
  if (SECRET_ADDRESS.test(value)) return true;
  if (!/^(?:https?|wss?):/i.test(value)) return false;
  return value
    .replace(/[?#].*$/s, "")
    .split("/")
    .slice(3)
    .some(isRandom);
}

/** Returns whether a flag or variable names a secret: `--api-key`, `GITHUB_TOKEN`. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !SETTING_NAME.test(name);
}

/** Returns true for at least 24 letters and digits that alternate often, unlike words and versions. */
function isRandom(value: string): boolean {
  if (!/^[A-Za-z0-9_+=-]{24,}$/.test(value)) return false;
  const changes = value.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0;
  return changes >= 5;
}

/** Returns true for a value that is a secret by its name or form, and is too long to be an ordinary word. */
export function isWrittenOutSecret(name: string, value: string): boolean {
  return value.length >= MIN_WRITTEN_OUT && (CREDENTIAL_NAME.test(name) || isSecretText(value));
}

/** Returns the literal secrets in an address: the password before the host, and query parameters that are named like secrets. */
export function secretsInAddress(address: string): readonly string[] {
  const url = URL.parse(address);
  if (url === null) return [];
  const parameters = [...url.searchParams].filter(([name, value]) => isWrittenOutSecret(name, value));
  const secrets = parameters.map(([, value]) => value);
  return url.password === "" ? secrets : [decodePercent(url.password), ...secrets];
}

/** Returns the literal secrets in a program's arguments: `--api-key=VALUE` and `--api-key VALUE`. */
export function secretsInArguments(args: readonly string[]): readonly string[] {
  return args.flatMap((argument, index) => {
    const [, flag, joined] = /^-{1,2}([^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
    const value = joined ?? args[index + 1];
    return flag !== undefined && value !== undefined && isWrittenOutSecret(flag, value) ? [value] : [];
  });
}
