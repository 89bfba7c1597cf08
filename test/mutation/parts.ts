/** A part of the guard that is mutated on its own, with the tests that answer for it: the fewer tests a mutant meets, the sooner it is judged. */
export interface Part {
  readonly name: string;
  readonly mutate: readonly string[];
  readonly tests: readonly string[];
}

/** Every source file below `src/guard` is of exactly one part. */
export const PARTS: readonly Part[] = [
  {
    ...folder("rules", "scan/rules"),
    // How long rules take says nothing about what they find, and costs a second for every change.
    tests: ["src/guard/scan/rules/!(linear-time).test.ts"],
  },
  {
    name: "scan",
    mutate: ["src/guard/scan/*.ts", "src/guard/scan/{hidden,texts}/*.ts"],
    tests: ["src/guard/scan/*.test.ts", "src/guard/scan/{hidden,texts}/*.test.ts"],
  },
  folder("redaction", "redaction"),
  folder("secrets", "secrets"),
  folder("pins", "pins"),
  folder("egress", "egress"),
  { ...folder("audit", "audit"), tests: ["src/guard/audit/*.test.ts", "src/adapters/audit/*.test.ts"] },
  {
    name: "aegis",
    mutate: ["src/guard/*.ts", "src/guard/{approvals,identity,limits,webhook}/*.ts"],
    tests: [
      "src/guard/*.test.ts",
      "src/guard/{approvals,identity,limits,webhook}/*.test.ts",
      "src/execute/engine*.test.ts",
      "src/adapters/state/*.test.ts",
    ],
  },
];

function folder(name: string, path: string): Part {
  return { name, mutate: [`src/guard/${path}/**/*.ts`], tests: [`src/guard/${path}/**/*.test.ts`] };
}
