/** What to do first about a topic if no source knows better. */

import type { Topic } from './vocabulary.ts';

const TEST_ALL =
  'Send a test from each of your senders. Receivers judge all mail of the domain, and one sender may fail.';

const STEPS: Record<Topic, string> = {
  spf: TEST_ALL,
  dkim: TEST_ALL,
  dmarc: TEST_ALL,
  dmarc_policy: 'Publish a valid DMARC record.',
  tls: 'Configure your mail server to use TLS whenever the receiver offers it.',
  incoming_tls: 'Renew or correct the certificates of your mail servers.',
  reverse_dns: 'Give each sending address a PTR record whose name resolves back to the address.',
  mail_servers: 'Correct the MX records of the domain.',
  blocklists: 'Fix the cause of the listing, then request removal.',
  rejections: 'Check the log of your mail server: the replies of receivers name the cause.',
  reputation: 'Send less, and only to recipients who open your mail, until the ratings recover.',
  spam_reports:
    'Stop sending to recipients who did not ask for the mail or no longer open it, and make unsubscribing easy.',
  placement: 'Open the latest placement test, and fix the problems in its report.',
  unsubscribe:
    'Offer one-click unsubscribe, and stop sending within two days to recipients who use it.',
  content: 'Test a typical message, and fix the problems in its report.',
  bimi: 'Correct the BIMI record, or remove it.',
  verification: 'Publish the TXT record for verification.',
};

export const stepAbout = (topic: Topic): string => STEPS[topic];
