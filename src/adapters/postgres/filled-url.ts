import { hasSecret } from "../../guard/secrets/reference.ts";
import type { Secrets, SecretUse } from "../../guard/secrets/secrets.ts";

/** Resolves the references in a URL: all of it, or its password, which may then have any characters. */
export async function filledUrl(url: string, secrets: Secrets, use: SecretUse): Promise<string> {
  const [, before = "", password = "", rest = ""] = /^(\w+:\/\/[^:]*:)(.*)(@[^@]*)$/s.exec(url) ?? [];
  if (!hasSecret(password)) return secrets.fill(url, use);
  return before + encodeURIComponent(await secrets.fill(password, use)) + rest;
}
