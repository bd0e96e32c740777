/** What a link that does not work (any more) answers. */

import { type AppError, ERROR_STATUS } from '../lib/errors.ts';
import { Said } from './form.tsx';
import { pageResponse } from './page.tsx';

interface Next {
  href: string;
  text: string;
}

/** 404 for one that is not known, 410 for one that is used, revoked, replaced or expired. */
export function deadLink({ code, detail }: AppError, next: Next): Response {
  return pageResponse({
    title: 'This link does not work',
    status: ERROR_STATUS[code],
    // As of the page that it would lead to: its address may have been good once.
    referrer: 'no-referrer',
    headers: { 'x-robots-tag': 'noindex' },
    children: (
      <>
        <Said tone="fail">{detail}</Said>
        {code === 'not_found' && (
          <p>Look whether the whole address was taken over from the e-mail.</p>
        )}
        <p class="links">
          <a href={next.href}>{next.text}</a>
        </p>
      </>
    ),
  });
}
