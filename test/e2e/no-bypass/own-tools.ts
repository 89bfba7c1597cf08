import type { ToolArsenal } from "../../../src/index.ts";

/** Function tools like those of the servers, in namespaces that the same rules match. */
export default function registerOwnTools(arsenal: ToolArsenal): void {
  for (const verdict of ["open", "closed", "secret", "waits"])
    for (const name of ["echo", "check"])
      arsenal.register(
        {
          name,
          namespace: `${verdict}_own`,
          description: "Repeats a text.",
          parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
        },
        ({ text }) => text,
      );
}
