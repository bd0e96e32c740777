/** The forms of the page of the own account: name, password, dates, and sessions. */

import type { InferInput } from 'valibot';
import { clearedSessionCookie } from '../../http/cookies.ts';
import { invalidParams } from '../../lib/errors.ts';
import { meOperations } from '../../team/me.ts';
import type { MePatch } from '../../team/schema.ts';
import { sessionOperations } from '../../team/session-routes.ts';
import type { PageCall } from '../frame/app-page.tsx';
import { readForm, submit } from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { ACCOUNT_PATH, AccountQuery, type FormName, renderAccount } from './account-page.tsx';

const show = page({
  path: ACCOUNT_PATH,
  operation: 'showAccount',
  limited: true,
  role: 'viewer',
  summary: 'Show your account',
  query: AccountQuery,
  handle: (call) => renderAccount(call, { query: call.query }),
});

/** Changes the account, and returns to the page with a notice, or to the form with its problem. */
async function change(
  call: PageCall,
  name: FormName,
  {
    labels,
    values,
    work,
  }: {
    labels: Record<string, string>;
    values: Record<string, string>;
    work(): Promise<unknown>;
  },
): Promise<Response> {
  const { problem } = await submit(labels, work);
  return problem
    ? renderAccount(call, { form: { name, values, problem } })
    : seeOther(`${ACCOUNT_PATH}?done=${name}`);
}

const updateMe = (call: PageCall, body: InferInput<typeof MePatch>) =>
  call.invoke(meOperations.update, { body });

const submitName = form({
  path: `${ACCOUNT_PATH}/name`,
  operation: 'submitAccountName',
  limited: true,
  role: 'viewer',
  summary: 'Change your name with the form',
  handle(call) {
    const name = readForm(call.raw)('name');
    return change(call, 'name', {
      labels: { name: 'name' },
      values: { name },
      work: () => updateMe(call, { name }),
    });
  },
});

const PASSWORD_LABELS = {
  current_password: 'current password',
  password: 'new password',
  repeated: 'confirmation',
};

const submitPassword = form({
  path: `${ACCOUNT_PATH}/password`,
  operation: 'submitAccountPassword',
  limited: true,
  role: 'viewer',
  summary: 'Change your password with the form',
  handle(call) {
    const field = readForm(call.raw);
    const [current_password, password] = [field('current_password'), field('password')];
    return change(call, 'password', {
      labels: PASSWORD_LABELS,
      values: {},
      async work() {
        if (field('repeated') !== password)
          throw invalidParams([
            { param: 'repeated', code: 'invalid', message: 'must match the new password' },
          ]);
        await updateMe(call, { current_password, password });
      },
    });
  },
});

const submitDates = form({
  path: `${ACCOUNT_PATH}/dates`,
  operation: 'submitAccountDates',
  limited: true,
  role: 'viewer',
  summary: 'Choose your time zone and date format with the form',
  handle(call) {
    const field = readForm(call.raw);
    const values = { time_zone: field('time_zone'), date_locale: field('date_locale') };
    return change(call, 'dates', {
      labels: { time_zone: 'time zone', date_locale: 'date format' },
      values,
      work: () =>
        updateMe(call, {
          time_zone: values.time_zone || null,
          date_locale: values.date_locale || null,
        }),
    });
  },
});

const endSession = form({
  path: `${ACCOUNT_PATH}/sessions/:id/end`,
  operation: 'submitSessionEnd',
  limited: true,
  role: 'viewer',
  summary: 'End one of your sessions with the button',
  async handle(call) {
    const id = call.params.id!;
    await call.invoke(sessionOperations.end, { params: { id } });
    if (id !== call.actor.sessionId) return seeOther(`${ACCOUNT_PATH}?done=session`);
    call.setHeader('set-cookie', clearedSessionCookie(call.app.config));
    return seeOther('/sign-in?done=signed-out');
  },
});

const endOthers = form({
  path: `${ACCOUNT_PATH}/sessions/end-others`,
  operation: 'submitOtherSessionsEnd',
  limited: true,
  role: 'viewer',
  summary: 'End your other sessions with the button',
  async handle(call) {
    await call.invoke(sessionOperations.endOthers);
    return seeOther(`${ACCOUNT_PATH}?done=sessions`);
  },
});

export const accountPages = [show, submitName, submitPassword, submitDates, endSession, endOthers];
