// A conversation with a tool call, for two providers: the user asks, the model calls a tool, the tool answers, the model answers.
// The model's answers are data here, in each provider's format; in your program they come from its API.
import assert from "node:assert/strict";
import { createEnsemble, createInvocationsProcessor, createInvoker, deduplicate } from "toolarsenal/ensembles";

const argumentsSchema = {
  type: "object",
  properties: { location: { type: "string", description: "City and state" } },
  required: ["location"],
} as const;
const getWeather = createInvoker({
  name: "get_weather",
  description: "Get current weather for location",
  argumentsSchema,
  invocable: (_context, { location }) =>
    location === "San Francisco, CA" ? { temperature: 62, conditions: "Partly cloudy" } : { conditions: "Unknown" },
});
const getForecast = createInvoker({
  name: "get_forecast",
  description: "Get the weather of the next 24 hours for location",
  annotations: { readOnly: true },
  argumentsSchema,
  invocable: () => Array.from({ length: 24 }, (_, hour) => `${hour}:00, 62°F, partly cloudy`),
});
const ensembles = [createEnsemble({ name: "weather", invokers: [getWeather, getForecast] })];
for (const ensemble of ensembles) await ensemble.connect();

const location = "San Francisco, CA";
const question = "What's the weather in SF?";
const answer = "The weather in San Francisco is 62°F and partly cloudy.";

/** Each model's two answers: it calls the tool, then it says what the tool said. */
const anthropicAnswers = [
  {
    role: "assistant" as const,
    content: [{ type: "tool_use", id: "call_abc123", name: "weather-get_weather", input: { location } }],
  },
  { role: "assistant" as const, content: [{ type: "text", text: answer }] },
];
const openaiAnswers = [
  {
    role: "assistant" as const,
    content: null,
    tool_calls: [
      {
        id: "call_abc123",
        type: "function",
        function: { name: "weather-get_weather", arguments: JSON.stringify({ location }) },
      },
    ],
  },
  { role: "assistant" as const, content: answer },
];

for (const [dialect, answers] of [
  ["anthropic", anthropicAnswers],
  ["openai", openaiAnswers],
] as const) {
  const processor = await createInvocationsProcessor({ dialect });
  const tools = await processor.prepareTools(ensembles); // for the provider's API, together with the messages
  assert.equal(tools.length, 2);

  const messages: object[] = [{ role: "user", content: question }]; // in the provider's format
  const records: object[] = [{ user: question, timestamp: new Date().toISOString() }]; // in one format, to store
  for (const message of answers) {
    messages.push(message);
    const invocations = processor.normalizeInvocations(message);
    if (invocations.length === 0) {
      records.push({ assistant: answer, timestamp: new Date().toISOString() });
      break; // the model has answered
    }
    const results = await processor.executeInvocations(invocations, ensembles);
    records.push(...invocations, ...results);
    messages.push(...processor.nativizeResults(results));
  }

  const [, invocation, result] = JSON.parse(JSON.stringify(records));
  assert.equal(invocation.id, "call_abc123");
  assert.deepEqual(invocation.arguments, { location });
  assert.equal(result.invocationId, "call_abc123");
  assert.deepEqual(result.content, { temperature: 62, conditions: "Partly cloudy" });
  assert.equal(result.error, undefined);
  assert.equal(records.length, 4);
  assert.equal(messages.length, 4);
  assert.match(JSON.stringify(messages[2]), /call_abc123.*Partly cloudy/);
  console.log(`${dialect}: ${JSON.stringify(messages[2])}`);
}
// prints: openai: {"role":"tool","tool_call_id":"call_abc123","content":"{\"temperature\":62,\"conditions\":\"Partly cloudy\"}"}

// A call that fails is a result too: the model reads what went wrong, and every call has its result.
const processor = await createInvocationsProcessor({ dialect: "anthropic" });
const timestamp = new Date().toISOString();
const wrong = { id: "call_def456", name: "weather-get_weather", arguments: { city: "SF" }, timestamp };
const [failed] = await processor.executeInvocations([wrong], ensembles);
assert.equal(failed?.error?.category, "validation");

// Near the model's limit, repeated results are left out of what is sent again.
const again = ["call_1", "call_2"].map((id) => ({
  id,
  name: "weather-get_forecast",
  arguments: { location },
  timestamp,
}));
const repeated = await processor.executeInvocations(again, ensembles);
const [first] = deduplicate([...again, ...repeated], { maxTokens: 100 }).filter((record) => "invocationId" in record);
console.log((first as { content?: unknown }).content);
// prints: The same as the result of call_2, a later call of weather-get_forecast with the same arguments.

for (const ensemble of ensembles) await ensemble.disconnect();
