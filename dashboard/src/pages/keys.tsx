import { useState } from "preact/hooks";
import type { ApiKey, NewKey } from "../../../src/client/index.ts";
import { CAPABILITIES, type Capability } from "../../../src/tool/tool.ts";
import { gateway, may } from "../gateway.ts";
import { Action } from "../parts/action.tsx";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { Field } from "../parts/field.tsx";
import { Form, wordsIn } from "../parts/form.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";

/** Shows the API keys in the shared state. A new key is shown only once. */
export function Keys() {
  const asked = useAsk(() => gateway().keys.list(), []);
  const [made, setMade] = useState<NewKey | undefined>(undefined);
  const show = (key: NewKey): void => {
    setMade(key);
    asked.again();
  };
  return (
    <>
      <h1>Keys</h1>
      {made !== undefined && (
        <section class="card" aria-label="New key" role="status">
          <p>Copy the key {made.key.name} now. It is not shown again.</p>
          <p>
            <code>{made.text}</code>
          </p>
          <button type="button" class="quiet" onClick={() => setMade(undefined)}>
            Hide
          </button>
        </section>
      )}
      {may("createKey") && <CreateKey onMade={show} />}
      <Shown asked={asked}>
        {(keys) => (
          <Table
            caption="Keys"
            rows={keys}
            keyOf={({ name }) => name}
            empty="There are no keys."
            columns={[
              { title: "Name", cell: ({ name }) => name },
              { title: "Tenant", cell: ({ tenant }) => tenant ?? "" },
              { title: "Roles", cell: ({ roles }) => roles.join(", ") },
              { title: "Capabilities", cell: ({ capabilities }) => capabilities.join(", ") },
              { title: "Expires", cell: Expiry },
              {
                title: "Actions",
                cell: ({ name }) => (
                  <>
                    <Action
                      label="Rotate"
                      operation="rotateKey"
                      tone="quiet"
                      confirm={{ yes: `Rotate ${name}`, no: "Keep its secret" }}
                      run={async () => show(await gateway().keys.rotate(name))}
                    />{" "}
                    <Action
                      label="Revoke"
                      operation="revokeKey"
                      tone="danger"
                      confirm={{ yes: `Revoke ${name}`, no: "Keep it" }}
                      run={() => gateway().keys.revoke(name)}
                      onDone={asked.again}
                    />
                  </>
                ),
              },
            ]}
          />
        )}
      </Shown>
    </>
  );
}

function Expiry({ expiresAt, expired, previousUntil }: ApiKey) {
  return (
    <>
      {expiresAt === undefined ? "never" : <Time at={expiresAt} />} {expired === true && <Badge state="expired" />}
      {previousUntil !== undefined && (
        <span class="dim">
          old secret until <Time at={previousUntil} />
        </span>
      )}
    </>
  );
}

const DAY_MS = 86_400_000;

function CreateKey({ onMade }: { onMade(key: NewKey): void }) {
  return (
    <Form
      title="Create a key"
      submit="Create"
      run={async (text) => {
        const [tenant, days] = [text("tenant"), text("days")];
        onMade(
          await gateway().keys.create({
            name: text("name"),
            ...(tenant !== "" && { tenant }),
            roles: wordsIn(text("roles")),
            capabilities: wordsIn(text("capabilities")) as readonly Capability[],
            ...(days !== "" && { expiresAt: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
          }),
        );
      }}
    >
      <Field label="Name">
        <input name="name" required pattern="[a-z][a-z0-9\-]{0,62}" placeholder="acme-bot" />
      </Field>
      <Field label="Tenant">
        <input name="tenant" placeholder="acme" />
      </Field>
      <Field label="Roles">
        <input name="roles" placeholder="operator, approver" />
      </Field>
      <Field label={`Capabilities: ${CAPABILITIES.join(", ")}`}>
        <input name="capabilities" placeholder="read_data" />
      </Field>
      <Field label="Days until it expires; empty for never">
        <input name="days" type="number" min="1" max="3650" />
      </Field>
    </Form>
  );
}
