/** The path of a request as the log may have it: without the secrets that some paths hold. */

import type { Route } from './route.ts';

/** An API key, which some put where its id belongs. */
const KEY = /dlv_(live|test)_[^/]*/gi;

/**
 * What may be a secret of ours in a path that matches no route, and in one that does, where ids are as
 * long as the first. A percent sign counts as part of one: encoding a path hides nothing in it.
 */
const LIKE_A_TOKEN = /[\w%-]{20,}/g;
const LONGER_THAN_IDS = /[\w%-]{40,}/g;

/**
 * Parts of a path that are secret (`secretParams` of a route) come out as their names:
 * `/password/:token`. `known` says whether a route has been found for it.
 */
export function loggedPaths(routes: Pick<Route, 'path' | 'secretParams'>[]) {
  const patterns = routes.flatMap(({ path, secretParams = [] }) =>
    secretParams.map((name) => patternOf(path, name)),
  );
  return (path: string, known: boolean): string =>
    patterns
      .reduce((text, { pattern, shown }) => text.replace(pattern, shown), path)
      .replace(KEY, ':key')
      .replace(known ? LONGER_THAN_IDS : LIKE_A_TOKEN, ':masked');
}

/**
 * Matches up to the secret and whatever follows it: a link that was copied badly, or asked for by
 * another method, matches no route and is logged too.
 */
function patternOf(path: string, name: string) {
  const before = path.slice(0, path.indexOf(`:${name}`));
  const parts = before
    .split('/')
    .filter(Boolean)
    .map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[^\w-]/g, '\\$&')));
  return {
    pattern: new RegExp(`^(/+${parts.join('/+')}/+)[^/].*$`, 'is'),
    shown: `$1:${name}`,
  };
}
