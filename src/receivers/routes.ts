/** The operations on what receivers publish. */

import * as v from 'valibot';
import { daysOf, MAX_DAYS, periodOf } from '../feedback/sums.ts';
import { route } from '../http/route.ts';
import { described } from '../http/schemas.ts';
import { normalizeAddress } from '../lib/addresses.ts';
import { invalidParams } from '../lib/errors.ts';
import { noDataReason } from './no-data.ts';
import { presentAddresses, presentDay, presentReceivers } from './present.ts';
import { googleDays, receiverStates } from './queries.ts';
import { requestFetch } from './request-fetch.ts';
import {
  AddressesQuery,
  Receiver,
  ReceiverList,
  ReceiverStats,
  SendingAddresses,
  StatsQuery,
} from './schema.ts';

/** All addresses of many days would be too much for one response. */
const MAX_DAYS_OF_ALL = 61;

const list = route({
  method: 'GET',
  path: '/v1/receivers',
  operation: 'listReceivers',
  role: 'viewer',
  summary: 'List receivers',
  description:
    'Returns the configured accounts at Google Postmaster Tools and Microsoft SNDS, with their state.',
  response: ReceiverList,
  async handle({ app }) {
    const states = await receiverStates(app);
    return { object: 'list' as const, data: await presentReceivers(app.db, app, states) };
  },
});

const fetchNow = route({
  method: 'POST',
  path: '/v1/receivers/:id/fetch',
  params: { id: described(v.string(), 'The ID of the account.', 'google_postmaster') },
  operation: 'fetchReceiver',
  role: 'member',
  summary: 'Fetch from a receiver',
  description:
    'Starts a fetch now, in addition to the daily one, at most once a minute. `fetching` becomes false when it has ended.',
  status: 202,
  response: Receiver,
  errors: ['rate_limited'],
  async handle(call) {
    const { app, params } = call;
    return call.transact(async (tx) => {
      const state = await requestFetch(tx, call, params.id!);
      const [receiver] = await presentReceivers(tx, app, [state]);
      return receiver!;
    });
  },
});

const stats = route({
  method: 'GET',
  path: '/v1/receivers/stats',
  operation: 'getReceiverStats',
  limited: true,
  role: 'viewer',
  summary: 'Get Gmail figures',
  description:
    'Returns what Google Postmaster Tools publishes about a domain by day: the user-reported spam rate, authentication, TLS and delivery errors.',
  query: StatsQuery,
  response: ReceiverStats,
  errors: ['not_found'],
  async handle({ app, query }) {
    const { domain, from, to } = await periodOf(app, query);
    const days = await googleDays(app.db, domain.name, { from, to });
    return {
      object: 'receiver_stats' as const,
      domain_id: domain.id,
      from,
      to,
      days: days.map(presentDay),
      no_data: await noDataReason(app, domain.name, { from, to }),
    };
  },
});

const addresses = route({
  method: 'GET',
  path: '/v1/receivers/addresses',
  operation: 'listSendingAddresses',
  limited: true,
  role: 'viewer',
  summary: 'List sending addresses',
  description:
    'Returns what Microsoft SNDS publishes about your IP addresses by day, and which are blocked. Without `address`, the period has at most 61 days.',
  query: AddressesQuery,
  response: SendingAddresses,
  async handle({ app, query }) {
    const address = query.address === undefined ? null : requireAddress(query.address);
    const period = daysOf(app, query, address === null ? MAX_DAYS_OF_ALL : MAX_DAYS);
    return presentAddresses(app, period, address === null ? null : [address]);
  },
});

function requireAddress(text: string): string {
  const address = normalizeAddress(text);
  if (address !== null) return address;
  throw invalidParams([{ param: 'address', code: 'invalid', message: 'must be an IP address' }]);
}

export const receiverOperations = { list, stats, addresses, fetchNow };
