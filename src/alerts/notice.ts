/** What there is to say of an incident, once for all channels: what has happened, since when, and what to do. */

import type { App } from '../app.ts';
import { printable } from '../lib/log.ts';
import { timeInWords } from '../render/utc-time.ts';
import type { AlertIncidentRow, AlertRow } from '../store/watching-tables.ts';
import { type Step, stepsOf } from './fixes.ts';
import { conditionOf, measuredOf, newsOf } from './news.ts';
import type { Occasion } from './occasion.ts';

/** Plain text from whoever wrote names and subjects: each channel escapes it. */
export interface Notice {
  kind: 'Alert' | 'Resolved' | 'Sample';
  /** What has happened: half a sentence that stands as a heading and as a subject. */
  title: string;
  /** What it means. */
  lead: string;
  facts: [label: string, value: string][];
  /** What to do, the first thing first; empty where nothing is to be done. */
  steps: Step[];
  /** What comes next, where that is to be said. */
  after: string | null;
  link: { label: string; url: string } | null;
  /** The rule by its name and its id. */
  rule: string;
  /** Who gets the same twice sees it by this; null for a sample. */
  incident: string | null;
}

export function noticeOf(config: Pick<App['config'], 'APP_URL'>, occasion: Occasion): Notice {
  const { news, alert, incident, test, run } = occasion;
  if (news === 'test' || incident === null) return sampleOf(config, alert);
  const isOver = news === 'resolved';
  return {
    kind: isOver ? 'Resolved' : 'Alert',
    ...newsOf({ isOver, alert, incident, test }),
    facts: factsOf(occasion, incident),
    steps: isOver ? [] : stepsOf(alert, incident, { test, run }),
    after: isOver ? null : 'Nothing more is sent about this until it is over.',
    link: linkOf(config, test, run),
    rule: ruleOf(alert),
    incident: incident.id,
  };
}

function sampleOf({ APP_URL }: Pick<App['config'], 'APP_URL'>, alert: AlertRow): Notice {
  return {
    kind: 'Sample',
    title: `The alert rule “${short(alert.name)}” reaches you here`,
    lead: 'This is a sample, sent to try where the notifications of an alert rule go. Nothing has happened, and there is nothing to do.',
    facts: [
      ['Rule', alert.name],
      ['Alerts when', conditionOf(alert)],
    ],
    steps: [],
    after:
      'A real one says what has happened to which domain or address, since when, and what to do. One that says “Resolved” follows when it is over.',
    link: { label: 'Open the team’s pages', url: APP_URL },
    rule: ruleOf(alert),
    incident: null,
  };
}

const ruleOf = ({ name, id }: AlertRow): string => `“${short(name)}” (${id})`;

/** The pages that say more; what only a run knows is read where its monitor is. */
function linkOf(
  { APP_URL }: Pick<App['config'], 'APP_URL'>,
  test: Occasion['test'],
  run: Occasion['run'],
): Notice['link'] {
  if (test) return { label: 'Open the report', url: `${APP_URL}/v1/tests/${test.id}/report.html` };
  if (!run) return null;
  const { id, type, domain_id } = run.monitor;
  return type === 'domain_health' && domain_id !== null
    ? { label: 'See all checks of the domain', url: `${APP_URL}/v1/domains/${domain_id}/health` }
    : { label: 'See the runs of the monitor', url: `${APP_URL}/v1/monitors/${id}/runs` };
}

function factsOf(
  { news, alert, test, run }: Occasion,
  incident: AlertIncidentRow,
): Notice['facts'] {
  // Of a run whose monitor is gone it is not known what kind of target it was.
  const watched = run?.monitor.type === 'domain_health' ? 'Domain' : 'Target';
  const about = incident.run_id === null ? 'From domain' : watched;
  return [
    [about, incident.subject],
    ...measuredOf(alert, incident, news === 'resolved' ? test : null),
    ['Since', timeInWords(incident.opened_at)],
    ...(incident.resolved_at === null
      ? []
      : [['Until', timeInWords(incident.resolved_at)] as [string, string]]),
    ...(test?.subject
      ? [['Message', short(test.subject, SUBJECT_LENGTH)] as [string, string]]
      : []),
    ...(run ? [['Monitor', run.monitor.name] as [string, string]] : []),
    ['Rule', alert.name],
  ];
}

const SHORT_LENGTH = 80;
const SUBJECT_LENGTH = 200;

/** Enough of a name for a heading. */
function short(name: string, most = SHORT_LENGTH): string {
  const whole = [...printable(name)];
  return whole.length <= most ? whole.join('') : `${whole.slice(0, most - 1).join('')}…`;
}
