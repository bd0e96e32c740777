/** The groups of operations in the documentation, in their order. */

interface Tag {
  name: string;
  description: string;
  /** The paths, or their beginnings. */
  paths: string[];
}

const ALL_TAGS: Tag[] = [
  {
    name: 'Tests',
    description: 'A test examines one message. Its report has a score, a grade and findings.',
    paths: ['/v1/tests'],
  },
  {
    name: 'Inboxes',
    description:
      'An inbox has an address that never expires. Each message to it becomes a new test. Create one with `POST /v1/tests` and `reusable`.',
    paths: ['/v1/inboxes'],
  },
  {
    name: 'Domains',
    description: 'The domains of your team: their verification, their health and their DNS.',
    paths: ['/v1/domains', '/v1/domain_lookup', '/v1/hosted_hosts'],
  },
  {
    name: 'DNS changes',
    description:
      'Publishes the records that fix findings at your name servers: first a plan, then the changes that you confirm.',
    paths: [
      '/v1/dns_servers',
      '/v1/dns_changes',
      '/v1/domains/:id/dns_plan',
      '/v1/domains/:id/dns_apply',
    ],
  },
  {
    name: 'Feedback',
    description:
      'What receivers report about the mail of your domains: DMARC and TLS reports, complaints and bounces.',
    paths: ['/v1/feedback', '/feedback/tls'],
  },
  {
    name: 'Receivers',
    description:
      'What Google Postmaster Tools and Microsoft SNDS publish about your domains and addresses.',
    paths: ['/v1/receivers'],
  },
  {
    name: 'Monitors',
    description: 'Recurring checks of domains and blocklists.',
    paths: ['/v1/monitors'],
  },
  {
    name: 'Alerts',
    description: 'Rules that notify your team when a condition is met, and their incidents.',
    paths: ['/v1/alerts', '/v1/alert_incidents'],
  },
  {
    name: 'Reports',
    description: 'Summaries over many tests, scheduled reports and shared links.',
    paths: ['/v1/brand', '/v1/reports', '/reports/public'],
  },
  {
    name: 'Badges',
    description: 'Score badges for websites and README files.',
    paths: ['/badges'],
  },
  {
    name: 'Events',
    description: 'Records of what happened, such as a completed test.',
    paths: ['/v1/events'],
  },
  {
    name: 'Webhooks',
    description: 'Endpoints that receive events, and the log of their deliveries.',
    paths: ['/v1/webhooks'],
  },
  {
    name: 'Search',
    description: 'Finds domains, tests, and pages and help of the web application.',
    paths: ['/v1/search'],
  },
  {
    name: 'Your account',
    description: 'The member, the role and the credentials of the request.',
    paths: ['/v1/me'],
  },
  {
    name: 'Team',
    description: 'Members, invitations and the transfer of ownership.',
    paths: ['/v1/team'],
  },
  {
    name: 'API keys',
    description: 'The credentials of programs.',
    paths: ['/v1/api_keys'],
  },
  {
    name: 'Connected assistants',
    description: 'Assistants that members have connected by OAuth.',
    paths: ['/v1/connected_assistants'],
  },
  {
    name: 'Sessions and passwords',
    description: 'Sign-in with a browser, and password resets.',
    paths: ['/v1/sessions', '/v1/password_resets'],
  },
  {
    name: 'Audit log',
    description: 'Who changed what, and when.',
    paths: ['/v1/audit_log'],
  },
  {
    name: 'Health',
    description: 'The state of the service. These operations require no credentials.',
    paths: ['/healthz', '/readyz', '/status', '/v1/status', '/v1/capabilities', '/metrics'],
  },
];

/** The tag of the operations at a path, by the longest beginning; undefined if no tag includes it. */
export function tagOf(path: string): string | undefined {
  const matches = ALL_TAGS.flatMap(({ name, paths }) =>
    paths
      .filter((start) => path === start || path.startsWith(`${start}/`))
      .map((start) => ({ name, length: start.length })),
  );
  return matches.toSorted((a, b) => b.length - a.length)[0]?.name;
}

/** The used tags, for `tags` of the document. */
export const tagsOf = (used: Set<string>): { name: string; description: string }[] =>
  ALL_TAGS.filter(({ name }) => used.has(name)).map(({ name, description }) => ({
    name,
    description,
  }));
