interface Group {
  readonly start: number;
  /** Whether something in it is repeated without bound. */
  repeats: boolean;
}

/**
 * The parts of an expression that are repeated without bound and hold something that is too, such as `(?:a+)*`. An engine that tries one way after
 * another may need time without end for these. Reads the expression and runs nothing, so that no other load on the machine matters.
 */
export function nestedRepetitions({ source }: RegExp): readonly string[] {
  const found: string[] = [];
  const open: Group[] = [{ start: 0, repeats: false }];
  for (let place = 0; place < source.length;) {
    const rest = source.slice(place);
    if (rest.startsWith("(")) {
      open.push({ start: place, repeats: false });
      place++;
      continue;
    }
    const closed = rest.startsWith(")") ? open.pop() : undefined;
    const [atom = ""] = /^(?:\\.|\[(?:\\.|[^\]\\])*\]|.)/su.exec(rest) ?? [];
    const [repetition = ""] = /^(?:[*+]|\{\d+,\})/.exec(rest.slice(atom.length)) ?? [];
    const around = open.at(-1);
    if (around === undefined) throw new Error(`the brackets of ${source} do not match`);
    if (repetition !== "" && closed?.repeats === true)
      found.push(source.slice(closed.start, place + atom.length + repetition.length));
    if (repetition !== "" || closed?.repeats === true) around.repeats = true;
    place += atom.length + repetition.length;
  }
  return found;
}
