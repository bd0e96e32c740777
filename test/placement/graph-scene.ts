/** A service with one seed mailbox on a scripted Microsoft Graph server. */

import type { TestContext } from 'node:test';
import type { Test } from '../../src/mailtests/schema.ts';
import type { SeedPlacement } from '../../src/mailtests/schemas/placement.ts';
import type { TestService } from '../helpers/app.ts';
import { type HttpExchange, type HttpScript, startHttpScript } from '../helpers/http-script.ts';
import { startTokenServer, type TokenServer } from '../helpers/token-server.ts';
import {
  type OffsetClock,
  offsetClock,
  placementIn,
  startSeeding,
  waitForPlacement,
} from './seeding.ts';

export interface GraphMail {
  id: string;
  receivedAt: Date;
  headers: Record<string, string>;
  subject?: string;
  from?: string;
  html?: string;
  inference?: string;
}

interface Graph {
  http: HttpScript;
  junkemail: GraphMail[];
  inbox: GraphMail[];
  /** The longest page. */
  pageSize: number;
  /** What Graph says about the account; null without the permission. */
  account: Record<string, unknown> | null;
  /** Called for each request about messages; true if it has been answered. */
  on?(exchange: HttpExchange): boolean;
}

const ACCOUNT_PATH = '/v1.0/me';

/** Lists and reads messages as Graph does, as far as the client uses it. */
async function startGraph(t: TestContext, tokens: TokenServer): Promise<Graph> {
  const graph: Graph = {
    http: { url: '', exchanges: [] },
    junkemail: [],
    inbox: [],
    pageSize: 1000,
    account: { mail: 'Seed@Outlook.example', userPrincipalName: 'seed@outlook.example' },
  };
  graph.http = await startHttpScript(t, (exchange) => {
    const { path, query, headers, json } = exchange;
    if (path !== ACCOUNT_PATH && graph.on?.(exchange)) return;
    const token = headers.authorization?.replace('Bearer ', '') ?? '';
    if (!tokens.accessTokens.has(token))
      return json(401, { error: { code: 'InvalidAuthenticationToken' } });
    if (path === ACCOUNT_PATH)
      return graph.account === null
        ? json(403, { error: { code: 'Authorization_RequestDenied' } })
        : json(200, graph.account);
    const folder = /^\/v1\.0\/me\/mailFolders\/(junkemail|inbox)\/messages$/.exec(path)?.[1];
    if (folder === 'junkemail' || folder === 'inbox') {
      const since = /^receivedDateTime ge (\S+)$/.exec(query.get('$filter') ?? '')?.[1] ?? '';
      const skip = Number(query.get('$skip') ?? 0);
      const top = Math.min(Number(query.get('$top')), graph.pageSize);
      const found = graph[folder]
        .filter(({ receivedAt }) => receivedAt.getTime() >= Date.parse(since))
        .sort((a, b) => b.receivedAt.getTime() - a.receivedAt.getTime());
      const next = new URL(`${graph.http.url}${path}?${query}`);
      next.searchParams.set('$skip', String(skip + top));
      return json(200, {
        '@odata.context': `${graph.http.url}/v1.0/$metadata`,
        ...(found.length > skip + top ? { '@odata.nextLink': next.href } : {}),
        value: found.slice(skip, skip + top).map(({ id, receivedAt, inference }) => ({
          id,
          receivedDateTime: receivedAt.toISOString(),
          inferenceClassification: inference ?? 'focused',
        })),
      });
    }
    const id = decodeURIComponent(/^\/v1\.0\/me\/messages\/([^/]+)$/.exec(path)?.[1] ?? '');
    const mail = [...graph.junkemail, ...graph.inbox].find((each) => each.id === id);
    if (!mail) return json(404, { error: { code: 'ErrorItemNotFound' } });
    return json(200, {
      id,
      internetMessageId: mail.headers['Message-ID'],
      subject: mail.subject ?? 'Spring news',
      from: { emailAddress: { name: 'News', address: mail.from ?? 'News@example.com' } },
      internetMessageHeaders: Object.entries(mail.headers).map(([name, value]) => ({
        name,
        value,
      })),
      ...(query.get('$select')?.split(',').includes('body')
        ? { body: { contentType: 'html', content: mail.html ?? '<p>Hello.</p>' } }
        : {}),
    });
  });
  return graph;
}

export interface Scene {
  clock: OffsetClock;
  tokens: TokenServer;
  graph: Graph;
  service: TestService;
  created: Test;
  wait(isDone?: (seed: SeedPlacement) => boolean, seconds?: number): Promise<SeedPlacement>;
}

export const NAME = 'seed@outlook.example';

export async function startScene(
  t: TestContext,
  options: { plus?: boolean; env?: Record<string, string>; seed?: object } = {},
): Promise<Scene> {
  const clock = offsetClock();
  const tokens = await startTokenServer(t);
  const graph = await startGraph(t, tokens);
  const seed = {
    provider: 'outlook',
    address: NAME,
    api: 'graph',
    graph_url: `${graph.http.url}/v1.0`,
    client_id: 'app',
    token_url: tokens.url,
    refresh_token: 'first-refresh-token',
    plus_addresses: options.plus ?? true,
    ...options.seed,
  };
  const service = await startSeeding(t, { clock, seeds: [seed], env: options.env ?? {} });
  const created = await service.createTest({ placement: true });
  const wait: Scene['wait'] = async (isDone = ({ settled }) => settled, seconds = 30) => {
    const isThere = (now: Test) => {
      clock.advance(1000);
      return isDone(placementIn(now, 'seed'));
    };
    const done = await waitForPlacement(service, created.id, isThere, seconds);
    return placementIn(done, 'seed');
  };
  return { clock, tokens, graph, service, created, wait };
}

export const mailTo = ({ created, clock }: Scene, fields: Partial<GraphMail> = {}): GraphMail => ({
  id: 'AAkALg=/+1',
  receivedAt: new Date(clock.now()),
  ...fields,
  headers: {
    To: placementIn(created, 'seed').address,
    'Message-ID': '<copy@example.com>',
    ...fields.headers,
  },
});
