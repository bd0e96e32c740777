/** The navigation, and the pages that search finds. */

import type { Role } from '../http/actor.ts';

interface PageEntry {
  /** It covers the whole team: callers who are limited to tags may not open it. */
  wholeTeam?: true;
  title: string;
  /** Further words by which it is found. */
  words: string;
  path: string;
  /** The lowest role that may open it. */
  role: Role;
}

interface SectionEntry extends PageEntry {
  /** The path of the icon, drawn on 16 × 16 units. */
  icon: string;
  /** Other pages of the section that search finds. */
  pages?: PageEntry[];
}

const PRODUCT = {
  overview: {
    path: '/',
    title: 'Overview',
    words: 'home start dashboard',
    role: 'viewer',
    icon: 'M2 13.5h12M4 11V8m4 3V3.5m4 7.5V6',
  },
  tests: {
    path: '/tests',
    title: 'Tests',
    words: 'messages results scores',
    role: 'viewer',
    icon: 'M1.8 3.5h12.4v9H1.8zm0 .5L8 9l6.2-5',
    pages: [
      {
        path: '/tests/new',
        title: 'New test',
        words: 'create test address upload',
        role: 'member',
      },
      { path: '/inboxes', title: 'Inboxes', words: 'reusable permanent address', role: 'viewer' },
    ],
  },
  domains: {
    path: '/domains',
    title: 'Domains',
    words: 'dns spf dkim dmarc health',
    role: 'member',
    icon: 'M8 1.7a6.3 6.3 0 1 0 0 12.6A6.3 6.3 0 0 0 8 1.7zM1.7 8h12.6M8 1.7c3.6 4 3.6 8.6 0 12.6-3.6-4-3.6-8.6 0-12.6',
  },
  monitors: {
    path: '/monitors',
    title: 'Monitors',
    words: 'blocklist placement runs',
    role: 'member',
    icon: 'M1.5 8.5h3l2-5 3 9 2-4h3',
    pages: [{ path: '/monitors/new', title: 'New monitor', words: 'create add', role: 'member' }],
  },
  alerts: {
    path: '/alerts',
    title: 'Alerts',
    words: 'rules incidents notifications',
    role: 'member',
    icon: 'M3.5 11.5c1-1 1-2.5 1-4.5a3.5 3.5 0 0 1 7 0c0 2 0 3.5 1 4.5zm3.3 2.2h2.4',
    pages: [
      {
        path: '/alerts/new',
        wholeTeam: true,
        title: 'New alert rule',
        words: 'create add',
        role: 'admin',
      },
    ],
  },
  feedback: {
    path: '/feedback',
    title: 'Feedback',
    words: 'dmarc tls complaints bounces',
    role: 'viewer',
    icon: 'M2 3h12v8H8l-3.5 3v-3H2zM5 6h6M5 8.3h4',
    pages: [
      {
        path: '/feedback/reports',
        title: 'Feedback reports',
        words: 'dmarc tls aggregate upload',
        role: 'viewer',
      },
      {
        path: '/feedback/mailboxes',
        wholeTeam: true,
        title: 'Report mailboxes',
        words: 'imap import gmail dmarc',
        role: 'member',
      },
    ],
  },
  receivers: {
    path: '/receivers',
    wholeTeam: true,
    title: 'Receivers',
    words: 'google postmaster tools gmail outlook microsoft snds spam rate compliance',
    role: 'viewer',
    icon: 'M2 8.5h3.2l1 2h3.6l1-2H14M2 8.5 4.2 3h7.6L14 8.5v5H2zM8 3.5v4m-1.8-1.8L8 7.5l1.8-1.8',
  },
  reports: {
    path: '/reports',
    title: 'Reports',
    words: 'summary trends figures',
    role: 'viewer',
    icon: 'M3.5 1.8h6l3 3v9.4h-9zm6 0v3h3M5.8 8.5h4.4M5.8 11h4.4',
    pages: [
      {
        path: '/reports/schedules',
        wholeTeam: true,
        title: 'Scheduled reports',
        words: 'email weekly monthly schedules',
        role: 'viewer',
      },
      {
        path: '/reports/schedules/new',
        wholeTeam: true,
        title: 'New scheduled report',
        words: 'create add schedule',
        role: 'admin',
      },
      {
        path: '/reports/shares',
        title: 'Shared links',
        words: 'share public client',
        role: 'viewer',
      },
    ],
  },
} satisfies Record<string, SectionEntry>;

