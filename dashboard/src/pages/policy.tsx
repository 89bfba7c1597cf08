import { useState } from "preact/hooks";
import type { PolicyAnswer } from "../../../src/serve/administration.ts";
import { gateway } from "../gateway.ts";
import { Action } from "../parts/action.tsx";
import { Badge } from "../parts/badge.tsx";
import { Failure } from "../parts/failure.tsx";

/** Try a call against the policy in force, without making it. */
export function Policy() {
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
          <label class="field">
            Tool
            <input name="tool" required placeholder="billing.refund_user" />
          </label>
          <label class="field">
            Arguments, as JSON
            <textarea name="arguments" rows={3} spellcheck={false} />
          </label>
          <label class="field">
            Caller
            <input name="id" required placeholder="ada" />
          </label>
          <label class="field">
            Roles
            <input name="roles" placeholder="support, approver" />
          </label>
          <label class="field">
            Scopes
            <input name="scopes" />
          </label>
          <div class="actions">
            <button type="submit">Ask</button>
            <Action label="Reload the policy file" tone="quiet" run={() => gateway().policy.reload()} />
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
