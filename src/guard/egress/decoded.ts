import type { IncomingMessage } from "node:http";
import { pipeline, Transform, type Duplex, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { ArsenalError } from "../../errors/arsenal-error.ts";

const DECODERS: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Encodings of a body that are undone, as `accept-encoding` names them. */
export const ENCODINGS: string = Object.keys(DECODERS).join(", ");

/** An answer's body, decompressed, that fails once it is longer than allowed: a small answer cannot unfold into a huge one. */
export function decoded(answer: IncomingMessage, maxBytes: number): Readable {
  const encoding = answer.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity" && !Object.hasOwn(DECODERS, encoding)) {
    answer.destroy();
    const message = `The answer is encoded as ${JSON.stringify(encoding)}, which was not asked for`;
    throw new ArsenalError("PROTOCOL_ERROR", message, { field: "content-encoding", value: encoding });
  }
  const decoder = DECODERS[encoding]?.();
  // Node reads no more than the length that an answer announces.
  const length = Number(answer.headers["content-length"] ?? Number.POSITIVE_INFINITY);
  const limit = !decoder && length <= maxBytes ? [] : [limited(maxBytes)];
  const stages = decoder ? [decoder, ...limit] : limit;
  // Whoever reads the body learns of a failure from the body itself.
  return stages.length === 0 ? answer : (pipeline([answer, ...stages], () => {}) as unknown as Readable);
}

function limited(maxBytes: number): Transform {
  let count = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      count += chunk.length;
      if (count <= maxBytes) return done(null, chunk);
      const fix = "Ask for less, or raise the limit.";
      done(new ArsenalError("PROTOCOL_ERROR", `The answer is longer than ${maxBytes} bytes. ${fix}`, { fix }));
    },
  });
}
