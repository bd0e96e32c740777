/**
 * What the name and the type of a property say by themselves: its description and its example.
 * Schemas say only what differs, such as when a value is null.
 */

import { ID_NOUNS, type IdPrefix } from '../../lib/ids.ts';
import { exampleId } from '../schemas.ts';

/** Texts. Only those that mean the same in every schema that does not describe them itself. */
const TEXTS: Record<string, [description: string, example?: string]> = {
  address: ['The IP address.', '192.0.2.1'],
  date: ['The day, in UTC.', '2026-11-21'],
  day: ['The day.', '2026-11-20'],
  dkim_selector: ['The DKIM selector.', 's1'],
  domain: ['The name of the domain.', 'example.com'],
  email: ['The email address.', 'alex@example.com'],
  first_day: ['The first day on which it was seen.', '2026-09-01'],
  from: ['The first day.', '2026-11-01'],
  from_domain: ['The From domain of the message.', 'example.com'],
  label: ['The name of the check for people.'],
  last_day: ['The last day on which it was seen.', '2026-11-21'],
  name: ['Its name.'],
  policy_domain: ['The domain of the policy.', 'example.com'],
  recipient_domain: ['The domain of the recipient.', 'example.net'],
  selector: ['The DKIM selector.', 's1'],
  subject: ['The subject of the message.', 'Our spring collection'],
  title: ['The finding in one sentence.'],
  to: ['The last day.', '2026-11-30'],
};

/** Integers. */
const COUNTS: Record<string, string> = {
  reports: 'The number of reports.',
  succeeded: 'Successful sessions.',
};

/** The example of a time without its own. */
const NOW = '2026-11-21T10:00:00.000Z';
/** Times whose name is not their description, or whose example keeps the order of an object's times. */
const TIMES: Record<string, [description: string, example?: string]> = {
  arrived_at: ['When it arrived.', '2026-11-21T10:00:23.000Z'],
  completed_at: ['When it was completed.', '2026-11-21T10:00:24.000Z'],
  expires_at: ['When it expires.', '2026-11-28T10:00:00.000Z'],
  finished_at: ['When it ended.', '2026-11-21T10:00:05.000Z'],
  last_at: ['When the newest of the reports arrived.', '2026-11-22T01:00:00.000Z'],
  received_at: ['When it arrived.', '2026-11-21T10:00:21.000Z'],
  resolved_at: ['When it was resolved.', '2026-11-21T11:00:00.000Z'],
  started_at: ['When it started.', NOW],
};

/** The prefix of the IDs in a field such as `domain_id`. */
function prefixOf(name: string): IdPrefix | undefined {
  const noun = name.endsWith('_id') ? name.slice(0, -3) : undefined;
  const entries = Object.entries(ID_NOUNS) as [IdPrefix, string][];
  const match =
    entries.find(([, of]) => of === noun) ??
    entries.find(([, of]) => noun !== undefined && of.split(' ').includes(noun));
  return match?.[0];
}

function timeMeaning(name: string, isNullable: boolean): Meaning {
  const verb = /^([a-z]+ed|sent)_at$/.exec(name)?.[1];
  const [text, example = NOW] = TIMES[name] ?? [verb && `When it was ${verb}.`];
  return { description: text && (isNullable ? `${text} Null before that.` : text), example };
}

interface Meaning {
  description?: string | undefined;
  example?: unknown;
}

/** What the name and the type of a property say. Empty if that is nothing. */
export function commonMeaning(
  name: string,
  { type, format, ...schema }: Record<string, unknown>,
): Meaning {
  const types = [type].flat();
  if ('const' in schema || 'enum' in schema) return {};
  if (types.includes('integer')) return { description: COUNTS[name] };
  if (!types.includes('string')) return {};
  if (format === 'date-time') return timeMeaning(name, types.includes('null'));
  const prefix = prefixOf(name);
  if (prefix)
    return { description: `The ID of the ${ID_NOUNS[prefix]}.`, example: exampleId(prefix) };
  const [description, example] = TEXTS[name] ?? [];
  return { description, example };
}
