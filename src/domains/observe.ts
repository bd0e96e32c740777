/** What health checks and looks say about a verified domain. */

import type { DomainHealth } from '../analysis/domain/health.ts';
import type { Observed } from '../events/observations.ts';
import type { SetChange } from './watched-records.ts';

/** A known result of the health checks. */
export interface HealthObservation extends Observed {
  kind: 'health';
  domainId: string;
  health: DomainHealth;
}

/** A look got an answer about the domain, or has got none several times. */
export interface AnswerObservation extends Observed {
  kind: 'dns_answer';
  domainId: string;
  /** Why there is none, as a sentence; null if there is an answer. */
  problem: string | null;
}

export interface RecordObservation extends Observed, Pick<SetChange, 'state' | 'was' | 'is'> {
  kind: 'record';
  domainId: string;
  domain: string;
  label: string;
  name: string;
  type: string;
  /** Who made the change with this service; null if nobody did. */
  changedBy: RecordAuthor | null;
}

export interface RecordAuthor {
  dns_change_id: string;
  /** null if a command on the server made it. */
  email: string | null;
}

declare module '../events/observations.ts' {
  interface Observations {
    health: HealthObservation;
    dns_answer: AnswerObservation;
    record: RecordObservation;
  }
}
