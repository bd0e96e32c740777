/** What `dns` prints: plans as differences, records to copy, changes, and name servers. */

import { COPY_FORMAT_IDS, type CopyFormatId } from '../../dns-changes/copies.ts';
import type { DnsChange, DnsPlan, DnsServer, PlannedChangeBody } from '../../dns-changes/schema.ts';
import { printable } from '../../lib/log.ts';
import { wrap } from '../../report/text.ts';
import type { Io } from '../command.ts';

export const FORMATS = COPY_FORMAT_IDS.map((id) => id.replaceAll('_', '-'));

const COLORS = { '-': '\u001b[31m', '+': '\u001b[32m', ' ': '\u001b[2m' } as const;
const RESET = '\u001b[0m';

/** One part for each name and type: the difference, what it is for, and why it can’t be published. */
export function planText(
  { changes }: DnsPlan,
  serverName: string | null,
  io: Pick<Io, 'width' | 'useColor'>,
): string {
  if (changes.length === 0) return 'No finding proposes a record for this domain.\n';
  const title =
    serverName === null ? 'What would change:' : `What changes at ${printable(serverName)}:`;
  return [title, '', ...changes.map((change) => changeText(change, io))].join('\n');
}

function changeText(change: PlannedChangeBody, io: Pick<Io, 'width' | 'useColor'>): string {
  const { name, type, before, after, action, proposed, purpose, problem, caution } = change;
  const { removed, added, kept } = differenceOf(change);
  const line = (sign: keyof typeof COLORS, value: string) => {
    const text = `  ${sign} ${printable(value)}`;
    return io.useColor ? `${COLORS[sign]}${text}${RESET}` : text;
  };
  const note = (text: string) => wrap(printable(text), io.width, '    ');
  const state = problem !== null ? 'not possible' : action === 'none' ? 'published' : action;
  const { ttl } = after.values.length > 0 ? after : before;
  return [
    `${printable(name)} ${type}, TTL ${ttl}: ${state}`,
    ...removed.map((value) => line('-', value)),
    ...added.map((value) => line('+', value)),
    ...kept.map((value) => line(' ', value)),
    note(purpose),
    ...(problem === null
      ? []
      : [
          note(`Can’t be published here: ${problem}`),
          ...proposed.map((value) => note(`Proposed: ${value}`)),
        ]),
    ...(caution === null ? [] : [note(caution)]),
    '',
  ].join('\n');
}

function differenceOf({ before, after }: Pick<PlannedChangeBody, 'before' | 'after'>) {
  return {
    removed: before.values.filter((value) => !after.values.includes(value)),
    added: after.values.filter((value) => !before.values.includes(value)),
    kept: after.values.filter((value) => before.values.includes(value)),
  };
}

/** The records of all possible changes, each with its purpose above. */
export function copiesText({ changes }: DnsPlan, format: string): string {
  const name = format.replaceAll('-', '_') as CopyFormatId;
  return changes
    .flatMap(({ copies }) => (copies === null ? [] : [copies[name]]))
    .map((text) => `${text.split('\n').map(printable).join('\n').trimEnd()}\n`)
    .join(format === 'zone-file' ? '' : '\n');
}

/** "chg_… applied _dmarc.example.com TXT (2026-11-28 21:00 UTC)". */
export function changeLine({
  id,
  status,
  name,
  type,
  created_at,
  error,
  undoes,
}: DnsChange): string {
  const time = `${created_at.slice(0, 16).replace('T', ' ')} UTC`;
  const more = [
    ...(undoes === null ? [] : [`undoes ${undoes}`]),
    ...(error === null ? [] : [error]),
  ];
  return [`${id}  ${status.padEnd(8)}  ${name} ${type}  ${time}`, ...more].join('. ');
}

/** "ns1 (rfc2136): works, for example.com". */
export function serverLine({ name, kind, zones, checked_at, problem }: DnsServer): string {
  const state = checked_at === null ? 'not checked yet' : (problem ?? 'works');
  const list = zones.length === 0 ? '' : `, for ${zones.slice(0, 10).join(', ')}`;
  return `${name} (${kind}): ${state}${problem === null ? list : ''}`;
}
