import { describe, it } from "vitest";
import { stateContract } from "../../testing/state.contract.ts";
import { memoryState } from "./memory.ts";

describe("memoryState, as a state", () => {
  for (const { name, run } of stateContract((clock) => ({ adapter: memoryState({ clock }) }))) it(name, run);
});
