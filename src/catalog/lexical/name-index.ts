import type { Tool } from "../../tool/tool.ts";

/** Tools by their bare names, which several namespaces may use. */
export interface NameIndex {
  get(name: string): readonly Tool[];
  add(tool: Tool): void;
  remove(tool: Tool): void;
}

export function createNameIndex(): NameIndex {
  const byName = new Map<string, Map<string, Tool>>();
  return {
    get: (name) => [...(byName.get(name)?.values() ?? [])],
    add(tool) {
      const sharing = byName.get(tool.name);
      if (sharing) sharing.set(tool.id, tool);
      else byName.set(tool.name, new Map([[tool.id, tool]]));
    },
    remove({ id, name }) {
      const sharing = byName.get(name);
      sharing?.delete(id);
      if (sharing?.size === 0) byName.delete(name);
    },
  };
}
