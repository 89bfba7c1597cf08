/** Sandboxes by name, each loaded on first use. A new sandbox is one line here; see CONTRIBUTING.md. */
export const sandboxes = {
  none: () => import("./none/none.ts"),
  subprocess: () => import("./subprocess/subprocess.ts"),
  docker: () => import("./docker/docker.ts"),
  bubblewrap: () => import("./bubblewrap/bubblewrap.ts"),
  isolate: () => import("./isolate/isolate.ts"),
};
