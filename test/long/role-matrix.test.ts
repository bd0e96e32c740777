/** Permissions: calls every operation as every kind of caller and compares the results with the contract's table. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ROUTES } from '../../src/features.ts';
import { ROLES, type Role } from '../../src/http/actor.ts';
import type { Route } from '../../src/http/route.ts';
import { createApiKey } from '../../src/team/api-keys.ts';
import { findOwner } from '../../src/team/members.ts';
import { insertSession } from '../../src/team/sessions.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';

/** The lowest role (contract §3). Not read from the routes, to detect mistakes there. */
const REQUIRED_ROLE: Record<string, Role | 'public'> = {
  getHealth: 'public',
  getReadiness: 'public',
  getStatus: 'public',
  getStatusV1: 'public',
  getCapabilities: 'public',
  getMetrics: 'public',
  getOpenApi: 'public',
  // All roles read tests and reports; members create them.
  listTests: 'viewer',
  exportTests: 'viewer',
  getTest: 'viewer',
  getTestSource: 'viewer',
  listTestHistory: 'viewer',
  getTestReportPage: 'viewer',
  getTestReportPdf: 'viewer',
  getTestPreview: 'viewer',
  getTestPreviewPage: 'viewer',
  createTest: 'member',
  submitTest: 'member',
  submitTestByType: 'member',
  readMessageReceipt: 'member',
  updateTest: 'member',
  deleteTest: 'member',
  reanalyzeTest: 'member',
  loadTestImages: 'member',
  listTestImages: 'viewer',
  deleteTestImages: 'member',
  listUnsubscribeTries: 'viewer',
  tryUnsubscribeLink: 'member',
  // Members read events; admins manage webhook endpoints.
  listEvents: 'member',
  getEvent: 'member',
  createWebhookEndpoint: 'admin',
  listWebhookEndpoints: 'admin',
  getWebhookEndpoint: 'admin',
  updateWebhookEndpoint: 'admin',
  deleteWebhookEndpoint: 'admin',
  rotateWebhookSecret: 'admin',
  testWebhookEndpoint: 'admin',
  recoverWebhookDeliveries: 'admin',
  listWebhookDeliveries: 'admin',
  getWebhookDelivery: 'admin',
  resendWebhookDelivery: 'admin',
  // Members manage domains.
  createDomain: 'member',
  createDomains: 'member',
  listDomains: 'member',
  getDomainTable: 'member',
  exportDomains: 'member',
  tagDomains: 'member',
  getDomain: 'member',
  updateDomain: 'member',
  deleteDomain: 'member',
  verifyDomain: 'member',
  verifyDomains: 'member',
  // All roles look up any domain.
  lookUpDomain: 'viewer',
  getDomainHealth: 'member',
  // Members see the files of a domain, admins change them. A proxy has no credentials.
  getHostedFiles: 'member',
  updateHostedFiles: 'admin',
  findHostedHost: 'public',
  getBrand: 'viewer',
  updateBrand: 'admin',
  listInboxes: 'viewer',
  getInbox: 'viewer',
  deleteInbox: 'member',
  // All roles read feedback; members upload and delete reports and confirm reporters. Reporters have no credentials.
  listFeedbackReports: 'viewer',
  getFeedbackReport: 'viewer',
  listFeedbackRows: 'viewer',
  exportFeedbackRows: 'viewer',
  getFeedbackReportSource: 'viewer',
  uploadFeedback: 'member',
  deleteFeedbackReport: 'member',
  createReportMailbox: 'admin',
  listReportMailboxes: 'member',
  getReportMailbox: 'member',
  updateReportMailbox: 'admin',
  deleteReportMailbox: 'admin',
  startReportMailboxImport: 'member',
  cancelReportMailboxImport: 'member',
  listFeedbackReporters: 'viewer',
  listUnconfirmedReporters: 'viewer',
  getFeedbackReporter: 'viewer',
  updateFeedbackReporter: 'member',
  listFeedbackSources: 'viewer',
  exportFeedbackSources: 'viewer',
  getFeedbackSource: 'viewer',
  updateFeedbackSource: 'member',
  getDmarcAdvice: 'viewer',
  getDmarcFeedback: 'viewer',
  exportDmarcFeedback: 'viewer',
  getDmarcReporters: 'viewer',
  getTlsFeedback: 'viewer',
  exportTlsFeedback: 'viewer',
  exportTlsFailures: 'viewer',
  exportComplaints: 'viewer',
  exportBounces: 'viewer',
  listComplaints: 'viewer',
  getComplaintSummary: 'viewer',
  listBounces: 'viewer',
  getBounceSummary: 'viewer',
  postTlsReport: 'public',
  // All roles read what receivers publish and the picture of a domain; members fetch.
  listReceivers: 'viewer',
  getReceiverStats: 'viewer',
  getCompliance: 'viewer',
  listSendingAddresses: 'viewer',
  fetchReceiver: 'member',
  getDomainPicture: 'viewer',
  // All roles plan DNS changes; admins make them, and manage name servers.
  planDnsChanges: 'viewer',
  applyDnsChanges: 'admin',
  planVerificationRecords: 'admin',
  applyVerificationRecords: 'admin',
  listDnsChanges: 'admin',
  getDnsChange: 'admin',
  undoDnsChange: 'admin',
  createDnsServer: 'admin',
  listDnsServers: 'admin',
  getDnsServer: 'admin',
  updateDnsServer: 'admin',
  deleteDnsServer: 'admin',
  checkDnsServer: 'admin',
  // Members manage monitors.
  createMonitor: 'member',
  listMonitors: 'member',
  getMonitor: 'member',
  updateMonitor: 'member',
  deleteMonitor: 'member',
  runMonitor: 'member',
  listMonitorRuns: 'member',
  // Members read alert rules and incidents; admins manage the rules.
  createAlert: 'admin',
  listAlerts: 'member',
  listRecommendedAlerts: 'member',
  createRecommendedAlerts: 'admin',
  getAlert: 'member',
  updateAlert: 'admin',
  deleteAlert: 'admin',
  testAlert: 'admin',
  getAlertTest: 'member',
  listIncidentsOfAlert: 'member',
  listAlertIncidents: 'member',
  getAlertIncident: 'member',
  // All roles talk to assistants, which may do what they may.
  callMcp: 'viewer',
  // All roles search; they find what they may read.
  search: 'viewer',
  // All roles read summaries.
  getReportSummary: 'viewer',
  // Members create and revoke shared links; anyone with a link reads it.
  shareReport: 'member',
  listSharedReports: 'viewer',
  getSharedReport: 'viewer',
  revokeSharedReport: 'member',
  getPublicReport: 'public',
  getPublicReportPdf: 'public',
  getBadge: 'public',
  getBadgeJson: 'public',
  // All roles read report schedules; admins manage them.
  createReportSchedule: 'admin',
  listReportSchedules: 'viewer',
  getReportSchedule: 'viewer',
  updateReportSchedule: 'admin',
  deleteReportSchedule: 'admin',
  sendReportSchedule: 'admin',
  previewReportSchedule: 'viewer',
  listReportScheduleRuns: 'viewer',
  // Members read the team; admins manage it.
  listMembers: 'member',
  getMember: 'member',
  updateMember: 'admin',
  // For another member. Other tests cover leaving the team.
  removeMember: 'admin',
  unlinkMember: 'admin',
  transferOwnership: 'owner',
  createInvitation: 'admin',
  listInvitations: 'admin',
  getInvitation: 'admin',
  revokeInvitation: 'admin',
  resendInvitation: 'admin',
  acceptInvitation: 'public',
  createApiKey: 'member',
  listApiKeys: 'member',
  getApiKey: 'member',
  listConnectedAssistants: 'member',
  revokeConnectedAssistant: 'member',
  // For another key or session. Other tests cover the caller's own.
  revokeApiKey: 'member',
  listAuditLog: 'admin',
  // The caller's own account.
  createSession: 'public',
  listSessions: 'viewer',
  deleteCurrentSession: 'viewer',
  deleteSession: 'viewer',
  deleteOtherSessions: 'viewer',
  requestPasswordReset: 'public',
  confirmPasswordReset: 'public',
  getMe: 'viewer',
  updateMe: 'viewer',
  // What assistants call before a member has connected them.
  getOAuthResource: 'public',
  getMcpOAuthResource: 'public',
  getOAuthServer: 'public',
  registerOAuthClient: 'public',
  createOAuthToken: 'public',
  revokeOAuthToken: 'public',
  // Public pages.
  showHome: 'public',
  showDocs: 'public',
  showDocsPage: 'public',
  showErrorType: 'public',
  showHelp: 'public',
  showHelpChapter: 'public',
  showSignIn: 'public',
  submitSignIn: 'public',
  submitSignOut: 'public',
  beginOidcSignIn: 'public',
  endOidcSignIn: 'public',
  showForgotPassword: 'public',
  submitForgotPassword: 'public',
  showSetPassword: 'public',
  submitSetPassword: 'public',
  showAcceptInvitation: 'public',
  submitAcceptInvitation: 'public',
  showUnsubscribe: 'public',
  submitUnsubscribe: 'public',
  submitUnsubscribeParts: 'public',
  showIconIco: 'public',
  showIconSvg: 'public',
  showAsset: 'public',
  submitPublicTest: 'public',
  showPublicTest: 'public',
  showPublicTestDeletion: 'public',
  submitPublicTestDeletion: 'public',
  // Pages of members.
  switchMode: 'viewer',
  showTest: 'viewer',
  showTestImages: 'viewer',
  submitTestImages: 'member',
  submitTestImagesDeletion: 'member',
  submitUnsubscribeTry: 'member',
  submitTestCreation: 'member',
  submitTestReanalysis: 'member',
  submitTestDeletion: 'member',
  showTestForm: 'member',
  submitTestForm: 'member',
  submitTestKind: 'member',
  showApiKeys: 'member',
  submitApiKey: 'member',
  submitApiKeyRevocation: 'member',
  submitAssistantDisconnection: 'member',
  showConnectAssistant: 'member',
  submitConnectAssistant: 'member',
  showFeedback: 'viewer',
  showDomainFeedback: 'viewer',
  showReceivers: 'viewer',
  submitReceiverFetch: 'member',
  showReporters: 'viewer',
  showTlsFeedback: 'viewer',
  showComplaints: 'viewer',
  showBounces: 'viewer',
  showFeedbackSource: 'viewer',
  submitFeedbackSource: 'member',
  showFeedbackReports: 'viewer',
  submitFeedbackReport: 'member',
  showFeedbackReport: 'viewer',
  submitReporterConfirmation: 'member',
  submitReporterWithdrawal: 'member',
  submitDomainReporterConfirmation: 'member',
  submitReportDeletion: 'member',
  showReportMailboxes: 'member',
  showNewReportMailbox: 'admin',
  submitReportMailbox: 'admin',
  showReportMailbox: 'member',
  submitReportMailboxChanges: 'admin',
  submitReportMailboxImport: 'member',
  submitReportMailboxCancellation: 'member',
  submitReportMailboxDeletion: 'admin',
  showReports: 'viewer',
  showSharedReports: 'viewer',
  showSharedReport: 'viewer',
  showNewSharedReport: 'member',
  submitSharedReport: 'member',
  submitSharedReportRevocation: 'member',
  showReportSchedules: 'viewer',
  showReportSchedule: 'viewer',
  showNewReportSchedule: 'admin',
  showReportScheduleForm: 'admin',
  submitReportSchedule: 'admin',
  submitReportScheduleChange: 'admin',
  submitReportScheduleSend: 'admin',
  submitReportScheduleDeletion: 'admin',
  showTeam: 'member',
  showMember: 'member',
  submitMember: 'admin',
  submitMemberRemoval: 'admin',
  submitMemberUnlink: 'admin',
  submitInvitation: 'admin',
  submitInvitationResend: 'admin',
  submitInvitationRevocation: 'admin',
  submitOwnershipTransfer: 'owner',
  showAuditLog: 'admin',
  showSystem: 'admin',
  // The caller's own account.
  showAccount: 'viewer',
  submitAccountName: 'viewer',
  submitAccountPassword: 'viewer',
  submitAccountDates: 'viewer',
  submitSessionEnd: 'viewer',
  submitOtherSessionsEnd: 'viewer',
  submitLeave: 'viewer',
  // Members read alert rules and incidents; admins manage the rules.
  showAlerts: 'member',
  showRecommendedAlerts: 'member',
  submitRecommendedAlerts: 'admin',
  showNewAlert: 'admin',
  submitAlert: 'admin',
  showAlert: 'member',
  submitAlertChanges: 'admin',
  submitAlertTest: 'admin',
  submitAlertDeletion: 'admin',
  showIncident: 'member',
  // Admins manage webhook endpoints.
  showWebhooks: 'admin',
  showNewWebhook: 'admin',
  submitWebhook: 'admin',
  showWebhook: 'admin',
  submitWebhookChanges: 'admin',
  submitWebhookState: 'admin',
  submitWebhookRotation: 'admin',
  submitWebhookTest: 'admin',
  submitWebhookRecovery: 'admin',
  submitWebhookDeletion: 'admin',
  showWebhookDelivery: 'admin',
  submitWebhookResend: 'admin',
  showDnsPlan: 'viewer',
  submitDnsPlan: 'admin',
  showDnsServers: 'admin',
  showNewDnsServer: 'admin',
  submitDnsServer: 'admin',
  showDnsServer: 'admin',
  submitDnsServerChanges: 'admin',
  submitDnsServerCheck: 'admin',
  submitDnsServerDeletion: 'admin',
  showDnsChanges: 'admin',
  showDnsChange: 'admin',
  submitDnsChangeUndo: 'admin',
  showDomains: 'member',
  submitDomain: 'member',
  showAddedDomains: 'member',
  showDomainLookup: 'viewer',
  showDomainVerifications: 'member',
  submitDomainVerifications: 'member',
  submitVerificationRecords: 'admin',
  submitDomainTags: 'member',
  submitTagsOfDomains: 'member',
  showDomain: 'member',
  submitDomainVerification: 'member',
  submitDomainCheck: 'member',
  submitDomainSelectors: 'member',
  submitDomainBadge: 'member',
  submitDomainDeletion: 'member',
  showHostedFiles: 'member',
  submitHostedFiles: 'admin',
  showBrand: 'viewer',
  submitBrand: 'admin',
  showMonitors: 'member',
  showNewMonitor: 'member',
  submitMonitor: 'member',
  showMonitor: 'member',
  submitMonitorChanges: 'member',
  submitMonitorRun: 'member',
  submitMonitorEnabled: 'member',
  submitMonitorDeletion: 'member',
  showSearch: 'viewer',
  showTests: 'viewer',
  submitTestSelection: 'viewer',
  showTestDeletion: 'member',
  submitTestsDeletion: 'member',
  showInboxes: 'viewer',
  showInbox: 'viewer',
  submitInboxDeletion: 'member',
  showNewTest: 'member',
  submitNewTest: 'member',
  submitNewMessage: 'member',
  showTestComparison: 'viewer',
};

