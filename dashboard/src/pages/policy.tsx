import { useState } from "preact/hooks";
import type { PolicyRule } from "../../../src/guard/policy.port.ts";
import type { PolicyAnswer } from "../../../src/serve/administration.ts";
import { gateway } from "../gateway.ts";
import { Action } from "../parts/action.tsx";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { Field } from "../parts/field.tsx";
import { Failure } from "../parts/failure.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";

/** Shows the current rules, and a form that tests a call against them without making it. */
export function Policy() {
  const rules = useAsk(async () => (await gateway().policy.rules()) ?? [], []);
  const [outcome, setOutcome] = useState<{ readonly answer?: PolicyAnswer; readonly error?: unknown }>({});
  async function ask(form: HTMLFormElement): Promise<void> {
    const data = new FormData(form);
    const text = (key: string): string => String(data.get(key) ?? "").trim();
    const words = (key: string): string[] =>
      text(key)
        .split(/[\s,]+/)
        .filter(Boolean);
    try {
      const answer = await gateway().policy.explain({
        toolName: text("tool"),
        arguments: JSON.parse(text("arguments") === "" ? "{}" : text("arguments")) as Record<string, unknown>,
        principal: { id: text("id"), roles: words("roles"), scopes: words("scopes") },
      });
      setOutcome({ answer });
    } catch (error) {
      setOutcome({ error });
    }
  }
  return (
    <>
      <h1>Policy</h1>
      <div class="columns">
        <form
          class="card"
          onSubmit={(event) => {
            event.preventDefault();
            void ask(event.currentTarget);
          }}
        >
          <h2>Try a call</h2>
          <Field label="Tool">
            <input name="tool" required placeholder="billing.refund_user" />
          </Field>
          <Field label="Arguments, as JSON">
            <textarea name="arguments" rows={3} spellcheck={false} />
          </Field>
          <Field label="Caller">
            <input name="id" required placeholder="ada" />
          </Field>
          <Field label="Roles">
            <input name="roles" placeholder="support, approver" />
          </Field>
          <Field label="Scopes">
            <input name="scopes" />
          </Field>
          <div class="actions">
            <button type="submit">Ask</button>
            <Action
              label="Reload the policy file"
              operation="reloadPolicy"
              tone="quiet"
              run={() => gateway().policy.reload()}
              onDone={rules.again}
            />
          </div>
        </form>
        <section aria-live="polite">
          {outcome.error !== undefined && <Failure error={outcome.error} />}
          {outcome.answer === undefined && outcome.error === undefined && (
            <p class="dim">The answer appears here, with the rule that decided. Nothing is run.</p>
          )}
          {outcome.answer && <Answer answer={outcome.answer} />}
        </section>
      </div>
      <h2>Rules in force</h2>
      <p class="dim">A rule that denies wins over one that asks a person, and that over one that allows.</p>
      <Shown asked={rules}>{(listed) => <Rules rules={listed} />}</Shown>
    </>
  );
}

function Rules({ rules }: { readonly rules: readonly PolicyRule[] }) {
  return (
    <Table
      caption="Rules in force"
      rows={rules}
      keyOf={({ rule }) => rule}
      empty="This policy cannot list its rules. Try a call to see what it decides."
      columns={[
        { title: "Rule", cell: ({ rule }) => <code>{rule}</code> },
        { title: "Effect", cell: ({ effect }) => <Badge state={effect} /> },
        {
          title: "Calls it is about",
          cell: ({ conditions, reason }) => (
            <>
              <Lines texts={conditions.length === 0 ? ["every call"] : conditions} />
              {reason !== undefined && <small class="dim">{reason}</small>}
            </>
          ),
        },
        { title: "What then holds", cell: ({ obligations = [] }) => <Lines texts={obligations} /> },
      ]}
    />
  );
}

function Lines({ texts }: { readonly texts: readonly string[] }) {
  return (
    <>
      {texts.map((text) => (
        <div key={text} class="written">
          {text}
        </div>
      ))}
    </>
  );
}

function Answer({ answer }: { readonly answer: PolicyAnswer }) {
  const { visible, effect, rule, reason, steps } = answer;
  return (
    <>
      <p>
        <Badge state={effect} /> {rule !== undefined && <code>{rule}</code>} {reason}
      </p>
      {!visible && <p>The caller cannot see this tool: it answers as if it did not exist.</p>}
      {steps && (
        <ol>
          {steps.map((step, index) => (
            <li key={index}>
              <code>{step.rule}</code> {step.matched ? <b>matched</b> : <span class="dim">did not match</span>}{" "}
              {step.why}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
