/** Scanners by name, each loaded on first use. A new scanner is one line here; see CONTRIBUTING.md. */
export const scanners = {
  wording: () => import("./wording/wording.ts"),
};
