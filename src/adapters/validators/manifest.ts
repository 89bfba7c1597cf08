/** Validators by name, each loaded on first use. A new validator is one line here; see CONTRIBUTING.md. */
export const validators = {
  "json-schema": () => import("./json-schema/json-schema.ts"),
};
