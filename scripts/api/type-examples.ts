/** Finds an example for each exported type: a program that names it, or the example of what takes or returns it. */
import {
  bodyOf,
  type Declaration,
  declarationOf,
  type EntryPoint,
  isType,
  membersOf,
  signatureOf,
} from "./declarations.ts";
import { configurations, exampleOf, type Program } from "./programs.ts";

/** The example of a type: a program of the docs, or the section of a function on the page of its entry point. */
export interface TypeExample {
  readonly target: Program | { readonly entry: string; readonly value: string };
  /** The types between the example and this one, nearest to the example first: the example is theirs. */
  readonly through: readonly string[];
}

interface Surface extends EntryPoint {
  readonly declared: ReadonlyMap<string, Declaration | undefined>;
  /** Functions, classes and constants. */
  readonly shown: readonly string[];
  readonly typeNames: readonly string[];
  readonly found: Map<string, TypeExample>;
}

/** Returns the examples of the types of every entry point, by entry point and name. */
export function typeExamples(
  points: readonly EntryPoint[],
  programs: readonly Program[],
): ReadonlyMap<string, ReadonlyMap<string, TypeExample>> {
  const surfaces = points.map(surfaceOf);
  for (const surface of surfaces)
    for (const name of surface.typeNames) {
      const target = directExample(surface, name, programs);
      if (target !== undefined) surface.found.set(name, { target, through: [] });
    }
  spread(surfaces, programs);
  return new Map(surfaces.map(({ entry, found }) => [entry, found]));
}

function surfaceOf(point: EntryPoint): Surface {
  const names = [...point.values, ...point.types];
  const declared = new Map(names.map((name) => [name, declarationOf(point.path, name)]));
  const [typeNames, shown] = [
    names.filter((name) => point.types.includes(name) || isType(declared.get(name))),
    point.values.filter((name) => !isType(declared.get(name))),
  ];
  return { ...point, declared, shown, typeNames, found: new Map() };
}

/** A program that imports the type, a function that takes or returns it, or a program that calls a member that does. */
function directExample(
  surface: Surface,
  name: string,
  programs: readonly Program[],
): TypeExample["target"] | undefined {
  const { entry, shown, declared } = surface;
  const program = exampleOf(programs, entry, name);
  if (program !== undefined) return program;
  const value = shown.find(
    (each) => mentions(headOf(declared.get(each)), name) || mentions(bodyOf(declared.get(name)), `typeof ${each}`),
  );
  if (value !== undefined) return { entry, value };
  return memberExample(surface, name, programs) ?? classExample(surface, name) ?? configurationExample(surface, name);
}

/** The shortest program that uses a member which takes or returns the type. */
function memberExample(surface: Surface, name: string, programs: readonly Program[]): Program | undefined {
  return receiversOf(surface, programs)
    .flatMap(({ owner, receiver, maker }) =>
      membersOf(surface.declared.get(owner))
        .filter(({ text }) => mentions(text, name))
        .map((member) => ({
          maker,
          pattern: new RegExp(`(?:${receiver})\\s*\\.${member.name.replace(".", "\\s*\\.")}\\b`),
        })),
    )
    .flatMap(({ maker, pattern }) => programs.filter(({ code }) => pattern.test(code) && mentions(code, maker)))
    .sort(byLength)[0];
}

const byLength = (a: Program, b: Program): number => a.code.length - b.code.length;

function classExample({ entry, shown, declared }: Surface, name: string): TypeExample["target"] | undefined {
  const value = shown.find(
    (each) => declared.get(each)?.kind === "class" && mentions(bodyOf(declared.get(each)), name),
  );
  return value === undefined ? undefined : { entry, value };
}

/** The shortest configuration of the docs that sets the section of this type. */
function configurationExample({ declared }: Surface, name: string): Program | undefined {
  const keys = sectionOf(declared, name);
  if (keys.length === 0) return undefined;
  const lines = keys.map((key) => `\\b${key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}:[^]*?`);
  const pattern = new RegExp(`^${lines.join("")}`, "m");
  return configurations()
    .filter(({ code }) => pattern.test(code))
    .sort(byLength)[0];
}

/** The keys that lead to a section of the configuration, as `Section<"security">` and `Subsection<SecurityConfig, "rates">` name them. */
function sectionOf(declared: Surface["declared"], name: string): readonly string[] {
  const text = declared.get(name)?.text ?? "";
  const [, section] = /^\w+ = Section<"(\w+)">/.exec(text) ?? [];
  if (section !== undefined) return [section];
  const [, owner = "", part = ""] = /^\w+ = Subsection<(\w+), "(\w+)">/.exec(text) ?? [];
  return part === "" ? [] : [...sectionOf(declared, owner), part];
}

/** How programs reach the members of a class or an interface. */
interface Receiver {
  readonly owner: string;
  /** A pattern for what stands before the member: `arsenal`, `createClient(…)`, `client.approvals`. */
  readonly receiver: string;
  /** The class or function that makes the object. */
  readonly maker: string;
}

const receivers = new Map<Surface, readonly Receiver[]>();

