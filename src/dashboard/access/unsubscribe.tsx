/** The page on which a recipient unsubscribes from a scheduled report, or resubscribes. It needs no sign-in. */

import type { App } from '../../app.ts';
import type { Rate } from '../../config/readers.ts';
import type { Caller } from '../../http/actor.ts';
import { route, type Transact } from '../../http/route.ts';
import {
  findRecipient,
  type ReportRecipient,
  resubscribeRecipient,
  unsubscribeRecipient,
} from '../../schedules/recipients.ts';
import { catchErrors, FORM, Notice, PageQuery, Submit } from '../frame/form.tsx';
import { invalidLinkPage, pageResponse } from '../frame/page.tsx';

const PATH = '/unsubscribe/:token';
const HOME = { href: '/', text: 'Go to the home page' };
const FREQUENCIES = { daily: 'every day', weekly: 'every week', monthly: 'every month' };
/** Mail clients send this field (RFC 8058 §3.2), so the button sends it too. */
const UNSUBSCRIBE = { name: 'List-Unsubscribe', value: 'One-Click' };
const RESUBSCRIBE = { name: 'Subscribe', value: 'Again' };

interface PageState {
  token: string;
  recipient: ReportRecipient;
  /** The action just completed: a full sentence. */
  done?: string;
  error?: string;
}

function renderPage({ token, recipient, done, error }: PageState): Response {
  const { name, email, frequency, unsubscribedAt } = recipient;
  const isUnsubscribed = unsubscribedAt !== null;
  return pageResponse({
    title: isUnsubscribed ? "You're unsubscribed" : 'Unsubscribe from a report',
    status: error ? 422 : 200,
    referrer: 'no-referrer',
    headers: { 'x-robots-tag': 'noindex' },
    children: (
      <>
        {done && <Notice tone="pass">{done}</Notice>}
        {error && <Notice tone="fail">{error}</Notice>}
        <p>
          <strong>{email}</strong>
          {isUnsubscribed ? ' no longer gets' : ' gets'} the report “<strong>{name}</strong>”
          {isUnsubscribed ? '' : ` ${FREQUENCIES[frequency]}`}.
        </p>
        <form method="post" action={`/unsubscribe/${encodeURIComponent(token)}`}>
          <input type="hidden" {...(isUnsubscribed ? RESUBSCRIBE : UNSUBSCRIBE)} />
          <Submit secondary={isUnsubscribed}>
            {isUnsubscribed ? 'Resubscribe' : 'Unsubscribe'}
          </Submit>
        </form>
      </>
    ),
  });
}

const show = route({
  method: 'GET',
  path: PATH,
  secretParams: ['token'],
  operation: 'showUnsubscribe',
  role: 'public',
  limit: 'submitUnsubscribe',
  summary: 'Show the page to unsubscribe from a report',
  query: PageQuery,
  produces: ['text/html'],
  async handle({ app, params }) {
    const token = params.token!;
    const lookup = await catchErrors(['not_found'], () => findRecipient(app.db, token));
    return lookup.error
      ? invalidLinkPage(lookup.error, HOME)
      : renderPage({ token, recipient: lookup.result });
  },
});

interface UnsubscribeCall {
  app: App;
  caller: Caller;
  params: Record<string, string>;
  headers: Headers;
  raw: Uint8Array;
  transact: Transact;
}

/** Requires no session, because mail clients send this request too. Idempotent. */
async function handleSubmit({
  app,
  caller,
  params,
  headers,
  raw,
  transact,
}: UnsubscribeCall): Promise<Response> {
  const token = params.token!;
  const field = await readFields(headers.get('content-type'), raw);
  const author = { app, actor: null, caller, transact };
  const { result, error } = await catchErrors(['not_found'], async (): Promise<PageState> => {
    if (field(UNSUBSCRIBE.name) === UNSUBSCRIBE.value)
      return {
        token,
        recipient: await unsubscribeRecipient(author, token),
        done: "You're unsubscribed. A report that was already sent may still arrive.",
      };
    if (field(RESUBSCRIBE.name) === RESUBSCRIBE.value)
      return {
        token,
        recipient: await resubscribeRecipient(author, token),
        done: "You're subscribed again. You'll get the next report if the team still lists your address.",
      };
    const formError = 'Invalid form submission. Nothing was changed. Try again.';
    return { token, recipient: await findRecipient(app.db, token), error: formError };
  });
  return error ? invalidLinkPage(error, HOME) : renderPage(result);
}

/** Reads both form types of RFC 8058 §3.2. A body that can't be parsed has no fields. */
async function readFields(type: string | null, raw: Uint8Array): Promise<(name: string) => string> {
  try {
    const form = await new Response(Buffer.from(raw), {
      headers: { 'content-type': type ?? FORM.type },
    }).formData();
    return (name) => String(form.get(name) ?? '');
  } catch {
    return () => '';
  }
}

const submitAs = (operation: string, type: string, limit: Rate | string) =>
  route({
    method: 'POST',
    path: PATH,
    secretParams: ['token'],
    operation,
    role: 'public',
    writes: true,
    allowCrossOrigin: true,
    limit,
    summary: 'Unsubscribe from a report, or resubscribe',
    consumes: { ...FORM, type },
    produces: ['text/html'],
    handle: handleSubmit,
  });

/** Generous, because many recipients may share an IP address. */
const LIMIT = { requests: 120, seconds: 60 };

const submit = submitAs('submitUnsubscribe', FORM.type, LIMIT);
const submitParts = submitAs('submitUnsubscribeParts', 'multipart/form-data', 'submitUnsubscribe');

export const unsubscribePages = [show, submit, submitParts];
