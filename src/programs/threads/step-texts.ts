/**
 * The texts between the gateway and the thread of a program. The thread answers each text with one text, or with the end of the program. A text costs
 * a fraction of an object with the same content.
 */
import type { GuestCall, GuestReply } from "../program.ts";

/** Writes results as a count and a list of `[number, time, isError, value]`. Values are already JSON. */
export function toRepliesText(replies: readonly GuestReply[]): string {
  const texts = replies.map((reply) => {
    const { id, now } = reply;
    if ("error" in reply) return `[${id},${now},true,${JSON.stringify(reply.error)}]`;
    return reply.value === undefined ? `[${id},${now},false]` : `[${id},${now},false,${reply.value}]`;
  });
  return `${replies.length}[${texts.join()}]`;
}

export function fromRepliesText(text: string): { readonly count: number; readonly list: string } {
  const at = text.indexOf("[");
  return { count: Number(text.slice(0, at)), list: text.slice(at) };
}

/** Writes a step: the number of calls that the program waits for, and the calls in the format of the program's channel. */
export function toStepText(waiting: number, calls: string): string {
  return `${waiting}\n${calls}`;
}

export function fromStepText(text: string): { readonly waiting: number; readonly calls: readonly GuestCall[] } {
  const lines = text.split("\n");
  const calls: GuestCall[] = [];
  for (let at = 1; at + 2 < lines.length; at += 3)
    calls.push({
      id: Number(lines[at]),
      tool: JSON.parse(lines[at + 1] as string) as string,
      args: lines[at + 2] as string,
    });
  return { waiting: Number(lines[0]), calls };
}