/** Operations that change what has no test mode, and reject test-mode keys of every role. */
const LIVE_ONLY = new Set([
  'uploadFeedback',
  'deleteFeedbackReport',
  'createReportMailbox',
  'updateReportMailbox',
  'deleteReportMailbox',
  'startReportMailboxImport',
  'cancelReportMailboxImport',
  'updateFeedbackReporter',
  'updateFeedbackSource',
  'fetchReceiver',
  'createDomain',
  'createDomains',
  'verifyDomains',
  'applyDnsChanges',
  'applyVerificationRecords',
  'undoDnsChange',
  'createDnsServer',
  'updateDnsServer',
  'deleteDnsServer',
  'checkDnsServer',
  'updateDomain',
  'tagDomains',
  'updateHostedFiles',
  'updateBrand',
  'deleteDomain',
  'verifyDomain',
  'createMonitor',
  'updateMonitor',
  'deleteMonitor',
  'runMonitor',
  'createAlert',
  'createRecommendedAlerts',
  'updateAlert',
  'deleteAlert',
  'testAlert',
  'updateMember',
  'removeMember',
  'unlinkMember',
  'transferOwnership',
  'createInvitation',
  'revokeInvitation',
  'resendInvitation',
  'createApiKey',
  'revokeConnectedAssistant',
  // For another key or session. Other tests cover the caller's own.
  'revokeApiKey',
  'deleteCurrentSession',
  'deleteSession',
  'deleteOtherSessions',
  'updateMe',
  'createReportSchedule',
  'updateReportSchedule',
  'deleteReportSchedule',
  'sendReportSchedule',
]);

