/** What Google says about its requirements for senders. */

import { RECEIVER_NAMES } from '../config/receivers.ts';
import { requirementsOf } from '../receivers/queries.ts';
import {
  adviceOnRequirement,
  checksOfRequirement,
  codeInWords,
  REQUIREMENTS,
  requirementName,
} from '../receivers/requirements.ts';
import type { Db, Tx } from '../store/open.ts';
import type { ReceiverRequirementRow } from '../store/tables.generated.ts';
import { type Finding, fine, notKnown, problem, sectionOf } from './findings.ts';
import { CURRENT_DAYS, daysAgo, type Reading } from './reading.ts';
import type { Topic } from './vocabulary.ts';

const TOPIC_OF: Record<string, Topic> = {
  SPF: 'spf',
  DKIM: 'dkim',
  SPF_AND_DKIM: 'dkim',
  DMARC_POLICY: 'dmarc_policy',
  DMARC_ALIGNMENT: 'dmarc',
  DNS_RECORDS: 'reverse_dns',
  ENCRYPTION: 'tls',
  USER_REPORTED_SPAM_RATE: 'spam_reports',
  ONE_CLICK_UNSUBSCRIBE: 'unsubscribe',
  HONOR_UNSUBSCRIBE: 'unsubscribe',
};

const ORDER = Object.keys(REQUIREMENTS);
/** Those that we do not know come last. */
const place = ({ requirement }: ReceiverRequirementRow): number =>
  ORDER.includes(requirement) ? ORDER.indexOf(requirement) : ORDER.length;
const byOrder = (a: ReceiverRequirementRow, b: ReceiverRequirementRow): number =>
  place(a) - place(b) || (a.requirement < b.requirement ? -1 : 1);

/** In Google’s order. */
export const orderedRequirements = async (
  source: Pick<Reading, 'config'> & { db: Db | Tx },
  name: string,
): Promise<ReceiverRequirementRow[]> => (await requirementsOf(source, name)).toSorted(byOrder);

export async function requirementFindings(reading: Reading): Promise<Finding[]> {
  const rows = await orderedRequirements(reading, reading.domain.name);
  const from = daysAgo(reading, CURRENT_DAYS);
  const path = sectionOf(reading.domain.id, 'gmail');
  return rows.map((row) => findingOf(row, { from, path }));
}

function findingOf(
  { requirement, status, reason, since, previous, checked_at }: ReceiverRequirementRow,
  { from, path }: { from: string; path: string },
): Finding {
  const name = requirementName(requirement);
  const said = {
    source: 'receivers' as const,
    origin: RECEIVER_NAMES.google_postmaster,
    path,
    topic: Object.hasOwn(TOPIC_OF, requirement) ? TOPIC_OF[requirement]! : ('content' as const),
    at: checked_at,
  };
  if (checked_at < from)
    return notKnown({
      ...said,
      text: `Not read from Google for more than ${CURRENT_DAYS} days: ${name}.`,
    });
  if (status === 'NEEDS_WORK')
    return problem('requirement_unmet', {
      ...said,
      text: `Google says that this needs work: ${name}${reason ? ` (${codeInWords(reason)})` : ''}.`,
      title: `Google’s requirement is not met: ${name}.`,
      // Where no check of ours can tell, only Google’s own rule helps.
      firstStep:
        checksOfRequirement(requirement).length > 0
          ? null
          : { text: adviceOnRequirement(requirement), record: null, path },
      // The first answer says nothing about when it began.
      since: previous === null ? null : since,
    });
  if (status !== 'COMPLIANT')
    return notKnown({
      ...said,
      text: `Google says “${codeInWords(status)}” about its requirement: ${name}.`,
    });
  return fine({ ...said, text: `Google’s requirement is met: ${name}.` });
}
