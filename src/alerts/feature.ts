/** Alert rules, their incidents, and the notifications about them. */

import { ConfigError, PREFIX } from '../config/config.ts';
import { domainRemoved } from '../domains/change-domain.ts';
import { observed, subjectMoved } from '../events/observations.ts';
import type { Feature } from '../feature.ts';
import { mailSettled } from '../outbox/expire.ts';
import { subscribe } from '../store/subscribers.ts';
import { deliveriesRemoved } from '../webhooks/expire.ts';
import { AUDITED_ALERT, deleteAlertsOfDomain } from './change-alert.ts';
import { slackUrlProblem } from './channels/slack.ts';
import { recordMailOutcomes, recordRemovedDeliveries } from './delivery-status.ts';
import { evaluateRules } from './incidents.ts';
import { alertJobs } from './jobs.ts';
import { moveIncidents } from './moved-incidents.ts';
import { rulesForFirstOwner } from './recommended.ts';
import { alertOperations } from './routes.ts';
import { ALERT_EVENTS } from './schema.ts';
import { alertTools } from './tools.ts';

export const alerts: Feature = {
  name: 'alerts',
  events: ALERT_EVENTS,
  audited: [AUDITED_ALERT],
  routes: Object.values(alertOperations),
  tools: alertTools,
  jobs: alertJobs,
  subscribers: (app) => [
    subscribe(observed, evaluateRules(app)),
    subscribe(subjectMoved, moveIncidents(app)),
    subscribe(domainRemoved, deleteAlertsOfDomain),
    subscribe(mailSettled, recordMailOutcomes),
    subscribe(deliveriesRemoved, recordRemovedDeliveries),
    rulesForFirstOwner,
  ],
  checkConfig(config) {
    const problem = slackUrlProblem(config);
    if (problem !== null) throw new ConfigError([`${PREFIX}SLACK_WEBHOOK_URL ${problem}`]);
  },
};
