/** Adds the senders of the demo as domains, with reports of receivers about them. */

import { setTimeout as pause } from 'node:timers/promises';
import type { Zone } from '../../net/dns/zone.ts';
import { FETCH_JOB } from '../../receivers/fetch-job.ts';
import type { Service } from '../../service.ts';
import { dayAgo, MOVED_AGE, OLD_ADDRESS, passedShare } from './figures.ts';
import { BAD, DEMO_MAILS, GOOD } from './mails.ts';

const REPORTERS = ['google.com', 'Outlook.com', 'Yahoo'];
/** The first and the last day, by age: before the newsletter moved to another server, and since then. */
const PERIODS: Period[] = [
  [28, MOVED_AGE + 1],
  [MOVED_AGE, 1],
];
type Period = [first: number, last: number];
/** In a day, by reporter. */
const MESSAGES = 900;

interface Domain {
  id: string;
  verification: { name: string; value: string };
}

type Call = <T>(path: string, init?: RequestInit) => Promise<T>;

/** Adds and verifies the domains, and uploads reports. Has the figures of Google and Microsoft fetched. */
export async function addDemoDomains(call: Call, { app }: Service, zone: Zone): Promise<Domain[]> {
  const domains: Domain[] = [];
  for (const name of [BAD, GOOD]) {
    const body = JSON.stringify({ name });
    const domain = await call<Domain>('/v1/domains', { method: 'POST', body });
    zone[domain.verification.name] = { TXT: [domain.verification.value] };
    await call(`/v1/domains/${domain.id}/verify`, { method: 'POST' });
    domains.push(domain);
  }
  const headers = { 'content-type': 'application/octet-stream' };
  const now = app.clock.now();
  const reports = REPORTERS.flatMap((reporter) =>
    PERIODS.flatMap((period) =>
      [GOOD, BAD].map((name) => dmarcReport(name, reporter, now, period)),
    ),
  );
  await Promise.all(
    reports.map((body) => call('/v1/feedback/reports', { method: 'POST', headers, body })),
  );
  await app.db.updateTable('receivers').set({ next_fetch_at: null }).execute();
  app.scheduler.wake(FETCH_JOB);
  return domains;
}

/** Resolves when the figures are there, or after some seconds. */
export async function receiversFetched(call: Call): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const { data } = await call<{ data: { fetching: boolean }[] }>('/v1/receivers');
    if (data.every(({ fetching }) => !fetching)) return;
    await pause(100);
  }
}

const [GOOD_ADDRESS, BAD_ADDRESS] = DEMO_MAILS.map(({ clientIp }) => clientIp as string);

/** A report about several days (RFC 9990), with the shares that Google publishes. */
function dmarcReport(domain: string, reporter: string, now: number, [first, last]: Period): string {
  const begin = Date.parse(dayAgo(now, first)) / 1000;
  const end = Date.parse(dayAgo(now, last - 1)) / 1000 - 1;
  const messages = MESSAGES * (first - last + 1);
  const passed = Math.round(messages * (domain === GOOD ? 1 : passedShare(first)));
  const records = [
    record(domain, domain === GOOD ? GOOD_ADDRESS! : OLD_ADDRESS, passed, 'pass'),
    ...(passed < messages ? [record(domain, BAD_ADDRESS!, messages - passed, 'fail')] : []),
  ];
  return `<feedback><report_metadata><org_name>${reporter}</org_name><email>dmarc@${reporter}</email><report_id>${domain}-${begin}</report_id><date_range><begin>${begin}</begin><end>${end}</end></date_range></report_metadata><policy_published><domain>${domain}</domain><p>${domain === GOOD ? 'reject' : 'quarantine'}</p></policy_published>${records.join('')}</feedback>`;
}

const record = (domain: string, address: string, count: number, result: 'pass' | 'fail'): string =>
  `<record><row><source_ip>${address}</source_ip><count>${count}</count><policy_evaluated><disposition>${result === 'pass' ? 'none' : 'quarantine'}</disposition><dkim>${result}</dkim><spf>${result}</spf></policy_evaluated></row><identifiers><header_from>${domain}</header_from></identifiers><auth_results><spf><domain>${domain}</domain><result>${result}</result></spf></auth_results></record>`;
