import { present } from "../../../base/present.ts";
import { runProcess } from "../../sandboxes/subprocess/run-process.ts";
import type { Declaration, ReadScripts, ScriptProblem } from "./declaration.ts";

/** Reads the functions of Python files with Python's own parser. `executable` starts Python. The files are parsed, never run. */
export async function readPython(
  files: readonly string[],
  python: string,
  signal: AbortSignal,
): Promise<ReadScripts & { readonly executable: string }> {
  const { status, stdout, stderr } = await runProcess({
    sandbox: "subprocess",
    argv: [python, "-I", "-c", PYTHON_READER],
    // Launchers such as pyenv find the interpreter through environment variables. Only our own program runs here.
    env: present(process.env) as Record<string, string>,
    cwd: "/",
    input: JSON.stringify(files),
    limits: { timeoutMs: 20_000, outputBytes: 16 * 1024 * 1024 },
    signal,
  });
  if (status !== "ok") throw new Error(`${python} cannot read it: ${stderr.trim().split("\n").at(-1) ?? status}`);
  const { executable, tools, problems } = JSON.parse(stdout) as PythonAnswer;
  const declarations = tools.map((tool): Declaration => ({ ...tool, language: "python" }));
  return { executable, declarations, problems };
}

interface PythonAnswer {
  readonly executable: string;
  readonly tools: readonly Omit<Declaration, "language">[];
  readonly problems: readonly ScriptProblem[];
}

/**
 * A Python program that reads paths as JSON from stdin and prints the declarations in these files: `run` alone, the functions in `__all__`, or all
 * public functions. Types come from annotations, descriptions from Google-style docstrings. Needs Python 3.9.
 */
