/** The states of a domain: which one applies, how it is marked, and what it means in one sentence. */

import type { TableRow } from '../../domain-table/schema.ts';
import type { ListedDomain } from '../../domains/schema.ts';
import type { DomainState } from '../../domains/states.ts';
import { allows } from '../../http/actor.ts';
import { StateMark } from '../../ui/components.tsx';
import { useReader } from '../frame/reader.tsx';
import { NotSetUp, Waiting } from '../frame/states.tsx';

export const STATE_WORDS: Record<DomainState, string> = {
  critical: 'Critical',
  failed: 'Verification failed',
  warning: 'Warning',
  pending: 'Not verified',
  unknown: 'No result yet',
  healthy: 'Healthy',
};

/** What the state means and what to do, about any number of domains. */
export const STATE_SENTENCES: Record<DomainState, string> = {
  critical:
    'Mailbox providers reject mail, or anyone can send as the domain. Open a domain to see which records to publish.',
  failed: 'The verification record is missing. Publish it again, then verify the domain.',
  warning: 'Mail is delivered, but some records need attention. Open a domain to see what to fix.',
  pending: 'Looked up once. Publish the TXT record of the domain to have it checked every day.',
  unknown:
    'No conclusive health check yet, or DNS has not answered for hours. New domains are checked within minutes. After a DNS failure, the check is retried within the hour.',
  healthy: 'These domains are checked every day.',
};

/** Without a result, a domain that was never checked waits; one whose checks were inconclusive is unknown. */
export function DomainMark({ state, checked_at, check_detail }: TableRow) {
  if (state !== 'unknown') return <DomainStateMark state={state} />;
  return checked_at === null && check_detail === null ? (
    <Waiting />
  ) : (
    <StateMark state="unknown" word="Unknown" />
  );
}

/** The mark of all domains in a state. */
export function DomainStateMark({ state }: { state: DomainState }) {
  switch (state) {
    case 'critical':
    case 'failed':
      return <StateMark state="fail" word={STATE_WORDS[state]} />;
    case 'warning':
      return <StateMark state="warn" word={STATE_WORDS[state]} />;
    case 'healthy':
      return <StateMark state="pass" word={STATE_WORDS[state]} />;
    case 'pending':
      return <NotSetUp>{STATE_WORDS[state]}</NotSetUp>;
    case 'unknown':
      return <StateMark state="unknown" word={STATE_WORDS[state]} />;
  }
}

/** Verified, but its health was not checked yet. A failed attempt leaves a reason in `last_check_detail`. */
export const isWaiting = ({ status, health, last_check_detail }: ListedDomain): boolean =>
  status === 'verified' &&
  health.status === 'unknown' &&
  health.checked_at === null &&
  last_check_detail === null;

/** Where something needs a verified domain. `to` ends the sentence: "to host its files here". */
export function AskToVerify({
  domain: { id, status },
  to,
}: {
  domain: Pick<ListedDomain, 'id' | 'status'>;
  to: string;
}) {
  if (status === 'verified' || !allows(useReader().role, 'member')) return null;
  return (
    <p>
      <NotSetUp>Not verified.</NotSetUp>{' '}
      <a href={`/domains/${id}#verification`}>Verify the domain</a> {to}.
    </p>
  );
}
