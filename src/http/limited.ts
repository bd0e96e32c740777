/**
 * Callers who are limited to tags. They call only operations that declare `limited`, and these, like everything that they
 * call, read a database in which nothing else exists (`store/limited.ts`). Nothing else decides what they see.
 */

import type { App } from '../app.ts';
import { AppError, invalidParams } from '../lib/errors.ts';
import { sameStateAs } from '../lib/memoize.ts';
import { limitedTo } from '../store/open.ts';
import type { Actor } from './actor.ts';
import type { Route } from './route.ts';

/** What both limits allow; null stands for everything. Two limits without a common tag allow nothing. */
export const narrower = (a: string[] | null, b: string[] | null): string[] | null =>
  a === null ? b : b === null ? a : a.filter((tag) => b.includes(tag));

/** The stored form of a limit. */
export const readLimit = (stored: string | null): string[] | null =>
  stored === null ? null : JSON.parse(stored);

/** Whether a caller's limit allows the operation at all. */
export const isOpenTo = (
  { limited, role }: Pick<Route, 'limited' | 'role'>,
  { tags }: Pick<Actor, 'tags'>,
): boolean => tags === null || limited === true || role === 'public';

/** `forbidden` for an operation that covers the whole team; null if the caller may call it. */
export function limitError(route: Route, actor: Actor): AppError | null {
  if (isOpenTo(route, actor)) return null;
  return new AppError(
    'forbidden',
    `Your access is limited to ${limitText(actor.tags!)}. This operation covers the whole team.`,
  );
}

export const limitText = (tags: string[]): string =>
  tags.length === 0 ? 'nothing' : `what is tagged ${tags.join(' or ')}`;

/** The service as this caller may see it. */
export function appFor(app: App, actor: Actor | null): App {
  if (!actor || actor.tags === null) return app;
  const { memberId, keyId, tags } = actor;
  return sameStateAs(app, { ...app, db: limitedTo(app.db, { memberId, keyId, tags }) });
}

/**
 * The tags of something that the caller creates. What a limited one creates must stay visible to them, and to nobody with
 * another limit: it has tags of their limit alone. `isPlaced` says that its domain already makes it visible. Throws
 * `validation_failed`.
 */
export function tagsToStore(actor: Actor, tags: string[], isPlaced = false): string[] {
  const { tags: limit } = actor;
  if (limit === null) return tags;
  const invalid = (message: string) => invalidParams([{ param: 'tags', code: 'invalid', message }]);
  if (!tags.every((tag) => limit.includes(tag)))
    throw invalid(`must be among the tags that your access is limited to: ${limit.join(', ')}`);
  if (tags.length > 0 || isPlaced) return tags;
  if (limit.length !== 1) throw invalid(`must name one of your tags: ${limit.join(', ')}`);
  return limit;
}

/** Throws `forbidden` for a change that decides who sees an object. `what` is in the plural. */
export function requireUnlimited({ tags }: Pick<Actor, 'tags'>, what: string): void {
  if (tags === null) return;
  throw new AppError('forbidden', `Your access is limited to tags, so you can't change ${what}.`);
}
