/** Scanners by name, each loaded when it is first used. A new one is one line here; see CONTRIBUTING.md. */
export const scanners = {
  wording: () => import("./wording/wording.ts"),
};
