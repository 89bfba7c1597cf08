import type { ToolArsenal } from "toolarsenal";

declare global {
  /** What a reader of the docs takes for granted. A snippet that declares a name of its own hides it. */
  const arsenal: ToolArsenal;
}
