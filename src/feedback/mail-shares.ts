/**
 * How much of the reported mail of a domain is its own, forged or forwarded. Most mail that fails DMARC is not the domain's
 * own, so a share of all mail says nothing about its senders. What nobody can know is neither own nor forged.
 */

import { storedRecords } from '../domains/feedback/records.ts';
import { addShares, type MailShares, NO_MAIL } from '../figures/mail-shares.ts';
import type { Db, Tx } from '../store/open.ts';
import type { FeedbackDomainRow } from '../store/tables.generated.ts';
import { basisOf, OWN_KINDS, type SourceKind } from './sources/kind.ts';
import { isEnforced } from './sources/policy-step.ts';
import { sourcesOf } from './sources/queries.ts';
import type { Days } from './sums.ts';

export interface SharedSource {
  key: string;
  mark: string | null;
  kind: SourceKind;
  messages: number;
  passed: number;
}

/** What the DNS of a domain says about mail that fails. */
export interface Declared {
  /** The DMARC record; null if there is none, undefined if that is not known. */
  record: string | null | undefined;
  isParked: boolean;
}

/** `messages`: all that are reported, of which some may have no source yet. */
export function sharesOf(
  sources: SharedSource[],
  { messages, record, isParked }: Declared & { messages: number },
): MailShares {
  const named = sources.reduce((sum, source) => sum + source.messages, 0);
  const hasOwn = sources.some(({ kind }) => OWN_KINDS.includes(kind));
  // A domain that sends mail after all declares nothing.
  const isSilent = isParked && sources.every(({ passed }) => passed === 0) && !hasOwn;
  const isDeclared = isSilent || (hasOwn && isEnforced(record));
  const shares = { ...NO_MAIL, unjudged: Math.max(0, messages - named) };
  for (const source of sources) {
    const part = partOf(source, { isSilent, isDeclared, hasOwn });
    shares[part] += source.messages;
    if (part === 'own') shares.own_passed += source.passed;
  }
  return shares;
}

interface Known {
  isSilent: boolean;
  isDeclared: boolean;
  hasOwn: boolean;
}

function partOf({ key, mark, kind }: SharedSource, known: Known) {
  if (OWN_KINDS.includes(kind)) return 'own';
  if (kind === 'forwarder') return 'forwarded';
  if (kind !== 'spoof') return 'unjudged';
  if (mark === 'foreign' || known.isSilent) return 'forged';
  // A service that the team has only begun to use never passes either. Without known senders, any mail may be own mail.
  if (basisOf(key) === 'service' || !known.hasOwn) return 'unjudged';
  return known.isDeclared && basisOf(key) !== 'rest' ? 'forged' : 'suspected';
}

export function declaredBy(row: Pick<FeedbackDomainRow, 'records'> | undefined): Declared {
  const [dmarc] = storedRecords(row);
  return { record: dmarc?.current, isParked: dmarc?.isParked === true };
}

/** Of some domains in a period, by ID. Domains without reported messages are left out. */
export async function mailShares(
  db: Db,
  { ids, from, to }: Days & { ids: string[] },
): Promise<Map<string, MailShares>> {
  if (ids.length === 0) return new Map();
  const sums = await db
    .selectFrom('dmarc_days')
    .leftJoin('feedback_domains', 'feedback_domains.id', 'dmarc_days.domain_id')
    .select(['dmarc_days.domain_id', 'feedback_domains.records'])
    .select(({ fn }) => fn.sum('dmarc_days.messages').as('messages'))
    .where('dmarc_days.domain_id', 'in', ids)
    .where('dmarc_days.day', '>=', from)
    .where('dmarc_days.day', '<=', to)
    .groupBy(['dmarc_days.domain_id', 'feedback_domains.records'])
    .execute();
  const shares = new Map<string, MailShares>();
  for (const { domain_id: id, messages, ...row } of sums) {
    if (Number(messages) === 0) continue;
    const sources = await sourcesOf(db, { domain: { id }, from, to });
    const shared = sources.map(({ row: { key, mark }, ...source }) => ({ ...source, key, mark }));
    shares.set(id, sharesOf(shared, { ...declaredBy(row), messages: Number(messages) }));
  }
  return shares;
}

/** Of all domains together, in summaries: each by what it declares itself. */
export async function sharesOfAll(
  tx: Tx,
  ids: string[],
  sources: (SharedSource & { domain_id: string })[],
  messages: number,
): Promise<MailShares> {
  const rows = await tx
    .selectFrom('feedback_domains')
    .select(['id', 'records'])
    .where('id', 'in', ids)
    .execute();
  const all = rows.reduce((sum, row) => {
    const own = sources.filter(({ domain_id }) => domain_id === row.id);
    return addShares(sum, sharesOf(own, { ...declaredBy(row), messages: 0 }));
  }, NO_MAIL);
  const named = sources.reduce((sum, source) => sum + source.messages, 0);
  return { ...all, unjudged: all.unjudged + Math.max(0, messages - named) };
}
