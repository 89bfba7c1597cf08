/** Language models by name, each loaded when it is first used. A new one is one line here; see CONTRIBUTING.md. */
export const llms = {
  openai: () => import("./openai.ts"),
};
