/** Requests pages and submits forms like a browser without scripts. */

import type { TestService } from '../helpers/app.ts';

export interface PageAnswer {
  status: number;
  headers: Headers;
  html: string;
  /** The target of a redirect. */
  location: string | null;
  /** `name=value` of the new cookie. */
  cookie: string | null;
}

type Service = Pick<TestService, 'url'>;

export async function getPage(
  { url }: Service,
  path: string,
  headers: Record<string, string> = {},
): Promise<PageAnswer> {
  return answerOf(await fetch(url + path, { headers, redirect: 'manual' }));
}

/** Submits a form as a same-origin page does, unless `headers` differ. */
export async function postForm(
  { url }: Service,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<PageAnswer> {
  const response = await fetch(url + path, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { 'sec-fetch-site': 'same-origin', ...headers },
    redirect: 'manual',
  });
  return answerOf(response);
}

async function answerOf(response: Response): Promise<PageAnswer> {
  const { status, headers } = response;
  return {
    status,
    headers,
    html: await response.text(),
    location: headers.get('location'),
    cookie: headers.get('set-cookie')?.split(';')[0] ?? null,
  };
}

/** The attributes of a field, without quotes. */
export function fieldOf(html: string, name: string): Record<string, string> {
  const tag = new RegExp(`<input [^>]*\\bname="${name}"[^>]*>`).exec(html)?.[0] ?? '';
  const found = [...tag.matchAll(/([\w-]+)(?:="([^"]*)")?/g)].slice(1);
  return Object.fromEntries(found.map(([, key, value = '']) => [key, decoded(value)]));
}

/** The text of the element with this ID. */
export function textOf(html: string, id: string): string | undefined {
  const inner = new RegExp(`<(\\w+)[^>]*\\bid="${id}"[^>]*>(.*?)</\\1>`, 's').exec(html)?.[2];
  return inner === undefined ? undefined : decoded(inner.replace(/<[^>]+>/g, ''));
}

/** The visible text of the main element. */
export const mainOf = (html: string): string => textOf(html, 'main') ?? '';

/** The name and the address in the account menu: who is signed in. */
export function accountOf(html: string): string | undefined {
  const [, name] = /<span class="menu-name">([^<]*)</.exec(html) ?? [];
  const [, email] = /class="popover menu"><p[^>]*>([^<]*)</.exec(html) ?? [];
  return name && email && decoded(`${name} (${email})`);
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

const decoded = (text: string): string =>
  text.replace(/&(\w+|#39);/g, (entity, name: string) => ENTITIES[name] ?? entity);
