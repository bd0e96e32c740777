/** The section of a report's e-mail on domains that need attention and on what alert rules found. */

import type { MadeBlock } from './mail-frame.ts';
import { cut } from './mail-text.ts';
import { remark, rows, titled } from './report-mail-parts.ts';
import type { ScheduledReport } from './summary.ts';
import {
  countOf,
  domainsInWords,
  HEALTH,
  incidentTimes,
  incidentTitle,
  NAME_LENGTH,
} from './summary-words.ts';

export const alertBlocks = (report: ScheduledReport): MadeBlock[] => [
  domainsBlock(report),
  incidentsBlock(report),
];

function domainsBlock(report: ScheduledReport): MadeBlock {
  const { domains, domainsLeftOut } = report;
  const parts = [remark(domainsInWords(report))];
  if (domains.length > 0)
    parts.push(
      rows(
        domains.map(({ name, health, score }) => {
          const { word, state, icon } = HEALTH[health];
          const value = `${icon} ${word}${score === null ? '' : `, ${score}`}`;
          return { title: cut(name, NAME_LENGTH), value, tone: state };
        }),
      ),
    );
  if (domainsLeftOut > 0) parts.push(remark(`And ${countOf(domainsLeftOut)} more.`));
  return titled('Domains', ...parts);
}

function incidentsBlock({ incidents, incidentsLeftOut, timezone }: ScheduledReport): MadeBlock {
  if (incidents.length === 0)
    return titled('Alerts', remark('No alert rule found anything in this time.'));
  const list = incidents.map((incident) => {
    const open = incident.resolved_at === null;
    return {
      title: incidentTitle(incident),
      more: incidentTimes(incident, timezone),
      value: open ? '✗ Open' : '✓ Over',
      tone: open ? ('fail' as const) : ('pass' as const),
    };
  });
  const parts = [rows(list)];
  if (incidentsLeftOut > 0) parts.push(remark(`And ${countOf(incidentsLeftOut)} more.`));
  return titled('Alerts', ...parts);
}
