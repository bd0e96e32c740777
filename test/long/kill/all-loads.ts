/** All loads, and the machines that their services need: DNS, a mail server, a receiver of webhooks, mailboxes. */

import type { TestContext } from 'node:test';
import type { Db } from '../../../src/store/open.ts';
import { SENDER_ZONE } from '../../e2e/sender.ts';
import { startDnsServer } from '../../helpers/dns-server.ts';
import type { Environment } from '../../helpers/program.ts';
import type { Random } from '../../helpers/random.ts';
import { type Receiver, startReceiver } from '../../helpers/receiver.ts';
import { TEST_SECRET_KEY } from '../../helpers/store.ts';
import { createAlerts, UPLOADED_QUERY } from './alerts.ts';
import { createFeedback, REPORTER_ZONE } from './feedback.ts';
import type { Figures, Load } from './load.ts';
import { type Mails, startMails } from './mail.ts';
import { createMessages, type Messages } from './messages.ts';
import { startPlacement } from './placement.ts';
import { createReports } from './reports.ts';
import type { Site } from './site.ts';
import { createTeam } from './team.ts';
import { createWebhooks } from './webhooks.ts';

export interface Loads {
  /** In the order in which they verify their results. */
  loads: Load[];
  /** The variables that all of them need. */
  env: Environment;
  messages: Messages;
  mails: Mails;
  receiver: Receiver;
}

interface LoadOptions {
  /** Mailboxes belong to one node at a time, and reports that were being read wait for the lease of a node. */
  ofOneService?: boolean;
}

export async function startLoads(
  t: TestContext,
  random: Random,
  { ofOneService = false }: LoadOptions = {},
): Promise<Loads> {
  const receiver = await startReceiver(t);
  const dns = await startDnsServer({ ...SENDER_ZONE, ...REPORTER_ZONE });
  t.after(() => dns.close());
  const mails = await startMails(t, random);
  const messages = createMessages(dns, UPLOADED_QUERY);
  const alerts = createAlerts({ receiver, sink: mails.sink, messages });
  const webhooks = createWebhooks(receiver, random);
  receiver.respond = ({ path }, response) =>
    alerts.respond(path) ?? webhooks.respond(path, response);
  const placement = ofOneService ? await startPlacement(t, messages) : { loads: [], env: {} };
  const loads: Load[] = [
    mails,
    // Before the messages, to which it adds its own.
    alerts,
    messages,
    webhooks,
    createReports(),
    createTeam(),
    ...(ofOneService ? [createFeedback()] : []),
    ...placement.loads,
  ];
  const env = {
    DELIVERABILITY_SECRET_KEY: TEST_SECRET_KEY,
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    DELIVERABILITY_BLOCKLISTS: '-all',
    DELIVERABILITY_WORKERS: '1',
    ...placement.env,
    ...Object.assign({}, ...loads.map((load) => load.env ?? {})),
  };
  return { loads, env, messages, mails, receiver };
}

/** Throws for the first load that lost, doubled or invented anything. */
export async function verifyAll(loads: Load[], db: Db, site: Site): Promise<Figures> {
  const figures: Figures = {};
  for (const load of loads) Object.assign(figures, await load.verify(db, site));
  if (site.faults.length > 0) throw new Error(site.faults.slice(0, 10).join('\n'));
  return figures;
}
