/** The page of the unsubscribe link of a test: the results of tries, and the buttons to send each request. */

import { testOr404 } from '../../mailtests/queries.ts';
import { unsubscribePath } from '../../mailtests/report.ts';
import { titleOfTest } from '../../mailtests/titles.ts';
import { type UnsubscribeLink, unsubscribeOperations } from '../../mailtests/unsubscribe-routes.ts';
import { oneLine } from '../../report/blocks.ts';
import { GMAIL_NEEDS, MAY_UNSUBSCRIBE, type TryMethod } from '../../report/unsubscribe-try.ts';
import { StateMark } from '../../ui/components.tsx';
import { Confirm } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import {
  type FormProblem,
  Notice,
  PageQuery,
  ProblemNotice,
  readForm,
  submit,
} from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { For } from '../frame/reader.tsx';
import { Time } from '../frame/times.tsx';

const PATH = '/tests/:id/unsubscribe';

const show = page({
  path: PATH,
  operation: 'showUnsubscribeLink',
  role: 'viewer',
  summary: 'Show the unsubscribe link of a test',
  query: PageQuery,
  handle: (call) => render(call, call.params.id!, null),
});

async function render(call: PageCall, id: string, problem: FormProblem | null) {
  const test = await testOr404(call.app, id, call.actor.livemode);
  const route = unsubscribeOperations.get;
  const link = await call.invoke(route, { params: { id } });
  return appPage(call, {
    title: 'Unsubscribe link',
    section: 'tests',
    path: unsubscribePath(id),
    parents: [
      { href: '/tests', text: 'Tests' },
      { href: `/tests/${id}`, text: oneLine(titleOfTest(test), 60) },
    ],
    status: problem?.status,
    headers: problem?.headers,
    calls: [{ route, params: { id } }],
    children: (
      <>
        <ProblemNotice problem={problem} />
        {link.problem !== null && <Notice tone="warn">{link.problem}</Notice>}
        <Card>
          <Facts
            items={[
              ['Address', link.url && <bdi class="image-url">{oneLine(link.url, 500)}</bdi>],
              ['DKIM signature', SIGNED[String(link.signed)]],
            ]}
          />
          <p class="small muted">{GMAIL_NEEDS}</p>
        </Card>
        <TryCard link={link} method="POST" />
        <TryCard link={link} method="GET" />
      </>
    ),
  });
}

const SIGNED: Record<string, string> = {
  true: 'Covers both fields',
  false: 'Does not cover both fields',
  null: 'Not checked for this message',
};

const TEXTS: Record<TryMethod, { title: string; intro: string; label: string; confirm: string }> = {
  POST: {
    title: 'One-click request',
    intro: 'Sends the request that mailbox providers send when a recipient clicks Unsubscribe.',
    label: 'Try the unsubscribe link…',
    confirm: 'Send the request',
  },
  GET: {
    title: 'In a browser',
    intro:
      'Opens the address as a browser does, and reports the status. Opening it should unsubscribe nobody, because mail software opens links too, but some senders do so.',
    label: 'Open the link…',
    confirm: 'Open the link',
  },
};

function TryCard({ link, method }: { link: UnsubscribeLink; method: TryMethod }) {
  const { title, intro, label, confirm } = TEXTS[method];
  const last = link.tries.find((one) => one.method === method);
  const id = method.toLowerCase();
  return (
    <Card title={title} id={id}>
      {last ? <Result last={last} /> : <p>{intro}</p>}
      {link.url !== null && last?.status !== 'running' && (
        <For role="member">
          <Confirm
            action={unsubscribePath(link.test_id)}
            fields={{ method, after_tries: String(last?.tries ?? 0) }}
            label={last ? 'Try again…' : label}
            warning={MAY_UNSUBSCRIBE}
            confirm={confirm}
          />
        </For>
      )}
    </Card>
  );
}

function Result({ last }: { last: UnsubscribeLink['tries'][number] }) {
  const { verdict, detail, status, duration_ms, tls_version, certificate_expires_at } = last;
  const isRunning = status === 'running';
  return (
    <div id={`result-${last.method}`} data-refresh={isRunning ? 'yes' : undefined}>
      <p>
        <StateMark state={verdict} word={WORDS[verdict]} /> {detail}
      </p>
      <Facts
        items={[
          ['Sent', <Time key="sent" at={last.requested_at} />],
          ['Duration', duration_ms === null ? null : `${duration_ms} ms`],
          ['TLS', tls_version],
          [
            'Certificate',
            certificate_expires_at && (
              <>
                Valid until <Time at={certificate_expires_at} />
              </>
            ),
          ],
          ['Tries', last.tries > 1 ? last.tries : null],
        ]}
      />
    </div>
  );
}

const WORDS = { pass: 'Works', info: 'Result', warn: 'Problem', fail: 'Fails', unknown: 'Unknown' };

const tryLink = form({
  path: PATH,
  operation: 'submitUnsubscribeTry',
  role: 'member',
  summary: 'Try the unsubscribe link of a test with the button',
  async handle(call) {
    const id = call.params.id!;
    const field = readForm(call.raw);
    const { problem } = await submit({}, () =>
      call.invoke(unsubscribeOperations.tryLink, {
        params: { id },
        body: {
          method: field('method') as TryMethod,
          // The button of a report is for the first try.
          after_tries: Number(field('after_tries')),
        },
      }),
    );
    if (problem) return render(call, id, problem);
    return seeOther(`${unsubscribePath(id)}#${field('method').toLowerCase()}`);
  },
});

export const unsubscribeLinkPages = [show, tryLink];
