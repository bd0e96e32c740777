/** Opens every page that links and redirects lead to, as a browser of a member does, and collects what it finds. */

import { gzipSync } from 'node:zlib';
import { ROUTES } from '../../src/features.ts';
import { allows, type Role } from '../../src/http/actor.ts';
import type { Route } from '../../src/http/route.ts';
import type { PageAnswer } from './pages.ts';

export interface CrawlOptions {
  role: Role;
  get(path: string): Promise<PageAnswer>;
  /** The path below which the application is served, without a slash at the end. */
  prefix?: string;
}

export interface Crawl {
  /** The path patterns of all pages that were opened. */
  opened: Set<string>;
  /** Actions of forms that send data, as on the pages, with a page that has them. */
  forms: Map<string, string>;
  /** The curl commands, with the page that shows them. */
  commands: Map<string, string>;
  /** Pages with the navigation that show no command. */
  withoutCommand: string[];
  /** The weight of the heaviest page of each path pattern. */
  weights: Map<string, PageWeight>;
  /** What is wrong with links and forms: a sentence each. */
  faults: string[];
}

/** In bytes, without stylesheet and script, which all pages share. */
export interface PageWeight {
  raw: number;
  gzip: number;
}

/** Rows of a list lead to the same kind of page, so that a few of them are enough. */
const MAX_PER_KIND = 4;

/** One of these is enough, because nothing in it leads further. */
const ENDS = /\.pdf$|^\/v1\/|^\/assets\//;

interface Link {
  path: string;
  /** The page that has the link. */
  from: string;
}

export async function crawl({ role, get, prefix = '' }: CrawlOptions): Promise<Crawl> {
  const result: Crawl = {
    opened: new Set(),
    forms: new Map(),
    commands: new Map(),
    withoutCommand: [],
    faults: [],
    weights: new Map(),
  };
  const { faults, forms, commands, withoutCommand, opened, weights } = result;
  const queue: Link[] = [{ path: '/', from: 'the start' }];
  /** The places on each page to which links can lead, and the links to places. */
  const places = new Map<string, Set<string>>();
  const jumps: (Link & { place: string })[] = [];
  const known = new Set(['/']);
  const kinds = new Map<string, number>();
  const follow = (url: string, from: string, base: string) => {
    if (/^(https?:|mailto:|data:|#)/.test(url)) return;
    if (url.startsWith('//') || !(url.startsWith('/') || url.startsWith('?'))) {
      faults.push(`${from} links to ${url}, which is relative.`);
      return;
    }
    const absolute = url.startsWith('?') ? `${prefix}${base}${url}` : url;
    if (!absolute.startsWith(`${prefix}/`)) {
      faults.push(`${from} links to ${url}, outside of ${prefix}.`);
      return;
    }
    const [path, place] = absolute.slice(prefix.length).split('#') as [string, string?];
    if (place) jumps.push({ path, place, from });
    const kind = kindOf(path);
    const count = kinds.get(kind) ?? 0;
    if (known.has(path) || count >= (ENDS.test(path) ? 1 : MAX_PER_KIND)) return;
    known.add(path);
    kinds.set(kind, count + 1);
    queue.push({ path, from });
  };
  for (let link = queue.shift(); link; link = queue.shift()) {
    const { path, from } = link;
    const base = path.replace(/\?.*/, '');
    const { status, html, headers, location } = await get(prefix + path);
    if (status === 303 && location) {
      follow(location, path, base);
      continue;
    }
    if (status !== 200) {
      faults.push(`${from} links to ${path}, which responds with ${status}.`);
      continue;
    }
    const pattern = routeOf('GET', base)?.path ?? base;
    opened.add(pattern);
    if (!headers.get('content-type')?.startsWith('text/html')) continue;
    const raw = Buffer.byteLength(html);
    if (raw > (weights.get(pattern)?.raw ?? 0))
      weights.set(pattern, { raw, gzip: gzipSync(html).length });
    const ids = new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!));
    places.set(path, ids);
    for (const id of duplicatesOf([...html.matchAll(/ id="([^"]*)"/g)].map(([, each]) => each!)))
      faults.push(`${path} has the ID ${id} twice.`);
    // The style of such a list numbers its items.
    for (const [, list] of html.matchAll(/<ol class="steps">(.*?)<\/ol>/gs))
      if (/<li>(?:<[^>]+>)*\d+\./.test(list!)) faults.push(`${path} numbers a step twice.`);
    for (const [, attributes] of html.matchAll(/<(?:a|link|use|img|script|iframe)\b([^>]*)>/g)) {
      const url = attributeOf(attributes!, 'href') ?? attributeOf(attributes!, 'src');
      if (url === undefined) continue;
      if (url.startsWith('#') && url !== '#' && !ids.has(url.slice(1)))
        faults.push(`${path} links to ${url}, which it does not have.`);
      follow(url, path, base);
    }
    for (const [, url] of html.matchAll(/ data-watch="([^"]*)"/g)) follow(decode(url!), path, base);
    for (const [, attributes] of html.matchAll(/<form\b([^>]*)>/g)) {
      const action = attributeOf(attributes!, 'action') ?? path;
      if (attributeOf(attributes!, 'method') !== 'post') {
        follow(action, path, base);
        continue;
      }
      if (!action.startsWith(`${prefix}/`)) faults.push(`${path} has a form to ${action}.`);
      const target = action.slice(prefix.length);
      forms.set(target, path);
      const route = routeOf('POST', target.replace(/\?.*/, ''));
      if (!route) faults.push(`${path} has a form to ${action}, which does not exist.`);
      else if (route.role !== 'public' && !allows(role, route.role))
        faults.push(`${path} has a form to ${action}, which requires the ${route.role} role.`);
    }
    const isInApplication = html.includes('<nav id="navigation"');
    const [, box = ''] = /<div class="curl[^>]*>(.*?)<\/main>/s.exec(html) ?? [];
    if (isInApplication && box === '') withoutCommand.push(path);
    for (const [, command] of box.matchAll(/<code[^>]*>(curl .*?)<\/code>/gs))
      commands.set(decode(command!.replace(/<[^>]+>/g, '')), path);
  }
  for (const { path, place, from } of jumps)
    if (places.get(path)?.has(place) === false)
      faults.push(`${from} links to ${path}#${place}, which does not exist.`);
  return result;
}

/** The pattern of the page with the names of the parameters. */
function kindOf(path: string): string {
  const url = new URL(path, 'http://x');
  return `${routeOf('GET', url.pathname)?.path ?? url.pathname} ${[...url.searchParams.keys()]}`;
}

/** The first match wins, as in the router. */
function routeOf(method: string, path: string): Route | undefined {
  return ROUTES.find(
    (route) =>
      route.method === method &&
      new RegExp(
        `^${route.path.replace(/[.]/g, '\\.').replace(/:\w+(\\\.\w+)?/g, '[^/]+$1')}$`,
      ).test(path),
  );
}

const duplicatesOf = (values: string[]): string[] => [
  ...new Set(values.filter((value, index) => values.indexOf(value) !== index)),
];

function attributeOf(attributes: string, name: string): string | undefined {
  const [, value] = new RegExp(` ${name}="([^"]*)"`).exec(attributes) ?? [];
  return value === undefined ? undefined : decode(value);
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

const decode = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name]!);
