/** The page of an error, for people whom a browser would else show the document for programs. */

import type { Config } from '../config.ts';
import type { Problem } from '../http/problem.ts';
import { Said } from './form.tsx';
import { pageResponse } from './page.tsx';

/** Where a change was refused to a page at another address, the way leads to the right one. */
export function problemPage(problem: Problem, { APP_URL }: Pick<Config, 'APP_URL'>): Response {
  const { title, status, detail, code, request_id } = problem;
  return pageResponse({
    title,
    status,
    // Its address may hold the token of a link; and it has no form that would need an origin.
    referrer: 'no-referrer',
    children: (
      <>
        <Said tone="fail">{detail}</Said>
        <p class="small muted">
          Request <code>{request_id}</code>
        </p>
        <p class="links">
          <a href={code === 'forbidden' ? APP_URL : '/'}>Go to the first page</a>
        </p>
      </>
    ),
  });
}
