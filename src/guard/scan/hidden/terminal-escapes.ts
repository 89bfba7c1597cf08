/** A sequence that steers a terminal, and what it does to what a person sees there. */
export interface TerminalEscape {
  readonly effect: "colour" | "conceal" | "steer" | "text";
  /** What it carries and a terminal does not show: the address of a link, a title. */
  readonly hidden: string;
}

/** Everything that begins with ESC or its one-character forms, as the inside of a regular expression. Each part is bounded, so reading is linear. */
export const TERMINAL_ESCAPE: string = [
  String.raw`(?:\x1B\[|\x9B)[0-?]{0,64}[ -/]{0,8}[@-~]?`,
  String.raw`(?:\x1B[\]PX^_]|[\x90\x98\x9D\x9E\x9F])[^\x07\x1B\x90\x98\x9B-\x9F]{0,4096}(?:\x07|\x1B\\|\x9C)?`,
  String.raw`\x1B[ -/]{0,4}[0-~]?`,
].join("|");

const CONTROL = new RegExp(String.raw`^(?:\x1B\[|\x9B)([0-9;:]*)(.?)$`, "s");
const CARRIES = new RegExp(String.raw`^(?:\x1B[\]PX^_]|[\x90\x98\x9D\x9E\x9F])([^\x07\x1B\x9C]*)`);

/** Says what one escape sequence does. */
export function readEscape(sequence: string): TerminalEscape {
  const control = CONTROL.exec(sequence);
  if (control === null) {
    const carried = CARRIES.exec(sequence)?.[1];
    return carried === undefined ? { effect: "steer", hidden: "" } : { effect: "text", hidden: carried };
  }
  const [, parameters = "", final] = control;
  if (final !== "m") return { effect: "steer", hidden: "" };
  return { effect: conceals(parameters.split(/[;:]/)) ? "conceal" : "colour", hidden: "" };
}

/** True for the attribute "concealed", and for a letter in the colour of its ground. */
function conceals(attributes: readonly string[]): boolean {
  // In 38;5;N and 38;2;R;G;B the numbers after 38 are a colour and no attribute.
  const extended = attributes.findIndex((attribute) => attribute === "38" || attribute === "48");
  const plain = extended < 0 ? attributes : attributes.slice(0, extended);
  if (plain.includes("8")) return true;
  const tens = (from: number): string | undefined =>
    plain.find((attribute) => Math.floor(Number(attribute) / 10) === from);
  const [letter, ground] = [tens(3) ?? tens(9), tens(4) ?? tens(10)];
  return letter !== undefined && ground !== undefined && letter.at(-1) === ground.at(-1);
}
