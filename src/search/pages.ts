/** The pages of the application that can be found by name. */

import type { Role } from '../http/actor.ts';

interface PageEntry {
  title: string;
  /** Further words by which it is found. */
  words: string;
  path: string;
  /** The lowest role that may open it. */
  role: Role;
}

export const PAGES: PageEntry[] = [
  { path: '/', title: 'Overview', words: 'home start dashboard', role: 'viewer' },
  { path: '/tests', title: 'Tests', words: 'messages results scores', role: 'viewer' },
  { path: '/tests/new', title: 'New test', words: 'create test address upload', role: 'member' },
  { path: '/inboxes', title: 'Inboxes', words: 'reusable permanent address', role: 'viewer' },
  { path: '/domains', title: 'Domains', words: 'dns spf dkim dmarc health', role: 'member' },
  { path: '/monitors', title: 'Monitors', words: 'blocklist placement runs', role: 'member' },
  { path: '/monitors/new', title: 'New monitor', words: 'create add', role: 'member' },
  { path: '/alerts', title: 'Alerts', words: 'rules incidents notifications', role: 'member' },
  { path: '/alerts/new', title: 'New alert rule', words: 'create add', role: 'admin' },
  { path: '/feedback', title: 'Feedback', words: 'dmarc tls complaints bounces', role: 'viewer' },
  {
    path: '/feedback/reports',
    title: 'Feedback reports',
    words: 'dmarc tls aggregate upload',
    role: 'viewer',
  },
  {
    path: '/receivers',
    title: 'Receivers',
    words: 'google postmaster tools gmail outlook microsoft snds spam rate compliance',
    role: 'viewer',
  },
  { path: '/reports', title: 'Reports', words: 'summary trends figures', role: 'viewer' },
  {
    path: '/reports/schedules',
    title: 'Scheduled reports',
    words: 'email weekly monthly schedules',
    role: 'viewer',
  },
  {
    path: '/reports/schedules/new',
    title: 'New scheduled report',
    words: 'create add schedule',
    role: 'admin',
  },
  { path: '/reports/shares', title: 'Shared links', words: 'share public client', role: 'viewer' },
  { path: '/team', title: 'Team', words: 'members invitations roles', role: 'member' },
  { path: '/api-keys', title: 'API keys', words: 'tokens credentials', role: 'member' },
  { path: '/webhooks', title: 'Webhooks', words: 'endpoints deliveries events', role: 'admin' },
  { path: '/webhooks/new', title: 'New webhook endpoint', words: 'create add', role: 'admin' },
  {
    path: '/dns',
    title: 'Name servers',
    words: 'dns publish records changes undo rfc2136 tsig cloudflare',
    role: 'admin',
  },
  {
    path: '/dns/servers/new',
    title: 'New name server',
    words: 'create add dns credentials',
    role: 'admin',
  },
  { path: '/dns/changes', title: 'DNS changes', words: 'records published undo', role: 'admin' },
  { path: '/audit-log', title: 'Audit log', words: 'changes history who', role: 'admin' },
  {
    path: '/system',
    title: 'System',
    words: 'settings status blocklists seed mailboxes dependencies version',
    role: 'admin',
  },
  {
    path: '/account',
    title: 'Account',
    words: 'settings password sessions time zone name email',
    role: 'viewer',
  },
];

type Named = Pick<PageEntry, 'title' | 'words'>;

/** Pages that contain all words of the search, in any order; first those whose title begins with it. */
export function matching<P extends Named>(pages: P[], q: string): P[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = ({ title }: Named): number => {
    const text = title.toLowerCase();
    if (text.startsWith(words.join(' '))) return 0;
    return words.every((word) => text.includes(word)) ? 1 : 2;
  };
  return pages
    .filter(({ title, words: others }) => {
      const text = `${title} ${others}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .toSorted((a, b) => rank(a) - rank(b));
}