/** Forms that invoke those operations, even if nothing was sent. Their error is a page. */
const LIVE_ONLY_FORMS = new Set([
  'submitApiKey',
  'submitApiKeyRevocation',
  'submitAssistantDisconnection',
  'submitConnectAssistant',
  'submitReportSchedule',
  'submitReportScheduleChange',
  'submitReportScheduleSend',
  'submitReportScheduleDeletion',
  'submitMemberRemoval',
  'submitMemberUnlink',
  'submitInvitation',
  'submitInvitationResend',
  'submitInvitationRevocation',
  'submitAccountName',
  'submitAccountPassword',
  'submitAccountDates',
  'submitSessionEnd',
  'submitOtherSessionsEnd',
  'submitAlert',
  'submitRecommendedAlerts',
  'submitAlertChanges',
  'submitAlertTest',
  'submitAlertDeletion',
  'submitDomain',
  'submitDnsServer',
  'submitDnsServerCheck',
  'submitDnsServerDeletion',
  'submitDnsChangeUndo',
  'submitReceiverFetch',
  'submitDomainVerification',
  'submitDomainVerifications',
  'submitVerificationRecords',
  'submitDomainSelectors',
  'submitDomainTags',
  'submitDomainBadge',
  'submitDomainDeletion',
  'submitHostedFiles',
  'submitMonitor',
  'submitMonitorChanges',
  'submitMonitorRun',
  'submitMonitorEnabled',
  'submitMonitorDeletion',
  'submitFeedbackSource',
  'submitReporterConfirmation',
  'submitReporterWithdrawal',
  'submitDomainReporterConfirmation',
  'submitReportDeletion',
  'submitReportMailbox',
  'submitReportMailboxChanges',
  'submitReportMailboxImport',
  'submitReportMailboxCancellation',
  'submitReportMailboxDeletion',
]);