const PYTHON_READER = String.raw`
import ast, inspect, json, sys

if sys.version_info < (3, 9):
    sys.exit("Python 3.9 or newer is needed, and this is %d.%d" % sys.version_info[:2])

class Undeclarable(Exception):
    def __init__(self, node, reason):
        super().__init__(reason)
        self.line = getattr(node, "lineno", 1)

SIMPLE = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
LISTS = {"list", "List", "Sequence", "Iterable", "Collection", "set", "Set", "frozenset"}
DICTS = {"dict", "Dict", "Mapping", "MutableMapping"}
SECTIONS = {"args", "arguments", "parameters", "params", "returns", "return", "yields", "raises", "example", "examples",
            "note", "notes", "todo", "attributes", "warning", "warnings", "see also", "references"}

def dotted(node):
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)

def one_line(text):
    return " ".join(text.split())

def type_of(value):
    if isinstance(value, bool): return "boolean"
    if isinstance(value, int): return "integer"
    if isinstance(value, float): return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, (list, tuple)) else None

def with_type(values):
    types = {type_of(value) for value in values}
    kind = types.pop() if len(types) == 1 else "number" if types <= {"integer", "number"} else None
    return {**({"type": kind} if kind else {}), "enum": values}

def members(node):
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return members(node.left) + members(node.right)
    if isinstance(node, ast.Subscript) and dotted(node.value) == "Union":
        return [each for item in arguments(node) for each in members(item)]
    if isinstance(node, ast.Subscript) and dotted(node.value) == "Optional":
        return members(node.slice) + [ast.Constant(value=None)]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return members(ast.copy_location(ast.parse(node.value, mode="eval").body, node))
    return [node]

def arguments(node):
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]

def plain(node):
    value = ast.literal_eval(node)
    json.dumps(value, allow_nan=False)
    return value

def is_none(node):
    return isinstance(node, ast.Constant) and node.value is None

class File:
    def __init__(self, tree):
        self.classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        self.aliases = {}
        for node in tree.body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                self.aliases[node.targets[0].id] = node.value
        self.open = []

    def schema(self, node):
        parts = members(node)
        if len(parts) == 1: return self.single(parts[0])
        literal, others = [], []
        for part in parts:
            if isinstance(part, ast.Subscript) and dotted(part.value) == "Literal": literal += self.literals(part)
            elif is_none(part): literal.append(None)
            else: others.append(self.single(part))
        if not others: return with_type(literal)
        nulls = [{"type": "null"}] if None in literal else []
        rest = [value for value in literal if value is not None]
        return {"anyOf": others + ([with_type(rest)] if rest else []) + nulls}

    def literals(self, node):
        found = []
        for item in arguments(node):
            try: found.append(plain(item))
            except (ValueError, TypeError): raise Undeclarable(item, "Literal takes JSON values only")
        return found

    def single(self, node):
        if is_none(node): return {"type": "null"}
        name = dotted(node.value if isinstance(node, ast.Subscript) else node)
        given = arguments(node) if isinstance(node, ast.Subscript) else []
        if name in ("Any", "object"): return {}
        if name in SIMPLE: return {"type": SIMPLE[name]}
        if name in LISTS or (name in ("tuple", "Tuple") and len(given) == 2 and dotted_ellipsis(given[1])):
            return {"type": "array", **({"items": self.schema(given[0])} if given else {})}
        if name in DICTS:
            return {"type": "object", **({"additionalProperties": self.schema(given[1])} if len(given) == 2 else {})}
        if name == "Literal": return with_type(self.literals(node))
        if name == "Annotated": return {**self.schema(given[0]), **self.note(given)}
        if name in ("Required", "NotRequired", "ReadOnly", "Final"): return self.schema(given[0])
        if name in self.open: raise Undeclarable(node, f"the type {name} contains itself")
        if isinstance(node, ast.Name) and (name in self.classes or name in self.aliases):
            self.open.append(name)
            try: return self.record(self.classes[name]) if name in self.classes else self.schema(self.aliases[name])
            finally: self.open.pop()
        raise Undeclarable(node, f"the type {ast.unparse(node)} cannot be written as JSON Schema; use str, int, float, bool, list, dict, "
                                 "Literal, Optional, or a dataclass or TypedDict of the same file")

    def note(self, given):
        texts = [item.value for item in given[1:] if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        return {"description": one_line(texts[0])} if texts else {}

    def record(self, node):
        bases = [dotted(base) for base in node.bases]
        decorators = [dotted(each.func if isinstance(each, ast.Call) else each) for each in node.decorator_list]
        if "TypedDict" not in bases and "dataclass" not in decorators and not any(base in self.classes for base in bases):
            raise Undeclarable(node, f"the class {node.name} is neither a dataclass nor a TypedDict")
        total = not any(each.arg == "total" and is_false(each.value) for each in node.keywords)
        texts = docstring(node)[1]
        inherited = [self.record(self.classes[base]) for base in bases if base in self.classes]
        properties = {name: value for each in inherited for name, value in each["properties"].items()}
        required = [name for each in inherited for name in each["required"]]
        for item in node.body:
            if not isinstance(item, ast.AnnAssign) or not isinstance(item.target, ast.Name): continue
            name, marker = item.target.id, dotted(getattr(item.annotation, "value", None))
            field = self.field(name, item.annotation, item.value, texts, item)
            properties[name] = {**field["schema"], **({"description": field["description"]} if field.get("description") else {}),
                                **({"default": field["default"]} if "default" in field else {})}
            if field["required"] and marker != "NotRequired" and (total or marker == "Required"): required.append(name)
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    def field(self, name, annotation, default, texts, node):
        found = {"name": name, "required": default is None}
        value, is_plain = None, False
        if default is not None:
            try: value, is_plain = plain(default), True
            except (ValueError, TypeError): pass
        if annotation is None:
            kind = type_of(value)
            found["schema"] = {"type": kind} if kind else {}
        else:
            parts = members(annotation)
            # "Optional[int] = None" is how Python says that an argument can be left out.
            if is_plain and value is None and len(parts) > 1:
                parts = [part for part in parts if not is_none(part)]
            found["schema"] = dict(self.schema(parts[0] if len(parts) == 1 else join(parts)))
        if is_plain and value is not None: found["default"] = value
        text = texts.get(name) or found["schema"].get("description")
        found["schema"].pop("description", None)
        if text: found["description"] = text
        return found

    def tool(self, node):
        given = node.args
        if given.vararg or given.kwarg:
            raise Undeclarable(node, f"{node.name} takes *args or **kwargs; name each argument")
        description, texts = docstring(node)
        positional = given.posonlyargs + given.args
        defaults = [None] * (len(positional) - len(given.defaults)) + given.defaults
        pairs = list(zip(positional, defaults)) + list(zip(given.kwonlyargs, given.kw_defaults))
        fields = [self.field(arg.arg, arg.annotation, default, texts, arg) for arg, default in pairs]
        return {"line": node.lineno, "entry": node.name, "description": description, "fields": fields}

def join(parts):
    joined = parts[0]
    for part in parts[1:]: joined = ast.copy_location(ast.BinOp(left=joined, op=ast.BitOr(), right=part), part)
    return joined

def is_false(node):
    return isinstance(node, ast.Constant) and node.value is False

def dotted_ellipsis(node):
    return isinstance(node, ast.Constant) and node.value is Ellipsis

def docstring(node):
    lines = inspect.cleandoc(ast.get_docstring(node) or "").split("\n")
    summary, texts, section, name, margin = [], {}, None, None, None
    for line in lines:
        heading = line[:-1].lower() if line.endswith(":") and not line.startswith(" ") else None
        if heading in SECTIONS:
            section, name, margin = heading, None, None
        elif section is None: summary.append(line)
        elif section in ("args", "arguments", "parameters", "params", "attributes") and line.strip():
            indent = len(line) - len(line.lstrip())
            margin = indent if margin is None else margin
            head, colon, text = line.strip().partition(":")
            if indent <= margin and colon:
                name = head.split("(")[0].strip().lstrip("*")
                texts[name] = one_line(text)
            elif name: texts[name] = one_line(texts[name] + " " + line)
    return "\n".join(summary).strip(), texts

def read(path, tools, problems):
    with open(path, "rb") as source: tree = ast.parse(source.read(), path)
    file = File(tree)
    functions = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    listed = None
    if "__all__" in file.aliases:
        try: listed = list(ast.literal_eval(file.aliases["__all__"]))
        except (ValueError, TypeError): pass
    names = ["run"] if "run" in functions else [name for name in functions if name in listed] if listed is not None else \
        [name for name in functions if not name.startswith("_")]
    for name in names:
        try: tools.append({"file": path, **file.tool(functions[name])})
        except Undeclarable as error: problems.append({"file": path, "line": error.line, "reason": str(error)})
        except Exception as error: problems.append({"file": path, "line": functions[name].lineno, "reason": f"{name}: {error}"})
    if not names: problems.append({"file": path, "reason": "it defines no public function"})

tools, problems = [], []
for path in json.load(sys.stdin):
    try: read(path, tools, problems)
    except SyntaxError as error: problems.append({"file": path, "line": error.lineno or 1, "reason": error.msg})
    except Exception as error: problems.append({"file": path, "reason": str(error)})
print(json.dumps({"executable": sys.executable, "tools": tools, "problems": problems}))
`;
