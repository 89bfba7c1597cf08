import { options, type VNode } from "preact";
import { shownText } from "../../src/errors/visible-text.ts";

/** Attributes that the user sees. Typed values are not changed. */
const READ = ["title", "aria-label", "placeholder", "label", "alt"] as const;

/** Makes hidden characters visible in texts of agents and servers on every page: each element passes through here before it is rendered. */
export function showHiddenCharacters(): void {
  const before = options.vnode;
  options.vnode = (vnode) => {
    if (typeof vnode.type === "string") showIn(vnode as VNode<Record<string, unknown>>);
    before?.(vnode);
  };
}

function showIn({ props }: VNode<Record<string, unknown>>): void {
  if (props.children !== undefined) props.children = shown(props.children) as typeof props.children;
  for (const name of READ) {
    const value = props[name];
    if (typeof value === "string") props[name] = shownText(value);
  }
}

function shown(children: unknown): unknown {
  if (typeof children === "string") return shownText(children);
  return Array.isArray(children) ? children.map(shown) : children;
}
