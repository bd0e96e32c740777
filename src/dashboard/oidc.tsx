/** The way to sign in by OpenID Connect: off to the provider, and what its answer leads to. */

import * as v from 'valibot';
import { route } from '../http/route.ts';
import { type AppError, ERROR_STATUS } from '../lib/errors.ts';
import { clearedJourneyCookie, readJourney } from '../team/oidc-cookie.ts';
import { beginJourney, CALLBACK_PATH, endJourney } from '../team/oidc-flow.ts';
import { signInByClaims } from '../team/oidc-sign-in.ts';
import { Said } from './form.tsx';
import { PageQuery, refused } from './form-body.ts';
import { pageResponse, seeOther } from './page.tsx';
import { enter, signedIn } from './signed-in.ts';

const PATH = '/sign-in/oidc';

function failed({ code, detail }: AppError): Response {
  return pageResponse({
    title: 'You are not signed in',
    status: ERROR_STATUS[code],
    children: (
      <>
        <Said tone="fail">{detail}</Said>
        <p class="links">
          <a href="/sign-in">Go to sign-in</a>
        </p>
      </>
    ),
  });
}

const begin = route({
  method: 'GET',
  path: PATH,
  operation: 'beginOidcSignIn',
  role: 'public',
  summary: 'Go to the OpenID Connect provider to sign in',
  query: PageQuery,
  produces: ['text/html'],
  async handle(call) {
    if (await signedIn(call)) return seeOther('/');
    const { done, error } = await refused(['not_found', 'unavailable'], () => beginJourney(call));
    if (error) return failed(error);
    call.setHeader('set-cookie', done.cookie);
    return seeOther(done.location);
  },
});

const end = route({
  method: 'GET',
  path: CALLBACK_PATH,
  operation: 'endOidcSignIn',
  role: 'public',
  summary: 'Come back from the OpenID Connect provider, signed in',
  query: v.record(v.string(), v.string()),
  produces: ['text/html'],
  async handle(call) {
    const { app, headers, query } = call;
    const journey = readJourney(app, headers.get('cookie'));
    const codes: AppError['code'][] = [
      'not_found',
      'unavailable',
      'malformed_request',
      'forbidden',
      'conflict',
    ];
    const { done, error } = await refused(codes, async () =>
      signInByClaims(call, await endJourney(call, journey, query)),
    );
    if (!error) return enter(app, done, clearedJourneyCookie(app));
    call.setHeader('set-cookie', clearedJourneyCookie(app));
    return failed(error);
  },
});

export const oidcPages = [begin, end];
