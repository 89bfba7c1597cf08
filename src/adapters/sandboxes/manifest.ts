/** Sandboxes by name, each loaded when it is first used. A new one is one line here; see CONTRIBUTING.md. */
export const sandboxes = {
  none: () => import("./none/none.ts"),
  subprocess: () => import("./subprocess/subprocess.ts"),
  docker: () => import("./docker/docker.ts"),
  bubblewrap: () => import("./bubblewrap/bubblewrap.ts"),
  isolate: () => import("./isolate/isolate.ts"),
};
