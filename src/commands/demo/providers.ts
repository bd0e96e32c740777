/** A server on this machine that publishes figures as Google and Microsoft do, so that the demo needs no network. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json as readJson } from 'node:stream/consumers';
import * as v from 'valibot';
import type { Clock } from '../../lib/clock.ts';
import { type GmailFigures, gmailFigures, outlookFigures } from './figures.ts';

export interface DemoProviders {
  /** For `RECEIVERS`. */
  accounts: object[];
  close(): void;
}

export async function startDemoProviders(clock: Clock): Promise<DemoProviders> {
  const figures = gmailFigures(clock.now());
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const send = (type: string, body: string) => {
      response.setHeader('content-type', type);
      response.end(body);
    };
    const json = (body: unknown) => send('application/json', JSON.stringify(body));
    const [, domain] = /^\/v2\/domains\/([^/]+)\/complianceStatus$/.exec(url.pathname) ?? [];
    if (url.pathname === '/snds/data.aspx')
      send('text/csv', outlookFigures(clock.now(), dayOf(url.searchParams.get('date') ?? '')));
    else if (url.pathname === '/snds/ipStatus.aspx')
      send('text/csv', outlookFigures(clock.now(), null));
    else if (url.pathname === '/token')
      json({ access_token: 'demo', token_type: 'Bearer', expires_in: 3600 });
    else if (url.pathname === '/v2/domains') json({ domains: [...figures.keys()].map(listed) });
    else if (domain !== undefined) json(compliance(figures.get(domain)));
    else
      void readJson(request).then(
        (body) => json(answerQueries(figures, body)),
        () => response.writeHead(400).end(),
      );
  })
    .listen(0, '127.0.0.1')
    .unref();
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    accounts: [
      {
        receiver: 'google_postmaster',
        client_id: 'demo',
        refresh_token: 'demo',
        token_url: `${origin}/token`,
        base_url: origin,
      },
      { receiver: 'microsoft_snds', key: 'demo', base_url: `${origin}/snds` },
    ],
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** From the form `MMDDYY`. */
const dayOf = (date: string): string =>
  date.replace(/^(\d\d)(\d\d)(\d\d)$/, (_, month, day, year) => `20${year}-${month}-${day}`);

const listed = (name: string) => ({
  name: `domains/${name}`,
  permission: 'OWNER',
  verificationState: 'VERIFIED',
});

const compliance = (domain: GmailFigures | undefined) => ({
  complianceData: {
    rowData: Object.entries(domain?.requirements ?? {}).map(([requirement, status]) => ({
      requirement,
      status: { status },
    })),
  },
});

const Day = v.object({ year: v.number(), month: v.number(), day: v.number() });
const Queries = v.object({
  requests: v.array(
    v.object({
      parent: v.string(),
      timeQuery: v.object({
        dateRanges: v.object({ dateRanges: v.array(v.object({ start: Day, end: Day })) }),
      }),
      metricDefinitions: v.array(
        v.object({
          name: v.string(),
          baseMetric: v.object({ standardMetric: v.string() }),
          filter: v.optional(v.string(), ''),
        }),
      ),
    }),
  ),
});

/** All values of the days in the first range; the service asks for one. */
function answerQueries(figures: Map<string, GmailFigures>, body: unknown) {
  const { requests } = v.parse(Queries, body);
  const results = requests.map(({ parent, timeQuery, metricDefinitions }) => {
    const [range] = timeQuery.dateRanges.dateRanges;
    const [from, to] = [isoDay(range!.start), isoDay(range!.end)];
    const days = [...(figures.get(parent.slice('domains/'.length))?.days ?? [])];
    const domainStats = days
      .filter(([day]) => day >= from && day <= to)
      .flatMap(([day, values]) => {
        const [year, month, date] = day.split('-').map(Number);
        return metricDefinitions.flatMap(({ name, baseMetric, filter }) => {
          const value = values[`${baseMetric.standardMetric} ${filter}`.trim()];
          if (value === undefined) return [];
          const typed = baseMetric.standardMetric.endsWith('COUNT')
            ? { intValue: String(value) }
            : { doubleValue: value };
          return [{ metric: name, date: { year, month, day: date }, value: typed }];
        });
      });
    return { response: { domainStats } };
  });
  return { results };
}

const isoDay = ({ year, month, day }: v.InferOutput<typeof Day>): string =>
  [year, month, day].map((part) => String(part).padStart(2, '0')).join('-');
