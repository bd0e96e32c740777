/** What to do next: the steps of the set-up that are not done, as far as the role can do them. */

import { alertOperations } from '../../alerts/routes.ts';
import type { TableCounts } from '../../domain-table/queries.ts';
import { allows } from '../../http/actor.ts';
import { testOperations } from '../../mailtests/routes.ts';
import { scheduleOperations } from '../../schedules/routes.ts';
import { invitationOperations } from '../../team/invitation-routes.ts';
import { memberOperations } from '../../team/member-routes.ts';
import type { PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';

export interface Step {
  title: string;
  /** Why, in a sentence. */
  text: string;
  href: string;
  /** The text of the button. */
  action: string;
}

/** Returns the open steps in the order in which they make sense. */
export async function findNextSteps(call: PageCall, domains: TableCounts): Promise<Step[]> {
  const { actor } = call;
  if (!allows(actor.role, 'member')) return [];
  return [
    ...(await firstTest(call)),
    ...(await domainSteps(call, domains)),
    ...(allows(actor.role, 'admin') ? await adminSteps(call) : []),
  ];
}

/** A page of one row shows whether there is any. */
const ANY = { limit: '1' };

async function firstTest(call: PageCall): Promise<Step[]> {
  const completed = { ...ANY, status: 'completed' };
  const [{ data: done }, { data: newest }] = await Promise.all([
    call.invoke(testOperations.list, { query: completed }),
    call.invoke(testOperations.list, { query: ANY }),
  ]);
  const [test] = newest;
  if (done.length > 0) return [];
  if (!test)
    return [
      {
        title: 'Test your first message',
        text: 'The report shows its score, and how to fix each problem.',
        href: '/tests/new',
        action: 'Create test',
      },
    ];
  return [
    {
      title: 'Get your first result',
      text: 'Send a message to your test address. The report shows what to fix.',
      href: `/tests/${test.id}`,
      action: 'Open the test',
    },
  ];
}

async function domainSteps({ app, actor }: PageCall, domains: TableCounts): Promise<Step[]> {
  if (domains.total === 0 && actor.tags !== null) return [];
  if (domains.total === 0)
    return [
      {
        title: 'Add a sending domain',
        text: 'Its DNS records are then checked every day, and its tests are summarized.',
        href: '/domains',
        action: 'Add domain',
      },
    ];
  if (domains.states.pending + domains.states.failed < domains.total) return [];
  const unverified = await app.db
    .selectFrom('domains')
    .select(['id', 'name'])
    .where('status', '!=', 'verified')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!unverified) return [];
  return [
    {
      title: `Verify ${unverified.name}`,
      text: 'Publish a TXT record to prove that you control the domain.',
      href: `/domains/${unverified.id}`,
      action: 'Show the record',
    },
  ];
}

async function adminSteps(call: PageCall): Promise<Step[]> {
  const [rules, schedules, members, invitations] = await Promise.all([
    call.invoke(alertOperations.list, { query: ANY }),
    call.invoke(scheduleOperations.list, { query: ANY }),
    call.invoke(memberOperations.list),
    call.invoke(invitationOperations.list, { query: ANY }),
  ]);
  const canSendMail = call.app.mailer !== null;
  const steps: Step[] = [];
  if (!canSendMail)
    steps.push({
      title: 'Configure outgoing email',
      text: 'Alerts, invitations and scheduled reports need a mail server. Set DELIVERABILITY_MAIL_URL.',
      href: '/system',
      action: 'See what is missing',
    });
  if (rules.data.length === 0)
    steps.push({
      title: 'Create an alert rule',
      text: 'Get notified when a score drops, authentication fails, or a blocklist lists you.',
      href: '/alerts/new',
      action: 'Create rule',
    });
  if (members.data.length <= 1 && invitations.data.length === 0)
    steps.push({
      title: 'Invite your team',
      text: 'Colleagues see the same tests and reports, each with their own role.',
      href: '/team',
      action: 'Invite',
    });
  if (canSendMail && schedules.data.length === 0)
    steps.push({
      title: 'Schedule a report',
      text: 'Send the figures below to your team every day, week or month.',
      href: '/reports/schedules/new',
      action: 'Create schedule',
    });
  return steps;
}

/** Nothing once all steps are done. */
export function NextSteps({ steps }: { steps: Step[] }) {
  if (steps.length === 0) return null;
  return (
    <Card title="What to do next" id="next">
      <ol class="next-steps">
        {steps.map(({ title, text, href, action }) => (
          <li key={title}>
            <div>
              <strong>
                <bdi>{title}</bdi>
              </strong>
              <p class="small muted">{text}</p>
            </div>
            <a class="button screen-only" href={href}>
              {action}
            </a>
          </li>
        ))}
      </ol>
    </Card>
  );
}