const ADMINISTRATION = {
  team: {
    path: '/team',
    wholeTeam: true,
    title: 'Team',
    words: 'members invitations roles',
    role: 'member',
    icon: 'M5.8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zm-4.3 6c0-5 8.6-5 8.6 0m.4-10.8a2.4 2.4 0 0 1 0 4.6m1.5 2.2c1.6.6 2.5 2 2.5 4',
  },
  keys: {
    path: '/api-keys',
    title: 'API keys',
    words: 'tokens credentials',
    role: 'member',
    icon: 'M5 13.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zm2.2-5.2L13 2.5M10.5 5l2 2',
  },
  webhooks: {
    path: '/webhooks',
    title: 'Webhooks',
    words: 'endpoints deliveries events',
    role: 'admin',
    icon: 'M5 4.5L2 8l3 3.5m6-7L14 8l-3 3.5M9.2 3L6.8 13',
    pages: [
      { path: '/webhooks/new', title: 'New webhook endpoint', words: 'create add', role: 'admin' },
    ],
  },
  dns: {
    path: '/dns',
    title: 'Name servers',
    words:
      'dns publish records changes undo rfc2136 tsig cloudflare route53 hetzner desec powerdns externaldns',
    role: 'admin',
    icon: 'M2 3h12v4H2zM2 9h12v4H2zM4.5 5h.1m-.1 6h.1M11.5 5h.1m-.1 6h.1M8 7v2',
    pages: [
      {
        path: '/dns/servers/new',
        title: 'New name server',
        words: 'create add dns credentials',
        role: 'admin',
      },
      {
        path: '/dns/changes',
        title: 'DNS changes',
        words: 'records published undo',
        role: 'admin',
      },
    ],
  },
  audit: {
    path: '/audit-log',
    title: 'Audit log',
    words: 'changes history who',
    role: 'admin',
    icon: 'M5.5 3.5h8.7M5.5 8h8.7m-8.7 4.5h8.7M1.9 3.5h.2M1.9 8h.2m-.2 4.5h.2',
  },
  system: {
    path: '/system',
    title: 'System',
    words: 'settings status blocklists seed mailboxes dependencies version',
    role: 'admin',
    icon: 'M2 2.5h12V7H2zM2 9h12v4.5H2zm2.5-4.3h.1m-.1 6.5h.1',
  },
} satisfies Record<string, SectionEntry>;

export type Section = keyof typeof PRODUCT | keyof typeof ADMINISTRATION;

const sectionsOf = (sections: Record<string, SectionEntry>) =>
  (Object.entries(sections) as [Section, SectionEntry][]).map(([id, entry]) => ({ id, ...entry }));

/** The groups of the navigation, in its order. */
export const NAVIGATION = [
  { title: null, sections: sectionsOf(PRODUCT) },
  { title: 'Administration', sections: sectionsOf(ADMINISTRATION) },
];

export const PAGES: PageEntry[] = [
  ...NAVIGATION.flatMap(({ sections }) =>
    sections.flatMap(({ path, title, words, role, pages = [] }) => [
      { path, title, words, role },
      ...pages,
    ]),
  ),
  {
    path: '/account',
    title: 'Account',
    words: 'settings password sessions time zone name email',
    role: 'viewer',
  },
];

type Named = Pick<PageEntry, 'title' | 'words'>;

/** Pages with words that begin as those of the search do, in any order; first those whose title begins with it. */
export function matching<P extends Named>(pages: P[], q: string): P[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = ({ title }: Named): number => {
    const text = title.toLowerCase();
    if (text.startsWith(words.join(' '))) return 0;
    return words.every((word) => text.includes(word)) ? 1 : 2;
  };
  return pages
    .filter(({ title, words: others }) => {
      const text = ` ${title} ${others}`.toLowerCase().replace(/[^\p{L}\p{N}.]+/gu, ' ');
      return words.every((word) => text.includes(` ${word}`));
    })
    .toSorted((a, b) => rank(a) - rank(b));
}
