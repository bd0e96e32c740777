/** Which sending services handled a message, and what shows it. */

import type { Context } from '../check.ts';
import { dkimResult } from '../dkim/verify.ts';
import {
  clientPtr,
  confirmedNames,
  fullHostName,
  publicClient,
  usableNames,
} from '../dns/names.ts';
import { evaluateSpf, spfIdentity, spfResult } from '../spf/evaluate.ts';
import { withPublished } from '../spf/tree.ts';
import type { SendingService } from './service.ts';
import {
  SENDING_SERVICES,
  serviceOfField,
  serviceOfHost,
  serviceOfMailFrom,
  serviceOfSigner,
} from './services.ts';

export interface FoundService {
  service: SendingService;
  /** Proven by DNS or a signature. A HELO name and header fields prove nothing: anyone can write them. */
  isCertain: boolean;
  /** The service delivered the message itself, rather than only signing it on the way. */
  delivers: boolean;
  /** One sentence. */
  evidence: string;
}

/**
 * A fact: `context.fact(sendingServices)`. The certain ones first, those that deliver first among them, and
 * otherwise in the order of `SENDING_SERVICES`. Each service once, with its best evidence.
 */
export async function sendingServices(context: Context): Promise<FoundService[]> {
  const [reverse, signed, returned] = await Promise.all([
    servicesOfReverseName(context),
    servicesOfSignatures(context),
    servicesOfMailFrom(context),
  ]);
  const found = [...reverse, ...returned, ...signed];
  const proven = found.filter(({ isCertain }) => isCertain);
  const hints = [...found, ...serviceOfHelo(context), ...servicesOfFields(context)].filter(
    ({ service }) => !proven.some((other) => other.service === service),
  );
  const confirmed = await Promise.all(
    distinct(hints)
      .slice(0, MAX_CANDIDATES)
      .map((hint) => confirmByNetwork(context, hint)),
  );
  return distinct(
    [...proven, ...confirmed].toSorted(
      (a, b) =>
        Number(b.isCertain) - Number(a.isCertain) ||
        Number(b.delivers) - Number(a.delivers) ||
        SENDING_SERVICES.indexOf(a.service) - SENDING_SERVICES.indexOf(b.service),
    ),
  );
}

const distinct = (found: FoundService[]): FoundService[] =>
  found.filter(
    ({ service }, index) => found.findIndex((other) => other.service === service) === index,
  );

/** Bounds the lookups of `confirmByNetwork`, also for a message with the header fields of every service. */
const MAX_CANDIDATES = 3;
const MAX_NETWORKS = 4;

/** A reverse name is certain if it resolves back to the address. */
async function servicesOfReverseName(context: Context): Promise<FoundService[]> {
  if (context.offline) return [];
  const confirmed = await context.fact(confirmedNames);
  return usableNames(await context.fact(clientPtr)).flatMap((name) => {
    const service = serviceOfHost(name);
    if (!service) return [];
    const isCertain = confirmed.includes(name);
    const evidence = isCertain
      ? `The sending server is ${name}, a server of ${service.name}.`
      : `The reverse DNS name is ${name}, but it does not resolve back.`;
    return [{ service, isCertain, delivers: true, evidence }];
  });
}

async function servicesOfSignatures(context: Context): Promise<FoundService[]> {
  const { signatures } = await context.fact(dkimResult);
  return signatures.flatMap(({ domain, result }): FoundService[] => {
    const service = serviceOfSigner(domain);
    if (!service) return [];
    const isCertain = result === 'pass';
    const evidence = isCertain
      ? `The message has a valid DKIM signature by ${domain}, a domain of ${service.name}.`
      : `The message has a DKIM signature by ${domain}, but it does not verify.`;
    return [{ service, isCertain, delivers: false, evidence }];
  });
}

/** SPF passes for a service's own domain only from its own servers. */
async function servicesOfMailFrom(context: Context): Promise<FoundService[]> {
  const { domain } = spfIdentity(context);
  const service = domain === null ? undefined : serviceOfMailFrom(domain);
  if (!service) return [];
  const isCertain = (await context.fact(spfResult)).result === 'pass';
  const evidence = isCertain
    ? `SPF passes for ${domain}, a domain of ${service.name}.`
    : `The envelope sender is at ${domain}, but SPF does not pass for it.`;
  return [{ service, isCertain, delivers: true, evidence }];
}

function serviceOfHelo({ envelope }: Context): FoundService[] {
  const name = envelope.helo === null ? null : fullHostName(envelope.helo);
  const service = name === null ? undefined : serviceOfHost(name);
  if (!service) return [];
  const evidence = `The sending server announces the name ${name} in HELO.`;
  return [{ service, isCertain: false, delivers: true, evidence }];
}

function servicesOfFields({ message }: Context): FoundService[] {
  return message.headers.flatMap(({ key, name }): FoundService[] => {
    const service = serviceOfField(key);
    if (!service) return [];
    const evidence = `The message has the header field ${name.slice(0, 60)}, which ${service.name} adds.`;
    return [{ service, isCertain: false, delivers: false, evidence }];
  });
}

/** Makes a hint certain if the service's own SPF record lists the sending IP address. */
async function confirmByNetwork(context: Context, hint: FoundService): Promise<FoundService> {
  const { address } = publicClient(context);
  const { spf, name } = hint.service;
  if (context.offline || address === null || spf.kind !== 'include') return hint;
  for (const domain of spf.includes.slice(0, MAX_NETWORKS))
    if (await listsAddress(context, domain, address)) {
      const evidence = `The SPF record of ${domain} lists ${address} as a server of ${name}.`;
      return { ...hint, isCertain: true, delivers: true, evidence };
    }
  return hint;
}

/** Evaluates a record that only includes the name: a sender domain must not begin with an underscore. */
async function listsAddress(context: Context, name: string, address: string): Promise<boolean> {
  const domain = 'sender.invalid';
  const sender = `postmaster@${domain}`;
  const identity = { identity: 'mailfrom' as const, text: sender, sender, domain, assumed: null };
  const resolver = withPublished(domain, `v=spf1 include:${name} -all`, context.resolver);
  const { result } = await evaluateSpf(identity, address, null, resolver);
  return result === 'pass';
}

/** A fact: the service that delivered the message; null if unknown. Only header fields make it uncertain. */
export async function deliveringService(context: Context): Promise<FoundService | null> {
  const found = await context.fact(sendingServices);
  return found.find(({ delivers, isCertain }) => delivers && isCertain) ?? found[0] ?? null;
}

/**
 * A fact: the service in which the customer sets up DKIM. A gateway relays the mail of another service, and
 * an application comes before the service through which it sends.
 */
export async function signingService(context: Context): Promise<FoundService | null> {
  const found = await context.fact(sendingServices);
  const byOrder = found.toSorted(
    (a, b) =>
      Number(b.isCertain) - Number(a.isCertain) ||
      SENDING_SERVICES.indexOf(a.service) - SENDING_SERVICES.indexOf(b.service),
  );
  return byOrder[0] ?? null;
}
