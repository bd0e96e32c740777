/** Every page of the web application. */

import type { Feature } from '../feature.ts';
import type { DeclaredApi } from '../health/describe-api.ts';
import type { Route } from '../http/route.ts';
import { acceptInvitationPages } from './access/invitation.tsx';
import { forgotPasswordPages, setPasswordPages } from './access/reset-password.tsx';
import { oidcPages, signInPages } from './access/sign-in.tsx';
import { unsubscribePages } from './access/unsubscribe.tsx';
import { accountPages } from './account/account.tsx';
import { alertPages } from './alerts/alerts.tsx';
import { incidentPages } from './alerts/incident.tsx';
import { recommendedPages } from './alerts/recommended.tsx';
import { alertRulePages } from './alerts/rule.tsx';
import { dnsChangePages } from './dns/changes.tsx';
import { dnsPlanPages } from './dns/plan.tsx';
import { dnsServerPages } from './dns/server.tsx';
import { dnsServerListPages } from './dns/servers.tsx';
import { docsPages } from './docs/docs.tsx';
import { domainPages } from './domains/detail.tsx';
import { domainListPages } from './domains/list.tsx';
import { errorTypePage } from './error-types.tsx';
import { bouncePages } from './feedback/bounces.tsx';
import { complaintPages } from './feedback/complaints.tsx';
import { domainFeedbackPages } from './feedback/domain.tsx';
import { feedbackListPages } from './feedback/list.tsx';
import { mailboxPages } from './feedback/mailbox.tsx';
import { mailboxListPages } from './feedback/mailboxes.tsx';
import { feedbackReportPage } from './feedback/report.tsx';
import { reportActions } from './feedback/report-actions.tsx';
import { reporterPages } from './feedback/reporters.tsx';
import { feedbackReportPages } from './feedback/reports.tsx';
import { sourcePages } from './feedback/source.tsx';
import { tlsPages } from './feedback/tls.tsx';
import { assetRoutes } from './frame/assets.ts';
import { iconRoutes } from './frame/icon.ts';
import { modePages } from './mode.ts';
import { monitorPages } from './monitors/detail.tsx';
import { monitorListPages } from './monitors/list.tsx';
import { newMonitorPages } from './monitors/new.tsx';
import { overviewPages } from './overview/overview.tsx';
import { publicTestPages } from './public/public-test.tsx';
import { receiverPages } from './receivers/receivers.tsx';
import { schedulePages } from './reports/schedules.tsx';
import { sharePages } from './reports/shares.tsx';
import { summaryPages } from './reports/summary.tsx';
import { searchPages } from './search/search.tsx';
import { systemPages } from './system/system.tsx';
import { apiKeyPages } from './team/api-keys.tsx';
import { auditPages } from './team/audit-log.tsx';
import { leavePages } from './team/leave.tsx';
import { memberPages } from './team/member.tsx';
import { teamPages } from './team/team.tsx';
import { testActions } from './tests/actions.tsx';
import { comparePages } from './tests/compare.tsx';
import { editPages } from './tests/edit.tsx';
import { imagePages } from './tests/images.tsx';
import { inboxPages } from './tests/inboxes.tsx';
import { kindPages } from './tests/kind.tsx';
import { testListPages } from './tests/list.tsx';
import { newTestPages } from './tests/new.tsx';
import { selectionPages } from './tests/selection.tsx';
import { testPages } from './tests/test-page.tsx';
import { deliveryPages } from './webhooks/delivery.tsx';
import { endpointPages } from './webhooks/endpoint.tsx';
import { endpointListPages } from './webhooks/endpoints.tsx';
import { newEndpointPages } from './webhooks/new-endpoint.tsx';

export const dashboardRoutes = [
  // Before the page of one test, because the first match wins.
  ...testListPages,
  ...selectionPages,
  ...newTestPages,
  ...comparePages,
  ...overviewPages,
  ...signInPages,
  ...oidcPages,
  ...forgotPasswordPages,
  ...setPasswordPages,
  ...acceptInvitationPages,
  ...unsubscribePages,
  errorTypePage,
  ...testActions,
  ...testPages,
  ...editPages,
  ...imagePages,
  ...kindPages,
  ...inboxPages,
  ...modePages,
  ...publicTestPages,
  ...apiKeyPages,
  ...feedbackListPages,
  ...mailboxListPages,
  ...mailboxPages,
  ...domainFeedbackPages,
  ...reporterPages,
  ...tlsPages,
  ...complaintPages,
  ...bouncePages,
  ...sourcePages,
  ...feedbackReportPages,
  ...feedbackReportPage,
  ...reportActions,
  ...receiverPages,
  ...summaryPages,
  ...sharePages,
  ...schedulePages,
  ...teamPages,
  ...memberPages,
  ...accountPages,
  ...leavePages,
  ...systemPages,
  ...alertPages,
  ...recommendedPages,
  ...alertRulePages,
  ...incidentPages,
  ...endpointListPages,
  ...newEndpointPages,
  ...endpointPages,
  ...deliveryPages,
  ...domainListPages,
  ...domainPages,
  ...dnsPlanPages,
  ...dnsServerListPages,
  ...dnsServerPages,
  ...dnsChangePages,
  ...monitorListPages,
  // Before the page of one monitor, because the first match wins.
  ...newMonitorPages,
  ...monitorPages,
  ...searchPages,
];

/** All pages and their icon, including the API reference, which describes the given routes. */
export const allPages = ({
  audited,
  ...api
}: DeclaredApi & Pick<Required<Feature>, 'audited'>): Route[] => [
  ...dashboardRoutes,
  ...auditPages(audited),
  ...iconRoutes,
  ...assetRoutes,
  ...docsPages(api),
];
