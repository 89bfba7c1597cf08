import { isWrittenOutSecret } from "./fill-members.ts";

/** Returns the secrets written out in an address: the password before the host, and query parameters whose name says they are secrets. */
export function secretsInAddress(address: string): readonly string[] {
  const url = URL.parse(address);
  if (url === null) return [];
  const parameters = [...url.searchParams].filter(([name, value]) => isWrittenOutSecret(name, value));
  const secrets = parameters.map(([, value]) => value);
  return url.password === "" ? secrets : [decoded(url.password), ...secrets];
}

/** Returns the secrets written out in a program's arguments: `--api-key=VALUE` and `--api-key VALUE`. */
export function secretsInArguments(args: readonly string[]): readonly string[] {
  return args.flatMap((argument, index) => {
    const [, flag, joined] = /^-{1,2}([^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
    const value = joined ?? args[index + 1];
    return flag !== undefined && value !== undefined && isWrittenOutSecret(flag, value) ? [value] : [];
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
