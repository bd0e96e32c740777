/** The pages of the web application as answers: framed, with their protections, never kept. */

import type { ComponentChildren } from 'preact';
import { PAGE_CSP, renderPage } from '../render/page/frame.tsx';
import { FORM_STYLE } from './page-style.ts';

/** Forms go to this service alone. */
const CSP = PAGE_CSP.replace("form-action 'none'", "form-action 'self'");

/**
 * Links lead to secrets that are parts of their paths, so no page says where it is. Its origin it
 * does say: where a browser sends no `Sec-Fetch-Site`, as on plain HTTP, a form is known by it.
 */
const REFERRER = 'strict-origin';

export interface Answer {
  /** The heading too. */
  title: string;
  status?: number;
  /** Header fields beyond those of every page. */
  headers?: Record<string, string>;
  children: ComponentChildren;
  /** `strict-origin` unless said; with `no-referrer` its forms tell no origin. */
  referrer?: string;
  /** With more to read than a form. */
  wide?: boolean;
  /** Cards below the first. */
  more?: ComponentChildren;
}

/** A page of a card; of an error its title says so first, which is what screen readers read first. */
export function pageResponse(answer: Answer): Response {
  const { title, status = 200, headers = {}, children, wide, more } = answer;
  const { referrer = REFERRER } = answer;
  const html = renderPage({
    title: `${status < 400 ? '' : 'Error: '}${title} · Deliverability`,
    skip: 'Skip to the content',
    style: FORM_STYLE,
    csp: CSP,
    referrer,
    main: (
      <div class={wide ? 'cards wide' : 'cards'}>
        <div class="card form">
          <h1>{title}</h1>
          {children}
        </div>
        {more}
      </div>
    ),
    foot: <Foot />,
  });
  return new Response(html, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `${CSP}; frame-ancestors 'none'`,
      'referrer-policy': referrer,
      'cache-control': 'no-store',
      ...headers,
    },
  });
}

const Foot = () => (
  <>
    <a href="/">First page</a>
    <a href="/docs">API reference</a>
    <a href="/openapi.json">OpenAPI document</a>
  </>
);

/** To another page, by GET, after a form has done its work. */
export function seeOther(location: string): Response {
  return new Response(null, { status: 303, headers: { location } });
}
