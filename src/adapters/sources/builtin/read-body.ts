import { ArsenalError, isArsenalError } from "../../../errors/arsenal-error.ts";
import type { EgressResponse } from "../../../guard/egress/egress.ts";

/** The whole body of an answer. Its length is bounded by the request. */
export async function readBody({ body }: EgressResponse): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Runs a request that changes nothing anywhere: where its answer is lost, nobody needs to ask whether it took effect. */
export async function withoutEffect<Result>(request: () => Promise<Result>): Promise<Result> {
  try {
    return await request();
  } catch (error) {
    if (!isArsenalError(error)) throw error;
    throw new ArsenalError(error.code, error.message, { ...error.details, answered: true, cause: error });
  }
}

/** Bytes as JSON can hold them: text where they are UTF-8, base64 otherwise. */
export function toContent(bytes: Buffer): { readonly content: string; readonly encoding: "utf-8" | "base64" } {
  try {
    return { content: STRICT.decode(bytes), encoding: "utf-8" };
  } catch {
    return { content: bytes.toString("base64"), encoding: "base64" };
  }
}

const STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
