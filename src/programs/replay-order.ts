import type { GuestReply } from "./program.ts";

/**
 * Passes replies on in the order in which they ended before the program was suspended; new replies follow in the order in which they arrive. So a
 * repeated program makes the same decisions, even if its calls run in parallel.
 */
export function createReplayOrder(recorded: readonly string[], send: (reply: GuestReply) => void) {
  const expected = new Set(recorded);
  const early = new Map<string, GuestReply>();
  const later: GuestReply[] = [];
  let next = 0;

  function drain(): void {
    for (; next < recorded.length; next++) {
      const key = recorded[next] as string;
      const reply = early.get(key);
      if (reply === undefined) return;
      early.delete(key);
      send(reply);
    }
    for (const reply of later.splice(0)) send(reply);
  }

  return {
    add(key: string, reply: GuestReply): void {
      if (expected.has(key) && next < recorded.length) early.set(key, reply);
      else later.push(reply);
      drain();
    },
    /** Releases replies that are held back for a step that the program does not take in this run. Returns false if no replies are held back. */
    release(): boolean {
      const held = [...early.values(), ...later];
      early.clear();
      later.length = 0;
      next = recorded.length;
      for (const reply of held) send(reply);
      return held.length > 0;
    },
  };
}
