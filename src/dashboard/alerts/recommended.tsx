/** The recommended rules: how often each would have alerted lately, and one button that creates those that are missing. */

import { timesInWords } from '../../alerts/recommended.ts';
import { alertOperations } from '../../alerts/routes.ts';
import type { RecommendedAlert } from '../../alerts/schema.ts';
import { allows } from '../../http/actor.ts';
import { ActionButton } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { type FormProblem, ProblemNotice } from '../frame/form.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { page } from '../frame/page-route.ts';
import { useReader } from '../frame/reader.tsx';
import { Fold } from '../frame/states.tsx';
import { DataTable } from '../frame/table.tsx';
import { conditionText } from './parts.tsx';
import { thresholdName } from './rule-form.tsx';

const ALERTS = '/alerts';
export const RECOMMENDED_PATH = `${ALERTS}/recommended`;

export const readRecommended = async (call: PageCall): Promise<RecommendedAlert[]> =>
  (await call.invoke(alertOperations.listRecommended)).data;

const Rule = (rule: RecommendedAlert) => (
  <>
    {rule.alert_id === null ? rule.name : <a href={`${ALERTS}/${rule.alert_id}`}>{rule.name}</a>}
    <span class="row-note">{conditionText(rule)}</span>
    <span class={rule.times === null ? 'muted' : undefined}>
      {`Would have alerted: ${timesInWords(rule)}`}
    </span>
  </>
);

export function RecommendedRules({ rules }: { rules: RecommendedAlert[] }) {
  const missing = rules.filter(({ alert_id }) => alert_id === null).length;
  return (
    <>
      <p>
        These rules suit every team. They notify the owner and the admins by email. The table shows
        how often each would have alerted you in the last 30 days.
      </p>
      {missing > 0 && <CreateButton missing={missing} />}
      <DataTable
        label="Recommended rules"
        rows={rules}
        keyOf={({ condition }) => condition}
        columns={[
          { title: 'Rule', cell: (rule) => <Rule {...rule} /> },
          {
            title: 'Exists',
            cell: ({ alert_id }) => (alert_id === null ? <span class="muted">No</span> : 'Yes'),
          },
        ]}
      />
    </>
  );
}

/** More are folded. */
const MAX_SHOWN = 5;

/** Those that are missing, each with a button that creates it as it is, for the page of a new rule. */
export function MissingRules({ rules }: { rules: RecommendedAlert[] }) {
  const missing = rules.filter(({ alert_id }) => alert_id === null);
  if (missing.length === 0) return null;
  const rest = missing.slice(MAX_SHOWN);
  return (
    <Card title="Recommended rules" id="recommended">
      <p>These rules suit every team. Each notifies the owner and the admins by email.</p>
      <MissingTable rules={missing.slice(0, MAX_SHOWN)} />
      {rest.length > 0 && (
        <Fold summary={`${rest.length} more recommended rules`}>
          <MissingTable rules={rest} />
        </Fold>
      )}
      {missing.length > 1 && <CreateButton missing={missing.length} />}
    </Card>
  );
}

const MissingTable = ({ rules }: { rules: RecommendedAlert[] }) => (
  <DataTable
    label="Recommended rules"
    rows={rules}
    keyOf={({ condition }) => condition}
    columns={[
      { title: 'Rule', cell: (rule) => <Rule {...rule} /> },
      {
        title: 'Action',
        cell: ({ name, condition, threshold }) => (
          <form method="post" action={ALERTS} class="inline">
            <input type="hidden" name="name" value={name} />
            <input type="hidden" name="condition" value={condition} />
            <input type="hidden" name={thresholdName(condition)} value={threshold ?? ''} />
            <input type="hidden" name="channels" value="email" />
            <input type="hidden" name="enabled" value="on" />
            <button type="submit" class="button" aria-label={`Create the rule ${name}`}>
              Create
            </button>
          </form>
        ),
      },
    ]}
  />
);

function CreateButton({ missing }: { missing: number }) {
  const { role, testMode } = useReader();
  // Rules have no test mode.
  if (testMode || !allows(role, 'admin')) return null;
  return (
    <div class="actions">
      <ActionButton action={RECOMMENDED_PATH} primary>
        {missing === 1 ? 'Create the missing rule' : `Create ${missing} recommended rules`}
      </ActionButton>
    </div>
  );
}

async function render(call: PageCall, problem: FormProblem | null = null): Promise<Response> {
  const rules = await readRecommended(call);
  return appPage(call, {
    title: 'Recommended rules',
    section: 'alerts',
    path: RECOMMENDED_PATH,
    parents: [{ href: ALERTS, text: 'Alerts' }],
    status: problem?.status,
    headers: problem?.headers,
    calls: [
      { route: alertOperations.listRecommended },
      { route: alertOperations.createRecommended },
    ],
    children: (
      <>
        {problem && <ProblemNotice problem={problem} />}
        <RecommendedRules rules={rules} />
      </>
    ),
  });
}

const show = page({
  path: RECOMMENDED_PATH,
  operation: 'showRecommendedAlerts',
  role: 'member',
  summary: 'Show the recommended alert rules',
  handle: (call) => render(call),
});

const create = operationForm({
  path: RECOMMENDED_PATH,
  operation: 'submitRecommendedAlerts',
  summary: 'Create the missing recommended alert rules',
  route: alertOperations.createRecommended,
  next: () => `${ALERTS}?done=recommended`,
  onProblem: render,
});

export const recommendedPages = [show, create];
