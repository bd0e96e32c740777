/** The first page: who is signed in, what one can do here, and where to go from it. */

import type { App } from '../app.ts';
import { route } from '../http/route.ts';
import type { MemberRow } from '../store/tables.ts';
import { findMember } from '../team/members.ts';
import { listSessions } from '../team/sessions.ts';
import { FirstTest } from './first-test.tsx';
import { Submit } from './form.tsx';
import { PageQuery } from './form-body.ts';
import { pageResponse } from './page.tsx';
import { signedIn } from './signed-in.ts';

const show = route({
  method: 'GET',
  path: '/',
  operation: 'showHome',
  role: 'public',
  summary: 'The first page',
  query: PageQuery,
  produces: ['text/html'],
  async handle(call) {
    const { app } = call;
    const actor = await signedIn(call);
    const member = actor && (await findMember(app.db, actor.memberId));
    return member ? forMember(app, member) : forVisitor(app);
  },
});

function forVisitor({ config }: App): Response {
  return pageResponse({
    title: 'Test how your mail is received',
    wide: true,
    children: (
      <>
        <p>
          Send a test mail to an address that this service gives you, and read what receivers make
          of it: the score, what lost points, and how to mend it.
        </p>
        <a class="submit" href="/sign-in">
          Sign in
        </a>
      </>
    ),
    more: <FirstTest baseUrl={config.BASE_URL} />,
  });
}

async function forMember(app: App, { id, name, email, role }: MemberRow): Promise<Response> {
  const { rows, hasMore } = await listSessions(app, id, { limit: MOST_COUNTED });
  return pageResponse({
    title: 'You are signed in',
    wide: true,
    children: (
      <>
        <p>
          You are signed in as <strong>{name}</strong> ({email}), {ROLE_WORDS[role]}.
        </p>
        <p>
          {browsers(rows.length, hasMore)}
          {rows.length > 1 && app.mailer !== null && (
            <>
              {' '}
              To sign out everywhere, <a href="/forgot-password">set a new password</a>.
            </>
          )}
        </p>
        {role === 'viewer' && (
          <p>
            As a viewer you read tests and reports. To make some, ask an admin of the team for the
            role of a member.
          </p>
        )}
        <form method="post" action="/sign-out">
          <Submit secondary>Sign out</Submit>
        </form>
      </>
    ),
    more: role !== 'viewer' && <FirstTest baseUrl={app.config.BASE_URL} />,
  });
}

const MOST_COUNTED = 100;

function browsers(count: number, more: boolean): string {
  if (count === 1) return 'This browser alone is signed in to your account.';
  return `${more ? 'More than ' : ''}${count} browsers are signed in to your account, this one among them.`;
}

const ROLE_WORDS = {
  owner: 'the owner of the team',
  admin: 'an admin of the team',
  member: 'a member of the team',
  viewer: 'a viewer of the team',
};

export const homePages = [show];
