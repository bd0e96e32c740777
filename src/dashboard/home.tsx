/** The first page: who is signed in, what one can do here, and where to go from it. */

import type { App } from '../app.ts';
import { route } from '../http/route.ts';
import { Copyable } from '../report/html/components.tsx';
import type { MemberRow } from '../store/tables.generated.ts';
import { findMember } from '../team/members.ts';
import { listSessions } from '../team/sessions.ts';
import { PageQuery, Submit } from './form.tsx';
import { pageResponse } from './page.tsx';
import { signedIn } from './sign-in.tsx';

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
  const { rows, hasMore } = await listSessions(app, id, { limit: MAX_COUNTED });
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

const MAX_COUNTED = 100;

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

// How to send a first test from a shell: commands that work as they stand, once there is a key.

const BEARER = '-H "Authorization: Bearer $API_KEY"';

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
      <h2 id="first-test">Send a first test</h2>
      <ol class="steps">
        <li>
          <p>
            Read an API key into your shell. Who runs the server makes one with{' '}
            <code>deliverability key NAME --role member</code>.
          </p>
          <Command lines={['read -rs API_KEY']} label="the command that reads the key" />
        </li>
        <li>
          <p>
            Ask for an address, and send your mail to it: it is the <code>address</code> in the
            answer.
          </p>
          <Command
            lines={[`curl -X POST "${tests}"`, BEARER]}
            label="the command that asks for an address"
          />
        </li>
        <li>
          <p>
            Put the <code>id</code> in the answer into <code>TEST_ID</code>, and read the result;
            this waits up to 50 seconds for the mail.
          </p>
          <Command
            lines={[`curl "${tests}/$TEST_ID?wait=50"`, BEARER]}
            label="the command that reads the result"
          />
        </li>
      </ol>
      <p>Or test a message that you have as a file, without sending it:</p>
      <Command
        lines={[
          `curl "${tests}"`,
          BEARER,
          '-H "Content-Type: message/rfc822"',
          '--data-binary @message.eml',
        ]}
        label="the command that hands a message in"
      />
      <p>
        The <a href="/docs">API reference</a> has all that there is beyond it, for programs as an{' '}
        <a href="/openapi.json">OpenAPI document</a>.
      </p>
    </section>
  );
}
