import type { ToolArsenal } from "../src/arsenal.ts";
import type { JsonSchema } from "../src/tool/json-schema.ts";

/** Makes one call as one turn of the model, or several in one turn. */
export interface Calling {
  (tool: string, args: object): Promise<unknown>;
  all(calls: readonly (readonly [tool: string, args: object])[]): Promise<readonly unknown[]>;
}

/** A task: what a model searches for, the calls that it makes without programs, and the program that does the same. */
export interface Task {
  readonly request: string;
  readonly searches: readonly string[];
  readonly isSingle?: true;
  calls(call: Calling): Promise<unknown>;
  readonly program: string;
}

interface Issue {
  readonly id: number;
  readonly state: string;
  readonly assignee: string;
  readonly priority: number;
}
interface Order {
  readonly id: string;
  readonly customer: string;
  readonly total: number;
  readonly status: string;
}

const PEOPLE = ["dana", "omar", "lena", "joon", "marta"];
const ISSUES = Array.from({ length: 60 }, (_, n) => ({
  id: n + 1,
  title: `Page ${n + 1} shows the wrong total after the currency was changed`,
  state: n % 3 === 0 ? "closed" : "open",
  assignee: PEOPLE[n % PEOPLE.length] ?? "",
  priority: (n * 7) % 5,
  body: "Steps: open the page, change the currency, reload. Expected the converted total. The old total stays until the cache is cleared.",
  labels: ["bug", n % 2 === 0 ? "frontend" : "backend"],
}));
const CUSTOMERS = Array.from({ length: 24 }, (_, n) => ({
  id: `C-${n + 1}`,
  name: `Customer ${n + 1}`,
  country: ["de", "fr", "br", "jp"][n % 4] ?? "",
  email: `buyer${n + 1}@example.com`,
  since: `20${10 + (n % 15)}-03-01`,
}));
const ORDERS = Array.from({ length: 96 }, (_, n) => ({
  id: `O-${n + 1}`,
  customer: `C-${(n % 24) + 1}`,
  total: 10 + ((n * 13) % 90),
  status: n % 6 === 0 ? "late" : "delivered",
  items: [{ sku: `S-${n % 12}`, quantity: (n % 3) + 1 }],
  address: "12 Harbour Street, 20457 Hamburg",
}));

const object = (properties: Record<string, JsonSchema>, required = Object.keys(properties)): JsonSchema => ({
  type: "object",
  properties,
  required,
});
const text = { type: "string" } as const;
const whole = { type: "integer" } as const;

/** Registers the tools that the tasks need, as functions of this process. */
export function registerFakes(arsenal: ToolArsenal): void {
  const add = (
    id: string,
    description: string,
    parameters: JsonSchema,
    run: (args: never) => unknown,
    more: object = {},
  ): void => {
    const [namespace = "", name = ""] = id.split(".");
    const annotations = { readOnly: !id.includes("refund") && !id.includes("close"), confirmed: true };
    arsenal.register({ namespace, name, description, parameters, annotations, ...more }, run as never);
  };
  const paged = <Item>(items: readonly Item[], page = 1, size = 20) => ({
    items: items.slice((page - 1) * size, page * size),
    next: page * size < items.length ? page + 1 : null,
  });
  add(
    "tracker.list_issues",
    "Lists the issues of a project, twenty on a page.",
    object({ project: text, page: whole }, ["project"]),
    ({ page }: { page?: number }) => paged(ISSUES, page),
  );
  add("tracker.get_issue", "Reads one issue with its text.", object({ id: whole }), ({ id }: { id: number }) =>
    ISSUES.find((issue) => issue.id === id),
  );
  add("tracker.close_issue", "Closes an issue.", object({ id: whole }), ({ id }: { id: number }) => ({ closed: id }), {
    requiresConfirmation: true,
  });
  add(
    "crm.list_customers",
    "Lists customers, twelve on a page.",
    object({ page: whole }, []),
    ({ page }: { page?: number }) => paged(CUSTOMERS, page, 12),
  );
  add("crm.get_customer", "Reads one customer.", object({ id: text }), ({ id }: { id: string }) =>
    CUSTOMERS.find((each) => each.id === id),
  );
  add(
    "shop.list_orders",
    "Lists the orders of a customer.",
    object({ customer: text }),
    ({ customer }: { customer: string }) => ORDERS.filter((order) => order.customer === customer),
  );
  add("shop.get_order", "Reads one order by its number.", object({ id: text }), ({ id }: { id: string }) =>
    ORDERS.find((order) => order.id === id),
  );
  add("shop.refund_order", "Refunds an order.", object({ id: text }), ({ id }: { id: string }) => ({ refunded: id }), {
    requiresConfirmation: true,
  });
  add("status.check_host", "Checks whether a host answers.", object({ host: text }), ({ host }: { host: string }) => {
    if (host.endsWith("3")) throw new Error(`${host} does not answer`);
    return { host, ok: true, latencyMs: 12, certificate: { issuer: "Example CA", days: 40 } };
  });
  add(
    "weather.forecast",
    "Tells the weather of a city for three days.",
    object({ city: text }),
    ({ city }: { city: string }) => ({
      city,
      days: [1, 2, 3].map((day) => ({ day, high: city.length + day, low: day, rain: day === 2 })),
    }),
  );
}