/** Authorized by a link or a token alone. Web mail clients and assistants call it too. */
const FROM_ANYWHERE = new Set([
  'submitUnsubscribe',
  'submitUnsubscribeParts',
  'registerOAuthClient',
  'createOAuthToken',
  'revokeOAuthToken',
]);

/** The caller's own account, which requires a key with the full role of its member. */
const OWN_ACCOUNT = new Set([
  'listSessions',
  'deleteSession',
  'deleteOtherSessions',
  'updateMe',
  'showAccount',
  'submitAccountName',
  'submitAccountPassword',
  'submitAccountDates',
  'submitSessionEnd',
  'submitOtherSessionsEnd',
]);

const KEY_LIFE_MS = 3_600_000;

interface Asker {
  name: string;
  /** The effective role; null without credentials. */
  role: Role | null;
  /** The member's role if it differs from the key's role. */
  memberRole?: Role;
  testMode?: boolean;
  /** Created for each request, because some operations end the caller's session. */
  headers(): Promise<Record<string, string>>;
}

const bearer = (
  name: string,
  role: Role | null,
  key: string,
  more: Pick<Asker, 'memberRole' | 'testMode'> = {},
): Asker => ({
  ...more,
  name,
  role,
  headers: async () => ({ authorization: `Bearer ${key}` }),
});

