/** Report schedules: list, create, show with their reports, edit, send now, delete. */

import type { ComponentChildren } from 'preact';
import * as v from 'valibot';
import { allows } from '../../http/actor.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { scheduleOperations } from '../../schedules/routes.ts';
import type { Schedule } from '../../schedules/schema.ts';
import { findMember } from '../../team/members.ts';
import { StateMark } from '../../ui/components.tsx';
import { ActionButton, Confirm } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import { type FormProblem, hasErrors, Notice, submit } from '../frame/form.tsx';
import { ListQuery, listPage } from '../frame/list-page.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { For, useReader } from '../frame/reader.tsx';
import { EmptyState, NotSetUp, Waiting } from '../frame/states.tsx';
import { DataTable, Pager } from '../frame/table.tsx';
import { Ago, Time } from '../frame/times.tsx';
import { ifUnchanged, versionOf } from '../frame/version.tsx';
import { findDomainNames } from './schedule-domains.ts';
import {
  bodyOf,
  clockOf,
  domainChoices,
  newValues,
  readValues,
  SCHEDULE_LABELS,
  ScheduleForm,
  type ScheduleValues,
  valuesOf,
  WEEKDAYS,
} from './schedule-form.tsx';
import { RunMark, Runs, SentNotice } from './schedule-runs.tsx';
import { ReportTabs } from './tabs.tsx';

const PATH = '/reports/schedules';
const NEW_PATH = `${PATH}/new`;
const PARENTS = [{ href: PATH, text: 'Schedules' }];
const pathOf = (id: string): string => `${PATH}/${id}`;

/** Reports are still composed without outgoing email, so that the preview works. */
const NoMail = () => (
  <Notice tone="warn">
    Outgoing email is not configured, so no report is sent.{' '}
    <For role="admin">
      Set <code>DELIVERABILITY_MAIL_URL</code> and <code>DELIVERABILITY_MAIL_FROM</code>.{' '}
      <a href="/system">See what is configured</a>.
    </For>
  </Notice>
);

/** Schedules exist once, and send the figures of live tests. */
function NoTestMode() {
  if (!useReader().testMode) return null;
  return (
    <Notice tone="info">
      Report schedules have no test mode: they report live tests. Switch to live mode to create,
      change or send one.
    </Notice>
  );
}

// The list.

const list = listPage({
  path: PATH,
  operation: 'showReportSchedules',
  summary: 'Show the report schedules',
  title: 'Report schedules',
  section: 'reports',
  route: scheduleOperations.list,
  done: { deleted: 'Schedule deleted.' },
  content(schedules, { app, actor }) {
    const create = actor.livemode && allows(actor.role, 'admin') && (
      <a class="button primary" href={NEW_PATH}>
        Create schedule
      </a>
    );
    return {
      actions: schedules.length > 0 && create,
      tabs: <ReportTabs current="schedules" />,
      before: (
        <>
          <NoTestMode />
          {app.mailer === null && <NoMail />}
        </>
      ),
      list:
        schedules.length > 0 ? (
          <ScheduleTable schedules={schedules} />
        ) : (
          <EmptyState title="No report schedules yet" action={create}>
            {create
              ? 'A schedule emails a summary of the last day, week or month to the recipients that you choose.'
              : 'Admins can schedule reports that are emailed every day, week or month.'}
          </EmptyState>
        ),
    };
  },
});

function ScheduleTable({ schedules }: { schedules: Schedule[] }) {
  return (
    <DataTable
      label="Report schedules"
      rows={schedules}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => pathOf(id)}
      columns={[
        {
          title: 'Name',
          cell: (schedule) => (
            <>
              <bdi>{schedule.name}</bdi>
              <span class="row-note small">{timingInWords(schedule)}</span>
            </>
          ),
        },
        { title: 'Last report', cell: (schedule) => <LastRun schedule={schedule} /> },
        {
          title: 'Recipients',
          cell: (schedule) => formatCount(addressesOf(schedule).length),
          number: true,
          wide: true,
        },
        {
          title: 'Next report',
          cell: (schedule) => <NextReport schedule={schedule} />,
          wide: true,
        },
      ]}
    />
  );
}

