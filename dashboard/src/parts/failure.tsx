import { isArsenalError } from "../../../src/client/index.ts";
import { inWords } from "./error-words.ts";

export function messageOf(error: unknown): string {
  if (isArsenalError(error)) return inWords(error);
  return error instanceof Error ? error.message : String(error);
}

export function Failure({ error }: { readonly error: unknown }) {
  return (
    <p role="alert" class="bad">
      {messageOf(error)}
    </p>
  );
}