const issues = "list the issues of a project";
const orders = "list the orders of a customer";
const customers = "list customers";
const range = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

async function allIssues(call: Calling): Promise<readonly Issue[]> {
  const found: Issue[] = [];
  for (let page: number | null = 1; page !== null;) {
    const answer = (await call("tracker.list_issues", { project: "web", page })) as {
      items: Issue[];
      next: number | null;
    };
    found.push(...answer.items);
    page = answer.next;
  }
  return found;
}
const READ_ISSUES = `const issues = [];
for (let page = 1; page; ) {
  const { items, next } = await tracker.list_issues({ project: "web", page });
  issues.push(...items);
  page = next;
}`;
const counted = (names: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};

async function allCustomers(call: Calling): Promise<readonly { id: string; country: string }[]> {
  const first = (await call("crm.list_customers", { page: 1 })) as { items: { id: string; country: string }[] };
  const second = (await call("crm.list_customers", { page: 2 })) as { items: { id: string; country: string }[] };
  return [...first.items, ...second.items];
}
const READ_CUSTOMERS = `const customers = [];
for (let page = 1; page; ) {
  const { items, next } = await crm.list_customers({ page });
  customers.push(...items);
  page = next;
}`;
const ordersOf = async (call: Calling, ids: readonly string[]): Promise<readonly Order[]> =>
  (await call.all(ids.map((customer) => ["shop.list_orders", { customer }] as const))).flat() as Order[];
const sum = (list: readonly { readonly total: number }[]): number =>
  list.reduce((total, order) => total + order.total, 0);
const hosts = range(8).map((n) => `host${n}`);

const single = (request: string, search: string, tool: string, args: Record<string, unknown>): Task => ({
  request,
  searches: [search],
  isSingle: true,
  calls: (call) => call(tool, args),
  program: `await ${tool}(${JSON.stringify(args)})`,
});