/** A browser of the member, with same-origin requests by default. */
function browser(
  { app }: TestService,
  asker: { name: string; role: Role | null; memberId: string; site?: string; end?: boolean },
): Asker {
  const { name, role, memberId, site = 'same-origin', end = false } = asker;
  return {
    name,
    role,
    async headers() {
      const caller = { ip: null, userAgent: null };
      const { token, row } = await app.db
        .transaction()
        .execute((tx) => insertSession(tx, app, memberId, caller));
      if (end) await app.db.deleteFrom('sessions').where('id', '=', row.id).execute();
      return { cookie: `deliverability=${token}`, 'sec-fetch-site': site };
    },
  };
}

async function nobodies(service: TestService, expired: string): Promise<Asker[]> {
  const { app, call, makeKey, makeMember } = service;
  const revoked = await makeKey('owner');
  const { body: me } = await call<{ api_key: { id: string } }>('GET', '/v1/me', { key: revoked });
  assert.equal((await call('DELETE', `/v1/api_keys/${me.api_key.id}`)).status, 200);
  const removed = await makeMember('admin');
  assert.equal((await call('DELETE', `/v1/team/members/${removed.id}`)).status, 200);
  const owner = (await findOwner(app.db))!;
  return [
    { name: 'nobody', role: null, headers: async () => ({}) },
    bearer('a key that is none', null, 'dlv_live_none'),
    bearer('a revoked key', null, revoked),
    bearer('an expired key', null, expired),
    bearer('the key of a removed member', null, removed.key),
    browser(service, { name: 'an ended session', role: null, memberId: owner.id, end: true }),
  ];
}

