import { useId, useState } from "preact/hooks";
import type { Quota, QuotaStatus, Tenant } from "../../../src/client/index.ts";
import { gateway, may } from "../gateway.ts";
import { Action } from "../parts/action.tsx";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { Field } from "../parts/field.tsx";
import { Form, wordsIn } from "../parts/form.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";

/** Shows the tenants that share the gateway, with their quotas and members. */
export function Tenants() {
  const asked = useAsk(() => gateway().tenants.list(), []);
  return (
    <>
      <h1>Tenants</h1>
      {may("createTenant") && (
        <Form
          title="Create a tenant"
          submit="Create"
          run={async (text) => {
            const name = text("name");
            await gateway().tenants.create({ id: text("id"), ...(name !== "" && { name }) });
          }}
          onDone={asked.again}
        >
          <Field label="Id">
            <input name="id" required pattern="[a-z0-9][a-z0-9_\-]{0,62}" placeholder="acme" />
          </Field>
          <Field label="Name">
            <input name="name" placeholder="Acme Corp." />
          </Field>
        </Form>
      )}
      <Shown asked={asked}>
        {(tenants) =>
          tenants.length === 0 ? (
            <p class="dim">There are no tenants.</p>
          ) : (
            tenants.map((tenant) => <OneTenant key={tenant.id} tenant={tenant} onChange={asked.again} />)
          )
        }
      </Shown>
    </>
  );
}

function OneTenant({ tenant, onChange }: { readonly tenant: Tenant; onChange(): void }) {
  const { id, name, state, toolsets, groups, changedAt } = tenant;
  const heading = useId();
  const isActive = state === "active";
  return (
    <article class="card" aria-labelledby={heading}>
      <h2 id={heading}>{id}</h2>
      <p>
        <Badge state={state} /> {name}
      </p>
      <p class="dim">
        {toolsets.includes("*") ? "May use every tool." : `May use the toolsets ${toolsets.join(", ")}.`}{" "}
        {groups.length > 0 && `Groups: ${groups.map(({ group }) => group).join(", ")}. `}
        Last changed <Time at={changedAt} />.
      </p>
      <p>
        <Action
          label={isActive ? "Suspend" : "Resume"}
          operation="changeTenant"
          tone="quiet"
          {...(isActive && { confirm: { yes: `Suspend ${id}`, no: "Keep it active" } })}
          run={() => gateway().tenants.change(id, { state: isActive ? "suspended" : "active" })}
          onDone={onChange}
        />{" "}
        <Action
          label="Remove"
          operation="removeTenant"
          tone="danger"
          confirm={{ yes: `Remove ${id} with its keys`, no: "Keep it" }}
          run={() => gateway().tenants.remove(id)}
          onDone={onChange}
        />
      </p>
      <Quotas tenant={tenant} onChange={onChange} />
      <Members tenant={id} />
    </article>
  );
}

function Quotas({ tenant, onChange }: { readonly tenant: Tenant; onChange(): void }) {
  const { id, quotas } = tenant;
  const asked = useAsk(() => gateway().tenants.quotas(id), [id, tenant.changedAt]);
  return (
    <>
      <h3>Quotas</h3>
      <Shown asked={asked}>
        {(used) => (
          <Table
            caption={`Quotas of ${id}`}
            rows={used}
            keyOf={({ unit, period }) => `${unit} ${period}`}
            empty="It has no quotas."
            columns={[
              { title: "Quota", cell: ({ unit, period }) => `${unit} a ${period}` },
              { title: "Used", cell: Used },
              { title: "Soft", cell: ({ soft }) => soft?.toLocaleString() ?? "" },
              { title: "Hard", cell: ({ hard }) => hard?.toLocaleString() ?? "" },
              { title: "Budget", cell: ({ budget }) => budget?.toLocaleString() ?? "" },
              { title: "Begins anew", cell: ({ endsAt }) => <Time at={endsAt} /> },
            ]}
          />
        )}
      </Shown>
      {may("changeTenant") && (
        <Form
          title={`Set a quota of ${id}`}
          submit="Set"
          run={async (text) => {
            const [unit, period] = text("quota").split(" ") as [Quota["unit"], Quota["period"]];
            const others = quotas.filter((quota) => quota.unit !== unit || quota.period !== period);
            const [soft, hard] = [text("soft"), text("hard")];
            const changed: Quota = {
              unit,
              period,
              ...(soft !== "" && { soft: Number(soft) }),
              ...(hard !== "" && { hard: Number(hard) }),
            };
            const isSet = soft !== "" || hard !== "";
            await gateway().tenants.change(id, { quotas: isSet ? [...others, changed] : others });
          }}
          onDone={onChange}
        >
          <Field label="Quota">
            <select name="quota">
              {["calls day", "calls month", "tokens day", "tokens month", "cost day", "cost month"].map((each) => (
                <option key={each} value={each}>
                  {each.replace(" ", " a ")}
                </option>
              ))}
            </select>
          </Field>
          <Field label="Soft limit">
            <input name="soft" type="number" min="0" step="any" />
          </Field>
          <Field label="Hard limit; without limits the quota is removed">
            <input name="hard" type="number" min="0" step="any" />
          </Field>
        </Form>
      )}
    </>
  );
}

/** The used amount, highlighted if a limit is reached. */
function Used({ used, soft, hard }: QuotaStatus) {
  const isUsedUp = hard !== undefined && used >= hard;
  const isAboveSoft = soft !== undefined && used >= soft;
  return (
    <>
      {used.toLocaleString()} {isUsedUp ? <Badge state="used_up" /> : isAboveSoft && <Badge state="above_soft_limit" />}
    </>
  );
}

function Members({ tenant }: { readonly tenant: string }) {
  const asked = useAsk(() => gateway().tenants.members(tenant), [tenant]);
  const [round, setRound] = useState(0);
  return (
    <>
      <h3>Members</h3>
      <Shown asked={asked}>
        {(members) => (
          <Table
            caption={`Members of ${tenant}`}
            rows={members}
            keyOf={({ id }) => id}
            empty="Nobody is a member by name. People can belong to it through their groups."
            columns={[
              { title: "Person", cell: ({ id }) => id },
              { title: "Roles", cell: ({ roles }) => roles.join(", ") },
              { title: "Capabilities", cell: ({ capabilities }) => capabilities.join(", ") },
              {
                title: "Actions",
                cell: ({ id }) => (
                  <Action
                    label="Remove"
                    operation="removeMember"
                    tone="quiet"
                    run={() => gateway().tenants.removeMember(tenant, id)}
                    onDone={asked.again}
                  />
                ),
              },
            ]}
          />
        )}
      </Shown>
      {may("setMember") && (
        <Form
          key={round}
          title={`Add a member of ${tenant}`}
          submit="Add"
          run={async (text) => {
            await gateway().tenants.setMember(tenant, text("person"), { roles: wordsIn(text("roles")) });
          }}
          onDone={() => {
            asked.again();
            setRound(round + 1);
          }}
        >
          <Field label="Person, as the issuer names them">
            <input name="person" required />
          </Field>
          <Field label="Roles">
            <input name="roles" placeholder="operator, approver" />
          </Field>
        </Form>
      )}
    </>
  );
}