/** "Every Monday at 08:00, Europe/Berlin". */
export function timingInWords(
  schedule: Pick<Schedule, 'frequency' | 'weekday' | 'day_of_month' | 'send_hour' | 'timezone'>,
): string {
  const { frequency, weekday, day_of_month, send_hour, timezone } = schedule;
  const days = {
    daily: 'Every day',
    weekly: `Every ${WEEKDAYS.find(([name]) => name === weekday)![1]}`,
    monthly: `Day ${day_of_month} of every month`,
  };
  return `${days[frequency]} at ${clockOf(send_hour)}, ${timezone}`;
}

function NextReport({ schedule: { next_send_at } }: { schedule: Schedule }) {
  return next_send_at ? <Ago at={next_send_at} /> : <NotSetUp>Paused</NotSetUp>;
}

function LastRun({ schedule: { last_status, detail } }: { schedule: Schedule }) {
  if (detail) return <StateMark state="warn" word="Needs attention" />;
  if (last_status === null) return <Waiting>None yet</Waiting>;
  return <RunMark status={last_status} />;
}

// Creating and editing.

interface FormState {
  values: ScheduleValues;
  problem?: FormProblem | null;
  /** The schedule to edit. */
  schedule?: Schedule;
}

/** So that the command works although nothing was typed yet. */
const withExamples = (values: ScheduleValues, email: string): ScheduleValues => ({
  ...values,
  name: values.name || 'Weekly report',
  recipients: values.recipients || email,
});

async function renderForm(call: PageCall, { values, problem = null, schedule }: FormState) {
  return appPage(call, {
    suggestTags: true,
    title: schedule ? 'Edit schedule' : 'New schedule',
    section: 'reports',
    path: schedule ? `${pathOf(schedule.id)}/edit` : NEW_PATH,
    parents: [
      ...PARENTS,
      ...(schedule ? [{ href: pathOf(schedule.id), text: schedule.name }] : []),
    ],
    status: problem?.status,
    headers: problem?.headers,
    calls: [
      {
        route: schedule ? scheduleOperations.update : scheduleOperations.create,
        params: schedule && { id: schedule.id },
        body: (await bodyOf(call, withExamples(values, call.actor.email))).body,
      },
    ],
    children: (
      <>
        {call.app.mailer === null && <NoMail />}
        <NoTestMode />
        {call.actor.livemode && (
          <ScheduleForm
            action={schedule ? pathOf(schedule.id) : PATH}
            submit={schedule ? 'Save changes' : 'Create schedule'}
            values={values}
            version={schedule && versionOf(scheduleOperations.get, schedule)}
            problem={problem}
            choices={await domainChoices(call)}
          />
        )}
      </>
    ),
  });
}

const showNew = page({
  path: NEW_PATH,
  operation: 'showNewReportSchedule',
  role: 'admin',
  summary: 'Show the form for a report schedule',
  async handle(call) {
    const member = await findMember(call.app.db, call.actor.memberId);
    return renderForm(call, { values: newValues(member?.time_zone ?? null) });
  },
});

const invalid = (fields: FormProblem['fields']): FormProblem => ({
  status: 422,
  notice: null,
  fields,
  headers: {},
});

/** Finds the domains, then does the work. */
async function submitValues<T>(
  call: PageCall,
  values: ScheduleValues,
  work: (body: Awaited<ReturnType<typeof bodyOf>>['body']) => Promise<T>,
) {
  const { body, errors } = await bodyOf(call, values);
  if (hasErrors(errors)) return { result: null, problem: invalid(errors) };
  return submit(SCHEDULE_LABELS, () => work(body));
}

const create = form({
  path: PATH,
  operation: 'submitReportSchedule',
  role: 'admin',
  summary: 'Create a report schedule with the form',
  async handle(call) {
    const values = readValues(call.raw);
    const { result, problem } = await submitValues(call, values, (body) =>
      call.invoke(scheduleOperations.create, { body }),
    );
    if (problem) return renderForm(call, { values, problem });
    return seeOther(`${pathOf(result!.id)}?done=created`);
  },
});

