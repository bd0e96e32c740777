/** The states of a monitor: how each is marked, and what it means in one sentence. */

import type { Monitor } from '../../monitors/schema.ts';
import type { MonitorType } from '../../monitors/types.ts';
import { StateMark } from '../../ui/components.tsx';
import { NotSetUp, Waiting } from '../frame/states.tsx';

/** In the order of lists: what alerts comes first, what is fine last. */
export const MONITOR_STATES = ['alerting', 'unknown', 'paused', 'ok'] as const;
export type MonitorState = Monitor['status'];

export const STATE_WORDS: Record<MonitorState, string> = {
  alerting: 'Alerting',
  unknown: 'Unknown',
  paused: 'Paused',
  ok: 'OK',
};

/** About any number of monitors. */
export const STATE_SENTENCES: Record<MonitorState, string> = {
  alerting: 'The last run found a problem. Open the monitor to see it.',
  unknown:
    'No conclusive run yet. New monitors run within minutes, placement monitors when a message arrives. Inconclusive runs are retried within the hour.',
  paused: 'These monitors are paused. Open one to resume it.',
  ok: 'The last runs found no problems.',
};

const TYPE_WORDS: Record<MonitorType, string> = {
  domain_health: 'Domain health',
  blocklist: 'Blocklists',
  placement: 'Placement',
};

/** A type that a newer version has added is shown as it is stored. */
export const typeWords = (type: MonitorType): string => TYPE_WORDS[type] ?? type;

export const FREQUENCY_WORDS: Record<Monitor['frequency'], string> = {
  hourly: 'Every hour',
  every_6_hours: 'Every 6 hours',
  daily: 'Every day',
  weekly: 'Every week',
};

/** A monitor that never ran waits; one whose runs were inconclusive is unknown. */
export function MonitorMark({ monitor }: { monitor: Monitor }) {
  const { status, type, detail, last_run_at } = monitor;
  switch (status) {
    case 'alerting':
      return <StateMark state="fail" word={STATE_WORDS.alerting} />;
    case 'ok':
      return <StateMark state="pass" word={STATE_WORDS.ok} />;
    case 'paused':
      return <NotSetUp>{STATE_WORDS.paused}</NotSetUp>;
    case 'unknown':
      // It cannot run.
      if (type === 'placement' && detail !== null) return <NotSetUp />;
      return last_run_at === null ? (
        <Waiting />
      ) : (
        <StateMark state="unknown" word={STATE_WORDS.unknown} />
      );
  }
}
