/** The page of an incident: what happened, what to do, and its timeline. */

import type { Step } from '../../alerts/conditions/condition.ts';
import { findIncidentSteps } from '../../alerts/incident-steps.ts';
import { alertOperations } from '../../alerts/routes.ts';
import type { AlertIncidentWithDetails, IncidentNotification } from '../../alerts/schema.ts';
import { findDomainOf } from '../../domains/queries.ts';
import { findTest } from '../../mailtests/queries.ts';
import { Copyable, StateMark } from '../../ui/components.tsx';
import { appPage } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import { page } from '../frame/page-route.ts';
import { useReader } from '../frame/reader.tsx';
import { asErrorSentence, Waiting } from '../frame/states.tsx';
import { Ago, durationText, Time } from '../frame/times.tsx';
import { PATH } from './alerts.tsx';
import {
  IncidentState,
  incidentFacts,
  incidentText,
  NotificationMark,
  pageOf,
  RESOLUTION_TEXTS,
  subjectOf,
} from './parts.tsx';

const show = page({
  path: '/incidents/:id',
  operation: 'showIncident',
  limited: true,
  role: 'member',
  summary: 'Show an incident',
  async handle(call) {
    const { app, params } = call;
    const id = params.id!;
    const incident = await call.invoke(alertOperations.getIncident, { params: { id } });
    const steps = await findIncidentSteps(app, id);
    const domain = await findDomainOf(app.db, incident.subject);
    const { title, lead } = incidentText(incident);
    return appPage(call, {
      title,
      section: 'alerts',
      path: `/incidents/${id}`,
      parents: [{ href: PATH, text: 'Alerts' }],
      calls: [{ route: alertOperations.getIncident, params: { id } }],
      children: (
        <>
          <Card>
            <p class="lead">{lead}</p>
            <IncidentFacts incident={incident} domain={domain ?? null} />
          </Card>
          <Cause incident={incident} hasTest={await isStored(incident.test_id)} />
          {steps.length > 0 && <StepsCard steps={steps} />}
          <Timeline incident={incident} />
        </>
      ),
    });

    async function isStored(testId: string | null): Promise<boolean> {
      // Incidents outlive their tests, and tests of the other mode have no page.
      if (testId === null || !call.actor.livemode) return false;
      return (await findTest(app.db, testId, true)) !== undefined;
    }
  },
});

function IncidentFacts({
  incident,
  domain,
}: {
  incident: AlertIncidentWithDetails;
  domain: { id: string; name: string } | null;
}) {
  const { now } = useReader();
  const { alert, alert_id, opened_at, resolved_at } = incident;
  const end = resolved_at === null ? now : Date.parse(resolved_at);
  return (
    <Facts
      items={[
        ['State', <IncidentState key="state" incident={incident} />],
        [
          'Subject',
          domain ? (
            <a href={`/domains/${domain.id}`}>
              <bdi>{subjectOf(incident)}</bdi>
            </a>
          ) : (
            <bdi>{subjectOf(incident)}</bdi>
          ),
        ],
        ...incidentFacts(incident).map(([label, value]): [string, preact.ComponentChildren] => [
          label,
          <bdi key={label}>{value}</bdi>,
        ]),
        ['Since', <Time key="since" at={opened_at} />],
        [
          resolved_at === null ? 'Open for' : 'Was open for',
          durationText(end - Date.parse(opened_at)),
        ],
        [
          'Rule',
          alert ? (
            <a href={`${PATH}/${alert_id}`}>
              <bdi>{alert.name}</bdi>
            </a>
          ) : (
            'Deleted rule'
          ),
        ],
      ]}
    />
  );
}

/** A link to what opened the incident: a test, a monitor, or the page of its condition. */
function Cause({ incident, hasTest }: { incident: AlertIncidentWithDetails; hasTest: boolean }) {
  const { test_id, monitor_id } = incident;
  const page = pageOf(incident);
  if (page)
    return (
      <div class="actions">
        <a class="button primary" href={page.path}>
          {page.label}
        </a>
      </div>
    );
  if (test_id !== null && hasTest)
    return (
      <div class="actions">
        <a class="button primary" href={`/tests/${test_id}`}>
          Open the test report
        </a>
      </div>
    );
  if (test_id === null && monitor_id !== null)
    return (
      <div class="actions">
        <a class="button primary" href={`/monitors/${monitor_id}`}>
          Open the monitor
        </a>
      </div>
    );
  return (
    <p class="small muted">
      {test_id === null
        ? 'The monitor that triggered this alert has been deleted.'
        : 'The test that triggered this alert has been deleted.'}
    </p>
  );
}

function StepsCard({ steps }: { steps: Step[] }) {
  return (
    <Card title="What to do" id="steps">
      <ol class="steps-list">
        {steps.map(({ title, text, record }) => (
          <li key={`${title} ${text}`} class="stack">
            {title !== '' && <h3>{title}</h3>}
            <p>{text}</p>
            {record && (
              <div class="box record">
                <span class="small muted">
                  {record.type} record at <bdi>{record.name}</bdi>
                </span>
                <Copyable text={record.value} label="the record" />
              </div>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}

function openedBy({ test_id, run_id }: AlertIncidentWithDetails): string {
  if (test_id !== null) return 'by a test';
  return run_id === null ? '' : 'by a monitor run';
}

function Timeline({ incident }: { incident: AlertIncidentWithDetails }) {
  const { notifications, opened_at, resolved_at, resolution, next_reminder_at } = incident;
  const about = (type: IncidentNotification['type']) =>
    notifications.filter((notification) => notification.type === type);
  return (
    <Card title="Timeline" id="timeline">
      <ol class="timeline">
        <li class="fail">
          <StateMark state="fail" word="Opened" />
          <div class="when">
            <Time at={opened_at} /> {openedBy(incident)}
          </div>
        </li>
        <Notifications notifications={about('triggered')} />
        <Notifications notifications={about('reminder')} />
        {resolved_at === null ? (
          <li>
            <Waiting>Still open</Waiting>
            <div class="when">
              {next_reminder_at === null ? (
                'No further notifications until it is resolved.'
              ) : (
                <>
                  Next reminder: <Time at={next_reminder_at} />
                </>
              )}
            </div>
          </li>
        ) : (
          <li class="pass">
            <StateMark state="pass" word="Resolved" />
            <div class="when">
              <Time at={resolved_at} />
              {resolution && `: ${RESOLUTION_TEXTS[resolution] ?? resolution}`}
            </div>
          </li>
        )}
        <Notifications notifications={about('resolved')} />
      </ol>
    </Card>
  );
}

const Notifications = ({ notifications }: { notifications: IncidentNotification[] }) => (
  <>
    {notifications.map((notification, index) => (
      // Notifications have no id, and their order never changes.
      <li key={index}>
        <NotificationMark {...notification} />
        {notification.type === 'reminder' && <span class="small"> (reminder)</span>}
        {notification.recipient && (
          <>
            {' '}
            <span class="small">
              to <bdi>{notification.recipient}</bdi>
            </span>
          </>
        )}
        <div class="when">
          <Ago at={notification.sent_at ?? notification.created_at} />
        </div>
        {notification.error && (
          <div class="small">
            <bdi>{asErrorSentence(notification.error)}</bdi>
          </div>
        )}
      </li>
    ))}
  </>
);

export const incidentPages = [show];
