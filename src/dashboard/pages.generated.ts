/** Generated from the files of src/dashboard by `npm run generate`; do not edit. */

import { connectAssistantPages } from './access/connect-assistant.tsx';
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
import { domainAddPages } from './domains/add.tsx';
import { domainProofPages } from './domains/bulk-verification.tsx';
import { domainLookupPages } from './domains/by-name.tsx';
import { domainPages } from './domains/detail.tsx';
import { hostedFilePages } from './domains/files.tsx';
import { domainListPages } from './domains/list.tsx';
import { errorTypePages } from './error-types.tsx';
import { bouncePages } from './feedback/bounces.tsx';
import { complaintPages } from './feedback/complaints.tsx';
import { domainFeedbackPages } from './feedback/domain.tsx';
import { feedbackListPages } from './feedback/list.tsx';
import { mailboxPages } from './feedback/mailbox.tsx';
import { mailboxListPages } from './feedback/mailboxes.tsx';
import { reportActions } from './feedback/report-actions.tsx';
import { feedbackReportPage } from './feedback/report.tsx';
import { reporterPages } from './feedback/reporters.tsx';
import { feedbackReportPages } from './feedback/reports.tsx';
import { sourcePages } from './feedback/source.tsx';
import { tlsPages } from './feedback/tls.tsx';
import { helpPages } from './help/help.tsx';
import { modePages } from './mode.ts';
import { monitorPages } from './monitors/detail.tsx';
import { monitorListPages } from './monitors/list.tsx';
import { newMonitorPages } from './monitors/new.tsx';
import { overviewPages } from './overview/overview.tsx';
import { publicTestPages } from './public/public-test.tsx';
import { receiverPages } from './receivers/receivers.tsx';
import { brandPages } from './reports/brand.tsx';
import { schedulePages } from './reports/schedules.tsx';
import { sharePages } from './reports/shares.tsx';
import { summaryPages } from './reports/summary.tsx';
import { searchPages } from './search/search.tsx';
import { systemPages } from './system/system.tsx';
import { apiKeyPages } from './team/api-keys.tsx';
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

export const DASHBOARD_ROUTES = [
  ...connectAssistantPages,
  ...acceptInvitationPages,
  ...forgotPasswordPages,
  ...setPasswordPages,
  ...oidcPages,
  ...signInPages,
  ...unsubscribePages,
  ...accountPages,
  ...alertPages,
  ...incidentPages,
  ...recommendedPages,
  ...alertRulePages,
  ...dnsChangePages,
  ...dnsPlanPages,
  ...dnsServerPages,
  ...dnsServerListPages,
  ...domainAddPages,
  ...domainProofPages,
  ...domainLookupPages,
  ...domainPages,
  ...hostedFilePages,
  ...domainListPages,
  ...errorTypePages,
  ...bouncePages,
  ...complaintPages,
  ...domainFeedbackPages,
  ...feedbackListPages,
  ...mailboxPages,
  ...mailboxListPages,
  ...reportActions,
  ...feedbackReportPage,
  ...reporterPages,
  ...feedbackReportPages,
  ...sourcePages,
  ...tlsPages,
  ...helpPages,
  ...modePages,
  ...monitorPages,
  ...monitorListPages,
  ...newMonitorPages,
  ...overviewPages,
  ...publicTestPages,
  ...receiverPages,
  ...brandPages,
  ...schedulePages,
  ...sharePages,
  ...summaryPages,
  ...searchPages,
  ...systemPages,
  ...apiKeyPages,
  ...leavePages,
  ...memberPages,
  ...teamPages,
  ...testActions,
  ...comparePages,
  ...editPages,
  ...imagePages,
  ...inboxPages,
  ...kindPages,
  ...testListPages,
  ...newTestPages,
  ...selectionPages,
  ...testPages,
  ...deliveryPages,
  ...endpointPages,
  ...endpointListPages,
  ...newEndpointPages,
];
