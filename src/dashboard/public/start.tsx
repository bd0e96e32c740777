/** The start page of visitors: a public test, if these are enabled, and the way to sign in. */

import type { App } from '../../app.ts';
import { Notice, Submit } from '../frame/form.tsx';
import { pageResponse } from '../frame/page.tsx';

/** `done` names the action that redirected here. */
export function startPage({ config }: Pick<App, 'config'>, done?: string): Response {
  const title = 'Test your email deliverability';
  if (!config.PUBLIC_TESTS)
    return pageResponse({
      title,
      wide: true,
      children: (
        <>
          <Introduction />
          <a class="submit" href="/sign-in">
            Sign in
          </a>
        </>
      ),
    });
  return pageResponse({
    title,
    wide: true,
    children: (
      <>
        {done === 'deleted' && <Notice tone="pass">Test deleted.</Notice>}
        <Introduction />
        <form method="post" action="/public/tests">
          <Submit>Get a test address</Submit>
        </form>
        <p class="small muted">
          Free, without an account. Anyone with the link can read the report, but not the message.
          Both are deleted after 7 days. You can run {config.PUBLIC_TESTS_PER_CLIENT} tests a day.
        </p>
        <p class="links">
          <a href="/sign-in">Sign in to your team</a>
        </p>
      </>
    ),
  });
}

const Introduction = () => (
  <p>
    Send a message to a test address. The report shows your score, each problem that lowered it, and
    how to fix it: SPF, DKIM, DMARC, blocklists, content, and the sender rules of Gmail, Yahoo,
    Microsoft and Apple.
  </p>
);
