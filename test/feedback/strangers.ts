/** Mail of strangers and of known receivers to a feedback address, over real SMTP with real signatures. */

import type { DmarcFeedback } from '../../src/feedback/schemas/dmarc.ts';
import { watchFeedback } from '../../src/feedback/watch/watch-job.ts';
import { sendMail } from '../helpers/send.ts';
import { makeKey, signMessage } from '../helpers/signer.ts';
import { type FeedbackService, named } from './start.ts';

const KEY = makeKey();
const SIGNERS = [
  'google.com',
  'yahoo.com',
  'microsoft.com',
  'hotmail.com',
  'linkedin.com',
  'evil.example',
  'honest.example',
];

/** What these domains publish. evil.example allows any server, also in SPF. */
export const SIGNER_ZONE = {
  ...Object.fromEntries(
    SIGNERS.map((domain) => [`s1._domainkey.${domain}`, { TXT: [KEY.record] }]),
  ),
  ...Object.fromEntries(
    SIGNERS.map((domain) => [domain, { TXT: ['v=spf1 -all'], A: ['192.0.2.90'] }]),
  ),
  'evil.example': { TXT: ['v=spf1 +all'], A: ['192.0.2.91'] },
};

export const GOOGLE = 'noreply-dmarc-support@google.com';
export const YAHOO = 'noreply@dmarc.yahoo.com';
export const MICROSOFT = 'dmarcreport@microsoft.com';
export const LINKEDIN = 'dmarc-noreply@linkedin.com';
export const EVIL = 'reports@evil.example';

interface Mailing {
  from: string;
  /** Who signs; null for nobody. By default the domain of the address. */
  signer?: string | null;
  mailFrom?: string;
  clientIp?: string;
  /** The header fields that are signed. */
  headerList?: string[];
  /** What the stranger does to the message once it is signed. */
  tamper?: (signed: string) => string;
}

/** Sends a message of the builders from another address. Resolves once it is read. */
export async function mailFrom(
  { service, clock, domain, settled }: FeedbackService,
  raw: Uint8Array,
  {
    from,
    signer = organization(from),
    mailFrom = from,
    clientIp = '8.8.8.8',
    headerList,
    tamper,
  }: Mailing,
): Promise<void> {
  const message = Buffer.from(
    Buffer.from(raw)
      .toString('latin1')
      .replace(/^From: .*$/m, `From: Reports <${from}>`),
    'latin1',
  );
  const signed =
    signer === null
      ? message
      : await signMessage(message, {
          domain: signer,
          selector: 's1',
          key: KEY,
          signTime: clock.now() - 60_000,
          ...(headerList ? { headerList } : {}),
        });
  await sendMail({
    port: service.smtp.port,
    to: domain.feedback.address,
    mailFrom,
    clientIp,
    raw: tamper ? Buffer.from(tamper(signed.toString('latin1')), 'latin1') : signed,
  });
  await settled();
}

const organization = (address: string): string =>
  address
    .slice(address.indexOf('@') + 1)
    .split('.')
    .slice(-2)
    .join('.');

/** Everything that reports can change about a domain, after its sources were named and watched. */
export async function conclusions(feedback: FeedbackService) {
  const { service, domain } = feedback;
  await named(feedback);
  await watchFeedback(service.app);
  const get = async <Body>(path: string) => (await service.call<Body>('GET', path)).body;
  const advice = await get<{ state: string; messages: number }>(
    `/v1/feedback/advice?domain_id=${domain.id}`,
  );
  const dmarc = await get<DmarcFeedback>(`/v1/feedback/dmarc?domain_id=${domain.id}`);
  const complaints = await get<{ total: number }>(
    `/v1/feedback/complaints/summary?domain_id=${domain.id}`,
  );
  const tls = await get<{ failed: number }>(`/v1/feedback/tls?domain_id=${domain.id}`);
  const picture = await get<{ headline: string }>(`/v1/domains/${domain.id}/picture`);
  const sources = await get<{ data: object[] }>(
    `/v1/feedback/sources?domain_id=${domain.id}&limit=100`,
  );
  const events = await get<{ data: { type: string }[] }>('/v1/events?limit=100');
  const incidents = await get<{ data: object[] }>('/v1/alert_incidents');
  const selectors = await service.app.db.selectFrom('domains').select('learnt_selectors').execute();
  return {
    advice,
    dmarc,
    complaints,
    picture,
    incidents,
    selectors,
    tls,
    sources: sources.data,
    events: events.data.map(({ type }) => type).filter((type) => type !== 'bounce.received'),
  };
}
