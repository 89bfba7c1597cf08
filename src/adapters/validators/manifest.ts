/** Validators by name, each loaded when it is first used. A new one is one line here; see CONTRIBUTING.md. */
export const validators = {
  "json-schema": () => import("./json-schema/json-schema.ts"),
};
