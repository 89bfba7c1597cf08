import { hasSecret } from "../../guard/secrets/reference.ts";
import type { Secrets, SecretUse } from "../../guard/secrets/secrets.ts";

/** Resolves a reference in a URL: the whole URL, or its password. A referenced password may have any characters. */
export async function filledUrl(url: string, secrets: Secrets, use: SecretUse): Promise<string> {
  const [, before = "", password = "", rest = ""] = /^(\w+:\/\/[^:]*:)(.*)(@[^@]*)$/s.exec(url) ?? [];
  if (!hasSecret(password)) return secrets.fill(url, use);
  return before + encodeURIComponent(await secrets.fill(password, use)) + rest;
}
