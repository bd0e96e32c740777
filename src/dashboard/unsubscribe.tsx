/** The page of a link by which a reader of a report unsubscribes, and comes back: the link is all that they need. */

import type { App } from '../app.ts';
import type { Rate } from '../config/readers.ts';
import type { Caller } from '../http/actor.ts';
import { route, type Transact } from '../http/route.ts';
import { comeBack, findReader, leave, type Reader } from '../schedules/readers.ts';
import { FORM, PageQuery, refused, Said, Submit } from './form.tsx';
import { deadLink, pageResponse } from './page.tsx';

const PATH = '/unsubscribe/:token';
const FIRST_PAGE = { href: '/', text: 'Go to the first page' };
const HOW_OFTEN = { daily: 'every day', weekly: 'every week', monthly: 'every month' };
/** What mail programs send, and so what the button sends too (RFC 8058 §3.2). */
const LEAVE = { name: 'List-Unsubscribe', value: 'One-Click' };
const RETURN = { name: 'Subscribe', value: 'Again' };

interface Shown {
  token: string;
  reader: Reader;
  /** What has just been done, in a sentence. */
  done?: string;
  wrong?: string;
}

function answer({ token, reader, done, wrong }: Shown): Response {
  const { name, email, frequency, leftAt } = reader;
  const gone = leftAt !== null;
  return pageResponse({
    title: gone ? 'You are unsubscribed' : 'Unsubscribe from a report',
    status: wrong ? 422 : 200,
    referrer: 'no-referrer',
    headers: { 'x-robots-tag': 'noindex' },
    children: (
      <>
        {done && <Said tone="pass">{done}</Said>}
        {wrong && <Said tone="fail">{wrong}</Said>}
        <p>
          {gone ? 'No more reports “' : 'The report “'}
          <strong>{name}</strong>
          {gone ? '” are sent to ' : `” is sent ${HOW_OFTEN[frequency]} to `}
          <strong>{email}</strong>.
        </p>
        <form method="post" action={`/unsubscribe/${encodeURIComponent(token)}`}>
          <input type="hidden" {...(gone ? RETURN : LEAVE)} />
          <Submit secondary={gone}>{gone ? 'Subscribe again' : 'Unsubscribe'}</Submit>
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
  summary: 'The page to unsubscribe from a report by a link; it changes nothing',
  query: PageQuery,
  produces: ['text/html'],
  async handle({ app, params }) {
    const token = params.token!;
    const found = await refused(['not_found'], () => findReader(app.db, token));
    return found.error ? deadLink(found.error, FIRST_PAGE) : answer({ token, reader: found.done });
  },
});

interface Submitted {
  app: App;
  caller: Caller;
  params: Record<string, string>;
  headers: Headers;
  raw: Uint8Array;
  transact: Transact;
}

/** Without a sign-in and without a cookie: programs send it too. Twice does what once does. */
async function submitted({
  app,
  caller,
  params,
  headers,
  raw,
  transact,
}: Submitted): Promise<Response> {
  const token = params.token!;
  const field = await readFields(headers.get('content-type'), raw);
  const author = { app, actor: null, caller, transact };
  const { done, error } = await refused(['not_found'], async (): Promise<Shown> => {
    if (field(LEAVE.name) === LEAVE.value)
      return {
        token,
        reader: await leave(author, token),
        done: 'Done. What was on its way already may still arrive.',
      };
    if (field(RETURN.name) === RETURN.value)
      return {
        token,
        reader: await comeBack(author, token),
        done: 'Welcome back: you get the next report again, as long as the team still names your address.',
      };
    const wrong =
      'Nothing was changed: the form came without what its button says. Press it again.';
    return { token, reader: await findReader(app.db, token), wrong };
  });
  return error ? deadLink(error, FIRST_PAGE) : answer(done);
}

/** Of a form of either type (RFC 8058 §3.2); nothing of what cannot be read. */
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
    fromAnywhere: true,
    limit,
    summary: 'Unsubscribe from a report, or come back to it',
    consumes: { ...FORM, type },
    produces: ['text/html'],
    handle: submitted,
  });

/** Many readers' mail programs share an address. */
const LIMIT = { requests: 120, seconds: 60 };

const submit = submitAs('submitUnsubscribe', FORM.type, LIMIT);
const submitParts = submitAs('submitUnsubscribeParts', 'multipart/form-data', 'submitUnsubscribe');

export const unsubscribePages = [show, submit, submitParts];