const showEdit = page({
  path: `${PATH}/:id/edit`,
  operation: 'showReportScheduleForm',
  role: 'admin',
  summary: 'Show the form of a report schedule',
  async handle(call) {
    const schedule = await call.invoke(scheduleOperations.get, { params: { id: call.params.id! } });
    return renderForm(call, { values: await valuesOf(call, schedule), schedule });
  },
});

const update = form({
  path: `${PATH}/:id`,
  operation: 'submitReportScheduleChange',
  role: 'admin',
  summary: 'Change a report schedule with the form',
  async handle(call) {
    const params = { id: call.params.id! };
    const values = readValues(call.raw);
    const { problem } = await submitValues(call, values, (body) =>
      call.invoke(scheduleOperations.update, { params, body, headers: ifUnchanged(call.raw) }),
    );
    if (!problem) return seeOther(`${pathOf(params.id)}?done=saved`);
    const schedule = await call.invoke(scheduleOperations.get, { params });
    return renderForm(call, { values, problem, schedule });
  },
});

// One schedule with its runs.

const DONE_TEXTS: Record<string, string> = {
  created: 'Schedule created.',
  saved: 'Changes saved.',
};

/** `sent` is the run that the button has started. */
const ShowQuery = v.strictObject({ ...ListQuery.entries, sent: v.optional(v.string()) });

const show = page({
  path: `${PATH}/:id`,
  operation: 'showReportSchedule',
  role: 'viewer',
  summary: 'Show a report schedule with its runs',
  query: ShowQuery,
  handle: (call) => renderSchedule(call, call.params.id!, { query: call.query }),
});

interface ShowState {
  query?: v.InferOutput<typeof ShowQuery>;
  problem?: FormProblem;
}

async function renderSchedule(call: PageCall, id: string, { query = {}, problem }: ShowState) {
  const { starting_after, ending_before, done = '', sent } = query;
  const [params, cursors] = [{ id }, { starting_after, ending_before }];
  const [schedule, runs] = await Promise.all([
    call.invoke(scheduleOperations.get, { params }),
    call.invoke(scheduleOperations.runs, { params, query: { ...cursors, limit: '10' } }),
  ]);
  const domains = await domainsInWords(call, schedule);
  return appPage(call, {
    title: schedule.name,
    section: 'reports',
    path: pathOf(id),
    parents: PARENTS,
    status: problem?.status,
    headers: problem?.headers,
    actions: <ScheduleActions id={id} />,
    calls: [
      { route: scheduleOperations.get, params },
      { route: scheduleOperations.runs, params, query: cursors },
    ],
    children: (
      <>
        {problem && <Notice tone="fail">{problem.notice ?? 'The report was not sent.'}</Notice>}
        {Object.hasOwn(DONE_TEXTS, done) && <Notice tone="pass">{DONE_TEXTS[done]!}</Notice>}
        <SentNotice runs={runs.data} started={sent} />
        <NoTestMode />
        {call.app.mailer === null && <NoMail />}
        {schedule.detail && <Notice tone="warn">{schedule.detail}</Notice>}
        <Card>
          <Facts
            items={[
              ['When', timingInWords(schedule)],
              ['Next report', <NextReport key="next" schedule={schedule} />],
              [
                'Last sent',
                schedule.last_sent_at ? <Time key="last" at={schedule.last_sent_at} /> : 'Never',
              ],
              ['Domains', domains],
              ['Sections', sectionsInWords(schedule)],
              ['Format', schedule.format === 'pdf' ? 'Email with PDF' : 'Email'],
            ]}
          />
        </Card>
        <Recipients schedule={schedule} />
        <Card title="Reports sent" id="runs">
          <Runs runs={runs.data} timezone={schedule.timezone} />
          <Pager
            path={pathOf(id)}
            query={{}}
            cursors={cursors}
            rows={runs.data}
            hasMore={runs.has_more}
          />
        </Card>
      </>
    ),
  });
}

