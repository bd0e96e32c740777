/** Renders the page of the own account. */

import * as v from 'valibot';
import { allows } from '../../http/actor.ts';
import { isoTime } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { meOperations } from '../../team/me.ts';
import { findMember } from '../../team/members.ts';
import type { Session } from '../../team/schema.ts';
import { sessionOperations } from '../../team/session-routes.ts';
import { StateMark } from '../../ui/components.tsx';
import { ActionButton, Confirm } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import {
  Field,
  type FormProblem,
  NewPasswordFields,
  Notice,
  ProblemNotice,
  Select,
  TextField,
} from '../frame/form.tsx';
import { DataTable, Pager } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import { LeaveTeam } from '../team/leave.tsx';
import { ROLE_TEXTS } from '../team/roles.ts';
import { browserName } from './browser-name.ts';
import { localeOptions, timeZoneOptions } from './date-options.ts';

export const ACCOUNT_PATH = '/account';

export const AccountQuery = v.strictObject({
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
  done: v.optional(v.string()),
});

export type FormName = 'name' | 'password' | 'dates';

interface State {
  query?: v.InferOutput<typeof AccountQuery>;
  /** The form that was sent, with what was typed. */
  form?: { name: FormName; values: Record<string, string>; problem: FormProblem };
}

const DONE_TEXTS: Record<string, string> = {
  name: 'Name saved.',
  password: 'Password changed. Your other sessions have ended.',
  dates: 'Time zone and date format saved.',
  session: 'Session ended.',
  sessions: 'Your other sessions have ended.',
};

export async function renderAccount(call: PageCall, { query = {}, form }: State) {
  const { app, actor } = call;
  const { starting_after, ending_before, done = '' } = query;
  const cursors = { starting_after, ending_before };
  const me = await call.invoke(meOperations.get);
  const sessions = await call.invoke(sessionOperations.list, { query: cursors });
  const row = await findMember(app.db, actor.memberId);
  if (!row) throw new AppError('unauthenticated', 'You are no longer on the team.');
  const stateOf = (name: FormName): FormState =>
    form?.name === name ? form : { values: {}, problem: null };
  const { member } = me;
  return appPage(call, {
    title: 'Account',
    section: 'account',
    path: ACCOUNT_PATH,
    status: form?.problem.status,
    headers: form?.problem.headers,
    calls: [{ route: meOperations.get }, { route: sessionOperations.list, query: cursors }],
    children: (
      <>
        {Object.hasOwn(DONE_TEXTS, done) && <Notice tone="pass">{DONE_TEXTS[done]!}</Notice>}
        <div class="columns">
          <NameCard {...member} {...stateOf('name')} />
          <DatesCard now={isoTime(app.clock.now())} current={me} {...stateOf('dates')} />
        </div>
        {row.password_hash === null ? (
          <NoPasswordCard isMailSetUp={app.mailer !== null} />
        ) : (
          <PasswordCard email={member.email} {...stateOf('password')} />
        )}
        <SessionsCard sessions={sessions.data} />
        <Pager
          path={ACCOUNT_PATH}
          query={{}}
          cursors={cursors}
          rows={sessions.data}
          hasMore={sessions.has_more}
        />
        {allows(actor.role, 'member') && (
          <Card title="API keys" id="keys">
            <p>
              Scripts authenticate with an API key instead of your password.{' '}
              <a href="/api-keys">Manage API keys</a>
            </p>
          </Card>
        )}
        {member.role !== 'owner' && <LeaveTeam />}
      </>
    ),
  });
}

interface FormState {
  values: Record<string, string>;
  problem: FormProblem | null;
}

interface NameProps extends FormState {
  name: string;
  email: string;
  role: keyof typeof ROLE_TEXTS;
}

function NameCard({ name, email, role, values, problem }: NameProps) {
  return (
    <Card title="Profile" id="profile">
      <Facts
        items={[
          ['Email address', email],
          ['Role', ROLE_TEXTS[role]],
        ]}
      />
      <form method="post" action={`${ACCOUNT_PATH}/name`} class="fields">
        <ProblemNotice problem={problem} />
        <TextField
          name="name"
          label="Name"
          value={values.name ?? name}
          error={problem?.fields.name}
          focus={problem !== null}
          required
        />
        <button type="submit" class="button">
          Save name
        </button>
      </form>
    </Card>
  );
}