/** Tasks over the fakes: five of one call, and seventeen of several. */
export const FAKE_TASKS: readonly Task[] = [
  single("What is the weather in Lisbon?", "weather forecast of a city", "weather.forecast", { city: "Lisbon" }),
  single("Show order O-17.", "read one order", "shop.get_order", { id: "O-17" }),
  single("Who is customer C-5?", "read one customer", "crm.get_customer", { id: "C-5" }),
  single("Read issue 12.", "read one issue", "tracker.get_issue", { id: 12 }),
  single("Does host1 answer?", "check whether a host answers", "status.check_host", { host: "host1" }),
  {
    request: "How many issues are open and closed?",
    searches: [issues],
    calls: async (call) => counted((await allIssues(call)).map(({ state }) => state)),
    program: `${READ_ISSUES}\ncount(issues, "state")`,
  },
  {
    request: "Who has how many open issues?",
    searches: [issues],
    calls: async (call) =>
      counted((await allIssues(call)).filter(({ state }) => state === "open").map(({ assignee }) => assignee)),
    program: `${READ_ISSUES}\ncount(issues.filter((issue) => issue.state === "open"), "assignee")`,
  },
  {
    request: "The ids of open issues with priority 4.",
    searches: [issues],
    calls: async (call) =>
      (await allIssues(call)).filter(({ state, priority }) => state === "open" && priority === 4).map(({ id }) => id),
    program: `${READ_ISSUES}\nissues.filter((issue) => issue.state === "open" && issue.priority === 4).map((issue) => issue.id)`,
  },
  {
    request: "Which issues of dana are closed?",
    searches: [issues],
    calls: async (call) =>
      (await allIssues(call))
        .filter(({ state, assignee }) => state === "closed" && assignee === "dana")
        .map(({ id }) => id),
    program: `${READ_ISSUES}\nissues.filter((issue) => issue.state === "closed" && issue.assignee === "dana").map((issue) => issue.id)`,
  },
  {
    request: "The average priority of open issues.",
    searches: [issues],
    calls: async (call) => {
      const open = (await allIssues(call)).filter(({ state }) => state === "open");
      return open.reduce((total, { priority }) => total + priority, 0) / open.length;
    },
    program: `${READ_ISSUES}\nconst open = issues.filter((issue) => issue.state === "open");\nopen.reduce((total, issue) => total + issue.priority, 0) / open.length`,
  },
  {
    request: "The first open issue with priority 3: stop when it is found.",
    searches: [issues],
    calls: async (call) => {
      for (let page = 1; ; page++) {
        const { items } = (await call("tracker.list_issues", { project: "web", page })) as { items: Issue[] };
        const found = items.find(({ state, priority }) => state === "open" && priority === 3);
        if (found !== undefined) return found.id;
      }
    },
    program: `for (let page = 1; page; ) {\n  const { items, next } = await tracker.list_issues({ project: "web", page });\n  const found = items.find((issue) => issue.state === "open" && issue.priority === 3);\n  if (found) return found.id;\n  page = next;\n}`,
  },
  {
    request: "What did customers C-1 to C-6 order in total?",
    searches: [orders],
    calls: async (call) =>
      sum(
        await ordersOf(
          call,
          range(6).map((n) => `C-${n + 1}`),
        ),
      ),
    program: `const lists = await parallel([1, 2, 3, 4, 5, 6], 6, (n) => shop.list_orders({ customer: "C-" + n }));\nlists.flat().reduce((total, order) => total + order.total, 0)`,
  },
  {
    request: "Which orders of C-1 to C-12 are late?",
    searches: [orders],
    calls: async (call) =>
      (
        await ordersOf(
          call,
          range(12).map((n) => `C-${n + 1}`),
        )
      )
        .filter(({ status }) => status === "late")
        .map(({ id }) => id),
    program: `const ids = Array.from({ length: 12 }, (_, n) => "C-" + (n + 1));\nconst lists = await parallel(ids, 6, (customer) => shop.list_orders({ customer }));\nlists.flat().filter((order) => order.status === "late").map((order) => order.id)`,
  },
  {
    request: "The totals of German customers, joined from customers and orders.",
    searches: [customers, orders],
    calls: async (call) =>
      sum(
        await ordersOf(
          call,
          (await allCustomers(call)).filter(({ country }) => country === "de").map(({ id }) => id),
        ),
      ),
    program: `${READ_CUSTOMERS}\nconst lists = await parallel(customers.filter((each) => each.country === "de"), 6, (each) => shop.list_orders({ customer: each.id }));\nlists.flat().reduce((total, order) => total + order.total, 0)`,
  },
  {
    request: "How many customers are there in each country?",
    searches: [customers],
    calls: async (call) => counted((await allCustomers(call)).map(({ country }) => country)),
    program: `${READ_CUSTOMERS}\ncount(customers, "country")`,
  },
  {
    request: "Which Japanese customers have late orders?",
    searches: [customers, orders],
    calls: async (call) => {
      const found = (await allCustomers(call)).filter(({ country }) => country === "jp");
      const late = (
        await ordersOf(
          call,
          found.map(({ id }) => id),
        )
      ).filter(({ status }) => status === "late");
      return [...new Set(late.map(({ customer }) => customer))];
    },
    program: `${READ_CUSTOMERS}\nconst lists = await parallel(customers.filter((each) => each.country === "jp"), 6, (each) => shop.list_orders({ customer: each.id }));\n[...new Set(lists.flat().filter((order) => order.status === "late").map((order) => order.customer))]`,
  },
  {
    request: "Which of the eight hosts do not answer? Errors are expected.",
    searches: ["check whether a host answers"],
    calls: async (call) => {
      const answers = await call.all(hosts.map((host) => ["status.check_host", { host }] as const));
      return hosts.filter((_, n) => typeof answers[n] === "string");
    },
    program: `const down = [];\nfor (const n of [0, 1, 2, 3, 4, 5, 6, 7]) {\n  const host = "host" + n;\n  try { await status.check_host({ host }); } catch { down.push(host); }\n}\ndown`,
  },
  {
    request: "The warmest of six cities on day 3.",
    searches: ["weather forecast of a city"],
    calls: async (call) => {
      const cities = ["Oslo", "Lisbon", "Rome", "Kyoto", "Nairobi", "Montevideo"];
      const all = (await call.all(cities.map((city) => ["weather.forecast", { city }] as const))) as {
        city: string;
        days: { high: number }[];
      }[];
      return all.toSorted((one, other) => (other.days[2]?.high ?? 0) - (one.days[2]?.high ?? 0))[0]?.city;
    },
    program: `const cities = ["Oslo", "Lisbon", "Rome", "Kyoto", "Nairobi", "Montevideo"];\nconst all = await parallel(cities, 6, (city) => weather.forecast({ city }));\nall.toSorted((one, other) => other.days[2].high - one.days[2].high)[0].city`,
  },
  {
    request: "The texts of the three issues with the highest priority of omar, by their length.",
    searches: [issues, "read one issue"],
    calls: async (call) => {
      const mine = (await allIssues(call))
        .filter(({ assignee }) => assignee === "omar")
        .toSorted((one, other) => other.priority - one.priority || one.id - other.id)
        .slice(0, 3);
      return ((await call.all(mine.map(({ id }) => ["tracker.get_issue", { id }] as const))) as { body: string }[]).map(
        ({ body }) => body.length,
      );
    },
    program: `${READ_ISSUES}\nconst mine = issues.filter((issue) => issue.assignee === "omar").toSorted((one, other) => other.priority - one.priority || one.id - other.id).slice(0, 3);\n(await parallel(mine, 3, ({ id }) => tracker.get_issue({ id }))).map((issue) => issue.body.length)`,
  },
  {
    request: "The countries of the customers of orders O-1 to O-10.",
    searches: ["read one order", "read one customer"],
    calls: async (call) => {
      const found = (await call.all(
        range(10).map((n) => ["shop.get_order", { id: `O-${n + 1}` }] as const),
      )) as Order[];
      return counted(
        (
          (await call.all(found.map(({ customer }) => ["crm.get_customer", { id: customer }] as const))) as {
            country: string;
          }[]
        ).map(({ country }) => country),
      );
    },
    program: `const ids = Array.from({ length: 10 }, (_, n) => "O-" + (n + 1));\nconst orders = await parallel(ids, 5, (id) => shop.get_order({ id }));\ncount(await parallel(orders, 5, (order) => crm.get_customer({ id: order.customer })), "country")`,
  },
  {
    request: "Close the oldest open issue of lena. A person approves it.",
    searches: [issues, "close an issue"],
    calls: async (call) => {
      const found = (await allIssues(call)).find(({ state, assignee }) => state === "open" && assignee === "lena");
      return call("tracker.close_issue", { id: found?.id });
    },
    program: `${READ_ISSUES}\nconst found = issues.find((issue) => issue.state === "open" && issue.assignee === "lena");\nawait tracker.close_issue({ id: found.id })`,
  },
  {
    request: "Refund the most expensive late order of C-1, C-7 and C-13. A person approves it.",
    searches: [orders, "refund an order"],
    calls: async (call) => {
      const late = (await ordersOf(call, ["C-1", "C-7", "C-13"]))
        .filter(({ status }) => status === "late")
        .toSorted((one, other) => other.total - one.total);
      return call("shop.refund_order", { id: late[0]?.id });
    },
    program: `const lists = await parallel(["C-1", "C-7", "C-13"], 3, (customer) => shop.list_orders({ customer }));\nconst [worst] = lists.flat().filter((order) => order.status === "late").toSorted((one, other) => other.total - one.total);\nawait shop.refund_order({ id: worst.id })`,
  },
];
