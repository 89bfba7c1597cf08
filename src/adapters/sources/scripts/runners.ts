/**
 * Calls an exported function. Reads the module, the function and the arguments from stdin. Writes the result as JSON after a mark; the function's own
 * output comes before the mark.
 */
export const NODE_RUNNER = `
import { readFileSync } from "node:fs";
const { mark, url, entry, names, args } = JSON.parse(readFileSync(0, "utf8"));
const end = (stream, text, code) => stream.write(text, () => process.exit(code));
try {
  const exported = await import(url);
  const all = exported.default?.default ?? exported.default;
  const run = entry === "default" ? all : exported[entry] ?? all?.[entry];
  if (typeof run !== "function") throw new TypeError("The module does not export the function " + entry + ".");
  const result = await (names === undefined ? run(args) : run(...names.map((name) => args[name])));
  end(process.stdout, mark + (JSON.stringify(result) ?? "null"), 0);
} catch (error) {
  end(process.stderr, (error instanceof Error ? error.stack : String(error)) + "\\n", 1);
}
`;

/** Does the same for Python. Builds annotated dataclasses from their properties. */
export const PYTHON_RUNNER = String.raw`
import dataclasses, importlib.util, inspect, json, os, sys, typing

job = json.load(sys.stdin)
sys.path[0] = os.path.dirname(job["file"])

def build(value, hint):
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        hints = typing.get_type_hints(hint)
        return hint(**{name: build(item, hints.get(name)) for name, item in value.items()})
    given = typing.get_args(hint)
    if isinstance(value, list) and given: return [build(item, given[0]) for item in value]
    if isinstance(value, dict) and len(given) == 2 and typing.get_origin(hint) is dict:
        return {name: build(item, given[1]) for name, item in value.items()}
    for each in given if isinstance(value, dict) else ():
        if dataclasses.is_dataclass(each): return build(value, each)
    return value

def plain(value):
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) else list(value) if isinstance(value, (set, frozenset)) else str(value)

spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(job["file"]))[0], job["file"])
module = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = module
spec.loader.exec_module(module)
run = getattr(module, job["entry"])
try: hints = typing.get_type_hints(run)
except Exception: hints = {}
args = {name: build(value, hints.get(name)) for name, value in job["args"].items()}
first = [name for name, each in inspect.signature(run).parameters.items() if each.kind is each.POSITIONAL_ONLY and name in args]
result = run(*[args.pop(name) for name in first], **args)
if inspect.isawaitable(result):
    import asyncio
    result = asyncio.run(result)
print(job["mark"] + json.dumps(result, default=plain, allow_nan=False), end="", flush=True)
`;

/**
 * Calls a bash function with its arguments in variables argc_NAME. Provides what files for argc expect: the command `argc`, which does nothing here,
 * and LLM_OUTPUT. A pipe to cat makes /dev/stdout a file that can be opened.
 */
export const BASH_RUNNER = `
while IFS= read -r -d '' __name && IFS= read -r -d '' __value; do
  case $__name in
    +*) eval "argc_\${__name#+}+=(\\"\\$__value\\")" ;;
    *) printf -v "argc_$__name" %s "$__value" ;;
  esac
done
__entry=$1
unset __name __value
argc() { :; }
export LLM_OUTPUT="\${LLM_OUTPUT:-/dev/stdout}"
set --
source "$0" || exit
declare -F "$__entry" >/dev/null || { echo "$0 does not define the function $__entry." >&2; exit 127; }
"$__entry" | cat
exit "\${PIPESTATUS[0]}"
`;
