/** The steps with which the customer of a sending service gets DKIM signatures by the From domain. */

import { recordsOf } from '../../net/dns/resolver.ts';
import type { Context, Fix } from '../check.ts';
import { keyRecordFix } from '../dkim/failures.ts';
import { type DkimSignature, isOfFromDomain } from '../dkim/outcome.ts';
import { dkimResult } from '../dkim/verify.ts';
import { type FoundService, signingService } from './identify.ts';
import { ownDomainFix } from './ownership.ts';
import { privateMailboxFix } from './private-mailbox.ts';
import { hasSuffix, type SendingService, selectorsOf } from './service.ts';
import { webHostFix } from './web-host.ts';

/**
 * How to sign as `domain` in the service in use; `general` if that is unknown. If nobody but a mailbox
 * provider can sign as the domain, the fix is another From address.
 */
export async function signingFix(context: Context, domain: string, general: Fix): Promise<Fix> {
  const other =
    ownDomainFix(domain) ?? privateMailboxFix(context, domain) ?? webHostFix(context, domain);
  if (other) return other;
  const found = await context.fact(signingService);
  if (!found) return general;
  const steps = await stepsIn(context, found.service, domain);
  return { ...steps, text: `${condition(found)}${steps.text}`, guide: dkimGuide(found.service) };
}

/**
 * The fix for a key that must be replaced, if a sending service may have the private key; else `general`. Its
 * selector shows whether it has: otherwise, a server of the sender may have signed before the service.
 */
export async function serviceKeyFix(
  context: Context,
  { domain, selector, keyName, result }: DkimSignature,
  general: Fix,
): Promise<Fix> {
  if (!isOfFromDomain(context, domain) || ownDomainFix(domain) !== null) return general;
  const found = await context.fact(signingService);
  if (!found?.isCertain)
    return (result === 'pass' ? await aliasedKeyFix(context, keyName) : null) ?? general;
  const { service } = found;
  const steps =
    result === 'pass'
      ? { text: renewalSteps(service, domain) }
      : await stepsIn(context, service, domain);
  const guide = dkimGuide(service);
  if (selectorsOf(service).includes(selector.toLowerCase())) return { ...steps, guide };
  return {
    ...general,
    text: `If ${service.name} made this signature: ${steps.text} Otherwise: ${general.text}`,
    guide,
  };
}

/** For a service that signs already: a new key replaces the old one, with nothing to set up. */
function renewalSteps({ id, name, dkim }: SendingService, domain: string): string {
  if (id === 'microsoft_365')
    return `Microsoft 365 already signs for ${domain}. Renew its key: run Rotate-DkimSigningConfig -Identity ${domain} -KeySize 2048 in Exchange Online PowerShell. The CNAME records stay as they are.`;
  const end =
    dkim.kind === 'cname'
      ? 'The CNAME records stay as they are, unless it shows new ones.'
      : 'Publish the record that it shows, and keep the old one for a week.';
  return `${name} already signs for ${domain}, so you only need a new key. In its settings for ${domain}, generate a 2048-bit DKIM key. If it offers none, ask its support. ${end}`;
}

/** Whoever has the private key publishes the public one behind the CNAME record. */
async function aliasedKeyFix({ resolver, offline }: Context, keyName: string): Promise<Fix | null> {
  const [target] = offline ? [] : (recordsOf(await resolver(keyName, 'CNAME')) ?? []);
  return target === undefined
    ? null
    : {
        text: `The CNAME record at ${keyName} points to ${target}, where your sending service publishes the key. Ask that service for a 2048-bit key. The CNAME record stays as it is.`,
      };
}

/** A service that is only probable makes its steps conditional. */
export const condition = ({ service, isCertain }: FoundService): string =>
  isCertain ? '' : `If you send through ${service.name}: `;

export const dkimGuide = ({ name, guides }: SendingService): Fix['guide'] => ({
  name: `How to do this in ${name}`,
  url: guides.dkim,
});

export const spfGuide = ({ name, guides }: SendingService): Fix['guide'] => ({
  name: `How to do this in ${name}`,
  url: guides.spf,
});

async function stepsIn(
  context: Context,
  service: SendingService,
  domain: string,
): Promise<Pick<Fix, 'text' | 'record'>> {
  return signingSteps(service, domain, await microsoftTenant(context));
}

/** How the customer of a service signs as `domain` there. `tenant`: the domain of a Microsoft 365 customer, if it is known. */
export function signingSteps(
  service: SendingService,
  domain: string,
  tenant: string | null = null,
): Pick<Fix, 'text' | 'record'> {
  const { name, dkim } = service;
  const signs = `After that, ${name} signs with d=${domain}.`;
  switch (dkim.kind) {
    case 'txt':
      return txtSteps(service, domain, dkim.selector);
    case 'automatic':
      return {
        text: `In ${name}, turn on DKIM for ${domain}. If ${name} hosts your DNS, it publishes the key itself. ${signs}`,
      };
    case 'console':
      return {
        text: `In ${name}, set up DKIM for ${domain} and publish the records that it shows. ${signs}`,
      };
    case 'cname': {
      if (service.id === 'microsoft_365') return { text: microsoftSteps(domain, tenant) };
      const records = dkim.records.map(
        ([selector, target]) => `${selector}._domainkey.${domain} → ${fillIn(target, domain)}`,
      );
      const list = records.join(', ');
      const one = records.length === 1;
      const publish = list.includes('<')
        ? `Publish the CNAME ${one ? 'record' : 'records'} that it shows, in this form: ${list}.`
        : `Publish ${one ? 'this CNAME record' : 'these CNAME records'}: ${list}.`;
      return { text: `In ${name}, set up DKIM for ${domain}. ${publish} ${signs}` };
    }
  }
}

const fillIn = (target: string, domain: string): string =>
  target.replaceAll('{domain}', domain).replaceAll('{dashed}', domain.replaceAll('.', '-'));

function txtSteps({ name }: SendingService, domain: string, selector: string | null): Fix {
  const end = `Then turn on signing, so that ${name} signs with d=${domain}.`;
  return selector === null
    ? {
        text: `In ${name}, set up DKIM for ${domain} and publish the TXT record that it shows. ${end}`,
      }
    : keyRecordFix(
        `In ${name}, generate a DKIM key for ${domain} and publish it as the TXT record shown. Use the selector that ${name} shows, by default ${selector}. ${end}`,
        `${selector}._domainkey.${domain}`,
      );
}

/** The signature that Microsoft adds without setup names the tenant. */
async function microsoftTenant(context: Context): Promise<string | null> {
  const { signatures } = await context.fact(dkimResult);
  return signatures.find(({ domain }) => hasSuffix(domain, ['onmicrosoft.com']))?.domain ?? null;
}

/** Newer tenants have other targets. */
function microsoftSteps(domain: string, tenant: string | null): string {
  const target = `selector1-${domain.replaceAll('.', '-')}._domainkey.${tenant ?? '<tenant>.onmicrosoft.com'}`;
  return [
    `Publish two CNAME records: selector1._domainkey.${domain} and selector2._domainkey.${domain}.`,
    `The Microsoft Defender portal shows their exact targets under Email authentication settings, such as ${target}.`,
    `Then turn on signing for ${domain} there.`,
  ].join(' ');
}