function ScheduleActions({ id }: { id: string }) {
  const preview = scheduleOperations.preview.path.replace(':id', id);
  return (
    <>
      <a class="button" href={preview} target="_blank" rel="noopener">
        Preview<span class="visually-hidden"> (opens in a new tab)</span>
      </a>
      <LiveAdmin>
        <ActionButton action={`${pathOf(id)}/send`}>Send now</ActionButton>
        <a class="button" href={`${pathOf(id)}/edit`}>
          Edit
        </a>
        <Confirm
          action={`${pathOf(id)}/delete`}
          label="Delete…"
          warning="This deletes the schedule and the list of its reports. Queued emails are canceled. This cannot be undone."
          confirm="Delete schedule"
        />
      </LiveAdmin>
    </>
  );
}

const LiveAdmin = ({ children }: { children: ComponentChildren }) =>
  useReader().testMode ? null : <For role="admin">{children}</For>;

/** Names for those who may see domains; the number for viewers. */
async function domainsInWords(
  call: PageCall,
  { domains, tags, recipients_by_tag }: Schedule,
): Promise<string> {
  if (recipients_by_tag) return 'Each client’s own domains';
  if (tags) return `With the tags ${tags.join(', ')}`;
  if (domains === null) return 'All domains';
  if (domains.length === 0) return 'None: all were deleted';
  if (!allows(call.actor.role, 'member')) return formatCount(domains.length, 'domain');
  return [...(await findDomainNames(call.app.db, domains)).values()].join(', ');
}

const SECTION_NAMES = { summary: 'Summary', trends: 'Trends', alerts: 'Alerts' };

const sectionsInWords = ({ include_sections }: Schedule): string =>
  include_sections.map((name) => SECTION_NAMES[name]).join(', ');

/** All recipients, each once, with the tags whose report they get. */
function addressesOf({ recipients, recipients_by_tag }: Schedule) {
  const tagsBy = new Map<string, string[]>(recipients.map((email) => [email, []]));
  for (const [tag, emails] of Object.entries(recipients_by_tag ?? {}))
    for (const email of emails) tagsBy.set(email, [...(tagsBy.get(email) ?? []), tag]);
  return [...tagsBy].map(([email, tags]) => ({ email, tags }));
}

function Recipients({ schedule }: { schedule: Schedule }) {
  const { unsubscribed } = schedule;
  const recipients = addressesOf(schedule);
  const leftAt = new Map(unsubscribed.map(({ email, left_at }) => [email, left_at]));
  const others = unsubscribed
    .filter(({ email }) => recipients.every((one) => one.email !== email))
    .map(({ email }) => ({ email, tags: [] }));
  return (
    <Card title="Recipients" id="recipients">
      <ul class="copies">
        {[...recipients, ...others].map(({ email, tags }) => (
          <li key={email}>
            <bdi>{email}</bdi>
            {tags.length > 0 && <span class="small muted">{tags.join(', ')}</span>}
            {leftAt.has(email) && (
              <span class="small muted">
                unsubscribed <Ago at={leftAt.get(email)!} />
              </span>
            )}
          </li>
        ))}
      </ul>
      {unsubscribed.length > 0 && (
        <p class="small muted">
          Recipients who unsubscribed get no reports, even if you add them again.
        </p>
      )}
    </Card>
  );
}

const send = operationForm({
  path: `${PATH}/:id/send`,
  operation: 'submitReportScheduleSend',
  summary: 'Send a report now with the button',
  route: scheduleOperations.send,
  next: ({ id }, { params }) => `${pathOf(params.id!)}?sent=${id}`,
  onProblem: (call, problem) => renderSchedule(call, call.params.id!, { problem }),
});

const remove = operationForm({
  path: `${PATH}/:id/delete`,
  operation: 'submitReportScheduleDeletion',
  summary: 'Delete a report schedule with the button',
  route: scheduleOperations.remove,
  next: () => `${PATH}?done=deleted`,
});

export const schedulePages = [list, showNew, create, show, showEdit, update, send, remove];
