/** ETags, strong ones, and the conditions of requests that name them (RFC 9110 §8.8.3, §13.1). */

import { hash } from 'node:crypto';
import { AppError } from '../lib/errors.ts';
import type { Route, Schema } from './route.ts';

/** Of the JSON of an answer: 128 bits of its hash. */
export function etagOf(json: string): string {
  return `"${hash('sha256', json, 'base64url').slice(0, 22)}"`;
}

/** Whether the answers of a route carry one; what is deleted has none any more. */
export function isTagged({ etag, method }: Route): boolean {
  return etag === true && method !== 'DELETE';
}

/**
 * What the object at the path of a route is answered as: by its GET. Undefined where that has no
 * ETag.
 */
export function objectAt(routes: Route[], { path }: Route): Schema | undefined {
  return routes.find((route) => route.method === 'GET' && route.path === path && route.etag)
    ?.response;
}

/** `If-None-Match`: whether the client has this already. */
export function alreadyHas(header: string | null, etag: string): boolean {
  // Weak comparison (§13.1.2): a cache in between may have weakened it.
  return header !== null && (header.trim() === '*' || tagsIn(header, /"[^"]*"/g).includes(etag));
}

/** `If-Match`; throws `precondition_failed` where none of its tags is this one. */
export function checkIfMatch(header: string, etag: string): void {
  // Strong comparison (§13.1.1): a weak tag, its W/ before the quotes, equals none.
  if (header.trim() === '*' || tagsIn(header, /(?:W\/)?"[^"]*"/g).includes(etag)) return;
  throw new AppError(
    'precondition_failed',
    'The object has changed since you read it. Get it again, and decide with what it is now.',
  );
}

const tagsIn = (header: string, pattern: RegExp): string[] => header.match(pattern) ?? [];