function receiversOf(surface: Surface, programs: readonly Program[]): readonly Receiver[] {
  const known = receivers.get(surface);
  if (known !== undefined) return known;
  const { shown, declared, typeNames } = surface;
  const made = shown.flatMap((maker) => {
    const declaration = declared.get(maker);
    const returned = /\): (?:Promise<)?(\w+)/.exec(signatureOf(declaration?.text ?? ""))?.[1] ?? "";
    const owner = declaration?.kind === "class" ? maker : returned;
    if (owner !== maker && !typeNames.includes(owner)) return [];
    const assigned = new RegExp(`const (\\w+) = (?:await |new )*${maker}\\(`, "g");
    const variables = programs.flatMap(({ code }) => [...code.matchAll(assigned)].map(([, variable = ""]) => variable));
    const names = maker === "ToolArsenal" ? [...variables, "arsenal"] : variables;
    return [`${maker}\\([^)]*\\)`, ...new Set(names)].map((each) => ({
      owner,
      receiver: `\\b${each}`,
      maker: each === "arsenal" ? each : maker,
    }));
  });
  const widened = [...made, ...made.flatMap((each) => basesOf(surface, each))];
  const nested = widened.flatMap((each) => propertiesOf(surface, each));
  const all = [...widened, ...nested, ...nested.flatMap((each) => basesOf(surface, each))];
  receivers.set(surface, all);
  return all;
}

/** The interfaces that an interface extends have the same receiver. */
function basesOf(surface: Surface, { owner, ...rest }: Receiver): readonly Receiver[] {
  const { declared, typeNames } = surface;
  const [, list = ""] = /^\w+(?:<[^{]*>)? extends ([^{]*)\{/.exec(declared.get(owner)?.text ?? "") ?? [];
  return typeNames
    .filter((name) => mentions(list, name))
    .map((name) => ({ owner: name, ...rest }))
    .flatMap((base) => [base, ...basesOf(surface, base)]);
}

function propertiesOf({ declared, typeNames }: Surface, { owner, receiver, maker }: Receiver): readonly Receiver[] {
  return membersOf(declared.get(owner)).flatMap(({ name, text }) => {
    const type = /^\w+\??: (\w+)/.exec(text)?.[1] ?? "";
    return typeNames.includes(type) ? [{ owner: type, receiver: `${receiver}\\s*\\.${name}`, maker }] : [];
  });
}

/** Gives each type without an example that of a type which contains it, nearest first; then that of another entry point. */
function spread(surfaces: readonly Surface[], programs: readonly Program[]): void {
  for (let isChanged = true; isChanged;) {
    isChanged = false;
    for (const surface of surfaces) {
      const added = surface.typeNames
        .filter((name) => !surface.found.has(name))
        .flatMap((name) => {
          const example = containerExample(surface, name);
          return example === undefined ? [] : ([[name, example]] as const);
        });
      for (const [name, example] of added) surface.found.set(name, example);
      isChanged ||= added.length > 0;
    }
    if (isChanged) continue;
    for (const surface of surfaces) isChanged = borrow(surface, surfaces, programs) || isChanged;
  }
}

function containerExample({ typeNames, declared, found }: Surface, name: string): TypeExample | undefined {
  const [container] = typeNames
    .filter((other) => other !== name && found.has(other))
    .filter((other) => mentions(bodyOf(declared.get(other)), name) || isPartOf(bodyOf(declared.get(name)), other))
    .sort((a, b) => (found.get(a)?.through.length ?? 0) - (found.get(b)?.through.length ?? 0));
  const example = container === undefined ? undefined : found.get(container);
  return example && container !== undefined
    ? { target: example.target, through: [...example.through, container] }
    : undefined;
}

/** True if a type is read from another one: `NonNullable<HttpSettings["oauth"]>`. */
const isPartOf = (body: string, owner: string): boolean => body.includes(`${owner}["`);

/** Takes the example that another entry point has for the same type, or a function there that takes or returns it. */
function borrow(surface: Surface, surfaces: readonly Surface[], programs: readonly Program[]): boolean {
  const others = surfaces.filter((other) => other !== surface);
  let isChanged = false;
  for (const name of surface.typeNames.filter((each) => !surface.found.has(each))) {
    const own = surface.declared.get(name)?.text;
    const same = others.find((other) => other.found.has(name) && other.declared.get(name)?.text === own);
    const example = same?.found.get(name) ?? exampleElsewhere(others, name, programs);
    if (example === undefined) continue;
    surface.found.set(name, example);
    isChanged = true;
  }
  return isChanged;
}

function exampleElsewhere(
  others: readonly Surface[],
  name: string,
  programs: readonly Program[],
): TypeExample | undefined {
  for (const other of others) {
    const { entry, shown, declared } = other;
    const value = shown.find((each) => mentions(headOf(declared.get(each)), name));
    const target = value === undefined ? memberExample(other, name, programs) : { entry, value };
    if (target !== undefined) return { target, through: [] };
  }
  return undefined;
}

/** The signature of a function, or the first statement of a constant. A class has members instead. */
function headOf(declaration: Declaration | undefined): string {
  if (declaration === undefined || declaration.kind === "class") return "";
  return declaration.kind === "const" ? (/^[^]*?;$/m.exec(declaration.text)?.[0] ?? "") : signatureOf(declaration.text);
}

const mentions = (text: string, name: string): boolean => new RegExp(`\\b${name}\\b`).test(text);
