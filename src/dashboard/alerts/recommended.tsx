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

const ALERTS = '/alerts';
export const RECOMMENDED_PATH = `${ALERTS}/recommended`;

export const readRecommended = async (call: PageCall): Promise<RecommendedAlert[]> =>
  (await call.invoke(alertOperations.listRecommended)).data;

const toSentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

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
          {
            title: 'Rule',
            cell: (rule) => (
              <>
                {rule.alert_id === null ? (
                  rule.name
                ) : (
                  <a href={`${ALERTS}/${rule.alert_id}`}>{rule.name}</a>
                )}
                <span class="row-note">{conditionText(rule)}</span>
              </>
            ),
          },
          {
            title: 'Would have alerted',
            cell: (rule) =>
              rule.times === null ? (
                <span class="muted">{toSentence(timesInWords(rule))}</span>
              ) : (
                toSentence(timesInWords(rule))
              ),
          },
          {
            title: 'Exists',
            cell: ({ alert_id }) => (alert_id === null ? <span class="muted">No</span> : 'Yes'),
            wide: true,
          },
        ]}
      />
    </>
  );
}

/** For the page of a new rule. */
export const FoldedRules = ({ rules }: { rules: RecommendedAlert[] }) =>
  rules.some(({ alert_id }) => alert_id === null) && (
    <Card title="Recommended rules" id="recommended">
      <Fold summary="Rules that suit every team">
        <RecommendedRules rules={rules} />
      </Fold>
    </Card>
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
