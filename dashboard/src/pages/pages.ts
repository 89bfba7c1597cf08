import type { ComponentType } from "preact";
import { Overview } from "./overview.tsx";
import { Playground } from "./playground.tsx";

/** A page, by the name that its address has. */
export interface PageEntry {
  readonly name: string;
  readonly title: string;
  readonly page: ComponentType;
}

/** Every page, in the order of the navigation. */
export const PAGES: readonly PageEntry[] = [
  { name: "", title: "Overview", page: Overview },
  { name: "playground", title: "Playground", page: Playground },
];
