/** What the fixes say of each sending service: how to set up DKIM, SPF and the return path there. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Envelope } from '../../../src/analysis/check.ts';
import type { SendingService } from '../../../src/analysis/sending-services/service.ts';
import {
  SENDING_SERVICES,
  serviceOfSelector,
} from '../../../src/analysis/sending-services/services.ts';
import { signingFix } from '../../../src/analysis/sending-services/signing-steps.ts';
import { allowSenderFix, returnPathFix } from '../../../src/analysis/sending-services/spf-steps.ts';
import { contextFor } from '../../helpers/analysis.ts';

const DOMAIN = 'shop.example';
const GENERAL = { text: 'General advice.' };

/** A message of a customer, from a server that has a name of the service, or with its envelope sender. */
function envelopeOf({ marks }: SendingService): Partial<Envelope> {
  const [host] = marks.hosts;
  const [domain] = marks.mailFrom ?? [];
  return host === undefined
    ? { mail_from: `bounce@${domain}`, helo: `mail.${DOMAIN}` }
    : { mail_from: `ann@${DOMAIN}`, helo: `mail7.${host}` };
}

const contextOf = (service: SendingService) =>
  contextFor({
    message: `From: Ann <ann@${DOMAIN}>\nTo: bob@example.net\nSubject: Hi\n\nHello\n`,
    envelope: { client_ip: '203.0.114.7', ...envelopeOf(service) },
  });

/** As in "In Mailchimp, set up a custom return path.": without a period, and not as a sentence. */
const PHRASE = /^(?:the |an? |domain |records )?[A-Za-z][\w\s,.-]*[\w)]$/;

describe('The steps in a sending service', () => {
  for (const service of SENDING_SERVICES) {
    const { name, guides, returnPath, spf, dkim } = service;
    it(`${name}: DKIM`, async () => {
      const fix = await signingFix(await contextOf(service), DOMAIN, GENERAL);
      assert.ok(fix.text.startsWith(`If you send through ${name}: `), fix.text);
      const rest = fix.text.slice(`If you send through ${name}: `.length);
      assert.match(
        rest,
        /^(?:In .+, (?:set up DKIM|turn on DKIM|generate a DKIM key) for|Publish) /,
      );
      assert.ok(fix.text.includes(DOMAIN), fix.text);
      assert.match(fix.text, /(?:d=shop\.example|Then turn on signing for shop\.example there)\.$/);
      // A record is complete, or the account shows it.
      if (dkim.kind === 'cname' && /<\w+>/.test(fix.text))
        assert.match(fix.text, /that it shows|portal shows/);
      assert.equal(fix.guide?.url, guides.dkim);
    });

    it(`${name}: SPF and the return path`, async () => {
      const context = await contextOf(service);
      const path = await returnPathFix(context, DOMAIN);
      assert.ok(path.text.startsWith(`If you send through ${name}: `), path.text);
      assert.equal(path.guide?.url, guides.spf);
      if (returnPath === null) assert.match(path.text, /Sign with DKIM as shop\.example/);
      else {
        assert.match(returnPath, PHRASE);
        assert.ok(path.text.endsWith(`In ${name}, set up ${returnPath}, under ${DOMAIN}.`));
      }
      const allow = await allowSenderFix(
        context,
        { domain: DOMAIN, clientIp: '203.0.114.7' },
        { add: 'Add.', publish: 'Publish.' },
      );
      assert.ok(allow.text.startsWith(`If you send through ${name}: `), allow.text);
      if (spf.kind === 'include')
        assert.ok(allow.text.includes(`Add include:${spf.includes[0]} to the SPF record of`));
      else if (spf.kind === 'console') assert.match(allow.text, /Add the include that .+ shows/);
      else assert.match(allow.text, /It needs no include in your SPF record\./);
    });
  }

  it('A selector hints at one service only', () => {
    for (const service of SENDING_SERVICES) {
      const { dkim } = service;
      const selectors = dkim.kind === 'cname' ? dkim.records.map(([selector]) => selector) : [];
      if (dkim.kind === 'txt' && dkim.selector !== null) selectors.push(dkim.selector);
      for (const selector of selectors.filter((one) => !one.includes('<')))
        assert.ok([undefined, service].includes(serviceOfSelector(selector)), selector);
    }
  });
});