async function askersOf(t: TestContext) {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  const { app, call, key, makeKey, makeMember } = service;
  const owner = (await findOwner(app.db))!;
  const seed = { memberId: owner.id, name: 'short', role: 'owner', livemode: true } as const;
  const { key: expired } = await createApiKey(app, { ...seed, expiresIn: KEY_LIFE_MS });
  assert.equal((await call('GET', '/v1/me', { key: expired })).status, 200);
  clock.advance(KEY_LIFE_MS + 1);
  const [viewer, member, admin] = await Promise.all([
    makeMember('viewer'),
    makeMember('member'),
    makeMember('admin'),
  ]);
  const lowered = await makeMember('admin');
  await call('PATCH', `/v1/team/members/${lowered.id}`, { json: { role: 'viewer' } });
  const askers: Asker[] = [
    ...(await nobodies(service, expired)),
    bearer('a viewer', 'viewer', viewer.key),
    bearer('a member', 'member', member.key),
    bearer('an admin', 'admin', admin.key),
    bearer('the owner', 'owner', key),
    bearer("the owner's key of a viewer", 'viewer', await makeKey('viewer'), {
      memberRole: 'owner',
    }),
    bearer("the owner's key of an admin", 'admin', await makeKey('admin'), {
      memberRole: 'owner',
    }),
    bearer("a viewer's key of an owner", 'viewer', await makeKey('owner', true, viewer.id)),
    bearer('a test-mode key', 'owner', await makeKey('owner', false), { testMode: true }),
    bearer("a member's test-mode key", 'member', await makeKey('member', false, member.id), {
      testMode: true,
    }),
    browser(service, { name: "the owner's session", role: 'owner', memberId: owner.id }),
    browser(service, { name: "a member's session", role: 'member', memberId: member.id }),
    browser(service, { name: "a viewer's session", role: 'viewer', memberId: viewer.id }),
    browser(service, {
      name: 'the session of a lowered admin',
      role: 'viewer',
      memberId: lowered.id,
    }),
  ];
  return { service, askers, ownerId: owner.id };
}

