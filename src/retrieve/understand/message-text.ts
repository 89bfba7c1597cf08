import { isPlainObject } from "../../tool/json-schema.ts";
import type { Message } from "../query.ts";

/** What a message says in words: its text, or the text of its parts. Calls, images and the like say nothing. */
export function messageText({ content }: Message): string {
  if (typeof content === "string") return content;
  return (content ?? [])
    .flatMap((part) => (isPlainObject(part) && typeof part["text"] === "string" ? [part["text"]] : []))
    .join("\n");
}
