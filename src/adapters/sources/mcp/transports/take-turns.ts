import type { InputStream } from "../../../../tool/streams.ts";

/** What may be read of one stream before everything else has its turn. */
const TURN_BYTES = 256 * 1024;

/** Has a stream that comes fast take turns with everything else. The function is called with the size of each piece that was read. */
export function takeTurns(stream: Pick<InputStream, "pause" | "resume">): (bytes: number) => void {
  let taken = 0;
  return (bytes) => {
    taken += bytes;
    if (taken < TURN_BYTES) return;
    taken = 0;
    stream.pause();
    setImmediate(() => stream.resume());
  };
}