/** A request with unknown IDs and an invalid body, so that it changes nothing. */
function harmless(route: Route): { path: string; method: string; type?: string; body?: string } {
  const { method, consumes } = route;
  const path = route.path.replace(/:\w+/g, 'nothing_0');
  if (consumes) return { path, method, type: consumes.type, body: '' };
  if (method === 'GET' || method === 'DELETE') return { path, method };
  // Operations on the own account reject after reading the body. An empty body changes nothing.
  const body = route.operation === 'updateMe' ? '{}' : '{"no_such_field":1}';
  return { path, method, type: 'application/json', body };
}

async function ask({ url }: TestService, route: Route, headers: Record<string, string>) {
  const { path, method, type, body } = harmless(route);
  const fields = { ...headers, ...(type ? { 'content-type': type } : {}) };
  const response = await fetch(url + path, { method, headers: fields, body, redirect: 'manual' });
  const text = await response.text();
  return { status: response.status, text, fields: response.headers };
}

const classOf = (status: number): string =>
  status === 401 || status === 403 ? String(status) : status >= 500 ? `failed (${status})` : 'may';

type Standing = Pick<Asker, 'role' | 'memberRole' | 'testMode'>;

/** `may`, 401, or 403 with a part of the detail. */
function expectedOf(operation: string, { role, memberRole, testMode }: Standing): string {
  const required = REQUIRED_ROLE[operation]!;
  if (required === 'public') return 'may';
  if (role === null) return '401';
  const low = ROLES.indexOf(role) < ROLES.indexOf(required);
  const sandboxed = testMode === true && LIVE_ONLY.has(operation);
  // A caller who lacks both may get either error.
  if (low && sandboxed) return '403';
  if (low) return `403 requires the ${required} role`;
  if (sandboxed) return '403 live_mode_required';
  if (testMode && LIVE_ONLY_FORMS.has(operation)) return "403 Test-mode keys can't use this";
  if (memberRole && OWN_ACCOUNT.has(operation)) return `403 requires the ${memberRole} role`;
  return 'may';
}

test('The role table covers exactly all operations', () => {
  const operations = ROUTES.map(({ operation }) => operation);
  assert.deepEqual(operations.toSorted(), Object.keys(REQUIRED_ROLE).toSorted());
  for (const name of [...LIVE_ONLY, ...OWN_ACCOUNT]) assert.ok(REQUIRED_ROLE[name], name);
});

test('Every operation enforces the role table for every kind of caller', async (t) => {
  const { service, askers } = await askersOf(t);
  const wrong: string[] = [];
  let cells = 0;
  for (const route of ROUTES)
    for (const asker of askers) {
      const { status, text, fields } = await ask(service, route, await asker.headers());
      const [expected, named = ''] = expectedOf(route.operation, asker).split(/ (.*)/);
      const cell = `${route.operation} for ${asker.name}`;
      if (classOf(status) !== expected || !text.includes(named))
        wrong.push(`${cell}: ${status} ${text.slice(0, 200)}`);
      if (status === 401) {
        // Assistants find out from it how to get access.
        const more = route.operation === 'callMcp' ? ' resource_metadata=' : '';
        const [challenge] = /^Bearer( resource_metadata=)?/.exec(fields.get('www-authenticate')!)!;
        assert.equal(challenge, `Bearer${more}`, cell);
      }
      cells += 1;
    }
  assert.deepEqual(wrong, []);
  assert.equal(cells, ROUTES.length * askers.length);
  const asked = ['createTest', 'transferOwnership'].map((name) =>
    expectedOf(name, { role: 'admin' }),
  );
  assert.deepEqual(asked, ['may', '403 requires the owner role']);
});

test('Session requests from other sites may only read', async (t) => {
  const { service, ownerId } = await askersOf(t);
  for (const site of ['cross-site', 'same-site']) {
    const visitor = browser(service, { name: site, role: 'owner', memberId: ownerId, site });
    for (const route of ROUTES) {
      const { status } = await ask(service, route, await visitor.headers());
      const open = route.method === 'GET' || FROM_ANYWHERE.has(route.operation);
      const expected = open ? 'may' : '403';
      assert.equal(classOf(status), expected, `${route.operation} from ${site}: ${status}`);
    }
  }
});
