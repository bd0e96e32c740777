/** Entries of the audit log in words, and the pages of their objects, as the features declare them. */

import type { AuditedObject } from '../../store/audited.ts';
import type { Db } from '../../store/open.ts';
import type { AuditEntry } from '../../team/schema.ts';

const declarationOf = (audited: AuditedObject[], type: string): AuditedObject | undefined =>
  audited.find((object) => object.type === type);

/** "Webhook endpoint secret rotated". */
export function actionText(audited: AuditedObject[], action: string): string {
  const object = audited.find(({ actions }) => actions.includes(action));
  const text = object?.texts?.[action];
  if (text !== undefined) return text;
  const [type = '', verb = ''] = action.split('.');
  const name = object?.type === type ? object.name : capitalized(words(type));
  return `${name} ${words(verb)}`;
}

const words = (text: string): string => text.replaceAll('_', ' ');

const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** The choices of the filter. `current` is offered too, even if it is not declared. */
export function actionOptions(
  audited: AuditedObject[],
  current: string | undefined,
): [value: string, text: string][] {
  const declared = audited.flatMap(({ actions }) => actions);
  const actions = current && !declared.includes(current) ? [current, ...declared] : declared;
  return actions.map((action) => [action, actionText(audited, action)]);
}

export const objectName = (audited: AuditedObject[], type: string): string =>
  declarationOf(audited, type)?.name ?? capitalized(words(type));

/** Within a sentence: "alert rule", but "API key". */
export const objectNoun = (name: string): string =>
  /^[A-Z]{2}/.test(name) ? name : `${name.charAt(0).toLowerCase()}${name.slice(1)}`;

/**
 * Returns the pages of the objects of these entries by ID: their own, or the list with them. Runs one query for each
 * type. An object that no longer exists has no page.
 */
export async function findPages(
  audited: AuditedObject[],
  db: Db,
  entries: Pick<AuditEntry, 'object_type' | 'object_id'>[],
  livemode: boolean,
): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  for (const [type, ofType] of Map.groupBy(entries, ({ object_type }) => object_type)) {
    const object = declarationOf(audited, type);
    if (!object?.page) continue;
    const ids = [...new Set(ofType.map(({ object_id }) => object_id))];
    const found = (await object.withPage?.(db, ids, livemode)) ?? ids.map((id) => ({ id }));
    for (const { id } of found) pages.set(id, object.page(encodeURIComponent(id)));
  }
  return pages;
}

/** A value of the details: "old → new" for a change. */
export function detailText(value: unknown): string {
  if (isChange(value)) return `${detailText(value.from)} → ${detailText(value.to)}`;
  if (value === null || value === '') return 'none';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return value.length > 0 ? value.join(', ') : 'none';
  return JSON.stringify(value);
}

const isChange = (value: unknown): value is { from: unknown; to: unknown } =>
  typeof value === 'object' && value !== null && Object.keys(value).toSorted().join() === 'from,to';

/** Some details are as long as members want them to be. */
const MAX_SHOWN = 300;

export const cut = (text: string): string =>
  text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`;

/** "Sessions ended" for `sessions_ended`. */
export const detailName = (name: string): string => capitalized(words(name));
