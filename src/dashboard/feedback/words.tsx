/** How the pages name the states of feedback and the kinds of sources: calm, because failing DMARC is not "not delivered". */

import type { FeedbackState } from '../../domains/feedback/state.ts';
import { KINDS, type SourceKind } from '../../feedback/sources/kind.ts';
import type { FeedbackSource } from '../../feedback/sources/schema.ts';
import { stoppedOf } from '../../figures/dmarc.ts';
import { StateMark } from '../../ui/components.tsx';
import { NotSetUp, Waiting } from '../frame/states.tsx';

export function FeedbackStateMark({ state }: { state: FeedbackState }) {
  switch (state) {
    case 'not_published':
      return <NotSetUp />;
    case 'waiting':
      return <Waiting>Waiting for reports</Waiting>;
    case 'receiving':
      return <StateMark state="pass" word="Receiving reports" />;
    case 'stopped':
      return <StateMark state="warn" word="Reports stopped" />;
    case 'unknown':
      return <Waiting>DNS not checked yet</Waiting>;
  }
}

export const KindMark = ({ kind }: { kind: SourceKind }) => <StateMark {...KINDS[kind]} />;

/** What to do about a source, in a few words. */
export function nextStepOf(source: FeedbackSource): string {
  const { kind, failed } = source;
  switch (kind) {
    case 'own':
    case 'service':
      return failed === 0 ? 'Nothing' : 'Review the failing messages';
    case 'misconfigured':
      return 'Set up aligned DKIM or SPF';
    case 'forwarder':
      return failed === 0 ? 'Nothing: its mail passes' : 'Nothing, if you sign with DKIM';
    case 'unknown':
      return 'Confirm whether it is yours';
    case 'spoof':
      return stoppedOf(source) >= failed / 2
        ? 'Nothing: your policy stops most of it'
        : 'Review your policy: most of this mail gets through';
  }
}
