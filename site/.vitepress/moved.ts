/** Pages that were directly in docs/, by the folder they are in now. Their old addresses redirect. */
const PAGES: Readonly<Record<string, string>> = {
  concepts: "comparison execution extensions identity retrieval security state",
  guides:
    "agent-loop agents approvals audit backup bundles client code-mode connections conversations dashboard deployment dialects effect egress " +
    "ensembles evaluation gateway observability operating pins policy provider-search python registry replicas sandboxes scanning secrets " +
    "surfaces teams tools tools-from-files toolsets upgrading vector-databases workflows",
  reference: "a2a command-line configuration errors events rest",
};

/** Folders of docs/ that moved with everything in them. */
const FOLDERS: Readonly<Record<string, string>> = {
  adapters: "reference/adapters",
  integrations: "guides/integrations",
  walkthroughs: "guides/walkthroughs",
};

/** The old and the new path of every page that moved, without its ending: `policy` is `guides/policy` now. */
export function movedPages(pages: readonly string[]): ReadonlyMap<string, string> {
  const single = Object.entries(PAGES).flatMap(([folder, names]) =>
    names.split(" ").map((name) => [name, `${folder}/${name}`] as const),
  );
  const inFolders = Object.entries(FOLDERS).flatMap(([before, now]) =>
    pages
      .filter((page) => page.startsWith(`${now}/`))
      .map((page) => [`${before}${page.slice(now.length)}`, page] as const),
  );
  return new Map([...single, ...inFolders]);
}

/** A page at an old address that leads to the new one, with the section that was asked for. */
export function forwardingPage(link: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>This page has moved</title>
<link rel="canonical" href="${link}">
<script>location.replace("${link}" + location.hash)</script>
<noscript><meta http-equiv="refresh" content="0; url=${link}"></noscript>
</head>
<body><p>This page has moved: <a href="${link}">read it at its new address</a>.</p></body>
</html>
`;
}