interface DatesProps extends FormState {
  /** ISO time, for the examples. */
  now: string;
  current: { time_zone: string | null; date_locale: string | null };
}

function DatesCard({ now, current, values, problem }: DatesProps) {
  const { time_zone, date_locale } = current;
  return (
    <Card title="Times and dates" id="dates">
      <form method="post" action={`${ACCOUNT_PATH}/dates`} class="fields">
        <ProblemNotice problem={problem} />
        <Select
          name="time_zone"
          label="Time zone"
          options={[['', 'Time zone of the browser'], ...timeZoneOptions(time_zone)]}
          value={values.time_zone ?? time_zone ?? ''}
          error={problem?.fields.time_zone}
        />
        <Select
          name="date_locale"
          label="Date format"
          options={[['', 'Language of the browser'], ...localeOptions(now, date_locale)]}
          value={values.date_locale ?? date_locale ?? ''}
          error={problem?.fields.date_locale}
        />
        <button type="submit" class="button">
          Save times and dates
        </button>
      </form>
    </Card>
  );
}

function PasswordCard({ email, problem }: FormState & { email: string }) {
  const fields = problem?.fields ?? {};
  return (
    <Card title="Password" id="change-password">
      <p>A new password ends your other sessions.</p>
      <form method="post" action={`${ACCOUNT_PATH}/password`} class="fields">
        <ProblemNotice problem={problem} />
        <NewPasswordFields
          email={email}
          errors={fields}
          focusElsewhere={problem === null || Boolean(fields.current_password)}
        >
          <Field
            name="current_password"
            label="Current password"
            type="password"
            autocomplete="current-password"
            error={fields.current_password}
            focus={Boolean(fields.current_password)}
          />
        </NewPasswordFields>
        <button type="submit" class="button">
          Change password
        </button>
      </form>
    </Card>
  );
}

const NoPasswordCard = ({ isMailSetUp }: { isMailSetUp: boolean }) => (
  <Card title="Password" id="change-password">
    <p>
      You have no password, because you sign in through your identity provider.{' '}
      {isMailSetUp && (
        <>
          To set one, <a href="/forgot-password">request a link by email</a>.
        </>
      )}
    </p>
  </Card>
);

function SessionsCard({ sessions }: { sessions: Session[] }) {
  const hasOthers = sessions.some(({ current }) => !current);
  return (
    <Card
      title="Sessions"
      id="sessions"
      actions={
        hasOthers && (
          <Confirm
            action={`${ACCOUNT_PATH}/sessions/end-others`}
            label="End all other sessions…"
            warning="Your other browsers must sign in again. This one stays signed in."
            confirm="End all other sessions"
          />
        )
      }
    >
      <div class="stacked">
        <DataTable
          label="Sessions"
          rows={sessions}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Browser',
              cell: ({ user_agent, ip, last_seen_at, current }) => (
                <>
                  <strong>{browserName(user_agent)}</strong>
                  {current && <StateMark state="pass" word="This browser" badge />}
                  <span class="row-note">{ip ?? 'Unknown address'}</span>
                  <span class="narrow">
                    Last seen <Ago at={last_seen_at} />
                  </span>
                </>
              ),
            },
            { title: 'Signed in', cell: ({ created_at }) => <Ago at={created_at} />, wide: true },
            {
              title: 'Last seen',
              cell: ({ last_seen_at }) => <Ago at={last_seen_at} />,
              wide: true,
            },
            {
              title: 'Actions',
              hiddenTitle: true,
              cell: ({ id, current }) => (
                <ActionButton action={`${ACCOUNT_PATH}/sessions/${id}/end`}>
                  {current ? 'Sign out' : 'End session'}
                </ActionButton>
              ),
            },
          ]}
        />
      </div>
    </Card>
  );
}
