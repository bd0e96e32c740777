/** The home page: the signed-in member or a link to sign in, and commands for a first test. */

import type { App } from '../app.ts';
import { route } from '../http/route.ts';
import { Copyable } from '../report/html/components.tsx';
import type { MemberRow } from '../store/tables.generated.ts';
import { findMember } from '../team/members.ts';
import { listSessions } from '../team/sessions.ts';
import { PageQuery, Submit } from './form.tsx';
import { pageResponse } from './page.tsx';
import { findSignedInActor } from './sign-in.tsx';

const show = route({
  method: 'GET',
  path: '/',
  operation: 'showHome',
  role: 'public',
  summary: 'Show the home page',
  query: PageQuery,
  produces: ['text/html'],
  async handle(call) {
    const { app } = call;
    const actor = await findSignedInActor(call);
    const member = actor && (await findMember(app.db, actor.memberId));
    return member ? memberPage(app, member) : visitorPage(app);
  },
});

function visitorPage({ config }: App): Response {
  return pageResponse({
    title: 'Test your email deliverability',
    wide: true,
    children: (
      <>
        <p>
          Send a message to a test address. The report shows your score, each problem that lowered
          it, and how to fix it.
        </p>
        <a class="submit" href="/sign-in">
          Sign in
        </a>
      </>
    ),
    more: <FirstTest baseUrl={config.BASE_URL} />,
  });
}

async function memberPage(app: App, { id, name, email, role }: MemberRow): Promise<Response> {
  const { rows, hasMore } = await listSessions(app, id, { limit: MAX_COUNTED_SESSIONS });
  return pageResponse({
    title: 'Home',
    wide: true,
    children: (
      <>
        <p>
          You're signed in as <strong>{name}</strong> ({email}), {ROLE_WORDS[role]}.
        </p>
        <p>
          {sessionCountText(rows.length, hasMore)}
          {rows.length > 1 && app.mailer !== null && (
            <>
              {' '}
              To sign out everywhere, <a href="/forgot-password">set a new password</a>.
            </>
          )}
        </p>
        {role === 'viewer' && (
          <p>
            As a viewer, you can read tests and reports. To create tests, ask an admin for the
            member role.
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

const MAX_COUNTED_SESSIONS = 100;

function sessionCountText(count: number, hasMore: boolean): string {
  if (count === 1) return "You're signed in only in this browser.";
  return `You have active sessions in ${hasMore ? 'more than ' : ''}${count} browsers, including this one.`;
}

const ROLE_WORDS = {
  owner: 'the owner of the team',
  admin: 'an admin of the team',
  member: 'a member of the team',
  viewer: 'a viewer of the team',
};

export const homePages = [show];

// Shell commands for a first test. They work as shown once the API key is set.

const AUTHORIZATION_OPTION = '-H "Authorization: Bearer $API_KEY"';

function Command({ lines, label }: { lines: string[]; label: string }) {
  return (
    <div class="box command">
      <Copyable text={lines.join(' \\\n  ')} label={label} />
    </div>
  );
}

/** `baseUrl` is the address of the API. */
function FirstTest({ baseUrl }: { baseUrl: string }) {
  const tests = `${baseUrl.replace(/\/$/, '')}/v1/tests`;
  return (
    <section class="card form" aria-labelledby="first-test">
      <h2 id="first-test">Run your first test</h2>
      <ol class="steps">
        <li>
          <p>
            Run this command and paste your API key. If you have none, ask your administrator to run{' '}
            <code>deliverability key NAME --role member</code>.
          </p>
          <Command lines={['read -rs API_KEY']} label="the command to enter the API key" />
        </li>
        <li>
          <p>
            Get a test address (<code>address</code> in the response), and send your message to it.
          </p>
          <Command
            lines={[`curl -X POST "${tests}"`, AUTHORIZATION_OPTION]}
            label="the command to get a test address"
          />
        </li>
        <li>
          <p>
            Set <code>TEST_ID</code> to the <code>id</code> in that response, then get the report.
            The request waits up to 50 seconds for your message.
          </p>
          <Command
            lines={[`curl "${tests}/$TEST_ID?wait=50"`, AUTHORIZATION_OPTION]}
            label="the command to get the report"
          />
        </li>
      </ol>
      <p>Or upload a message file instead of sending it:</p>
      <Command
        lines={[
          `curl "${tests}/raw"`,
          AUTHORIZATION_OPTION,
          '-H "Content-Type: message/rfc822"',
          '--data-binary @message.eml',
        ]}
        label="the command to upload a message"
      />
      <p>
        See the <a href="/docs">API reference</a> for everything else. It's also available as an{' '}
        <a href="/openapi.json">OpenAPI document</a>.
      </p>
    </section>
  );
}
