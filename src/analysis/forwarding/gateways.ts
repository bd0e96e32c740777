/**
 * Products between a mail system and the internet that can change a message that is already signed: they add
 * disclaimers and footers, rewrite links, and tag subjects.
 */

import type { Context } from '../check.ts';
import { confirmedNames, fullHostName } from '../dns/names.ts';
import { messageLinks } from '../links/links.ts';
import { rewritingGateway } from '../links/rewriting-gateways.ts';
import { fieldValue } from '../mime/message.ts';
import { receivedHops } from '../mime/received.ts';
import { suffixIndex } from '../sending-services/service.ts';
import { GATEWAYS as SERVICES } from '../sending-services/services.ts';
import { collapseSpace } from '../text.ts';
import gateways from './gateways.json' with { type: 'json' };

export interface Gateway {
  name: string;
  /** Suffixes of its servers and of its addresses for rewritten links. */
  hosts: string[];
  /** Matches the names of its header fields, in lower case; null if it has none. Anyone can add them. */
  fields: RegExp | null;
  /** Words of its footers, in lower case. */
  footers: string[];
  /**
   * Where its console sets up DKIM, continuing "In Mimecast, …". `returns`: it passes the message back to the mail
   * service, which signs. `before`: it cannot sign.
   */
  place: string;
  guide: string;
}

/** An entry of `gateways.json`. `scripts/data.ts` checks them. */
export interface GatewayEntry {
  name: string;
  /** The id of its sending service, which knows its servers and guide. */
  service?: string;
  /** Other hosts. */
  hosts?: string[];
  /** Names of header fields, in which `*` matches anything. */
  fields?: string[];
  footers?: string[];
  place: string;
  /** Needed without a service. */
  guide?: string;
}

const GATEWAYS = (gateways as GatewayEntry[]).map((entry): Gateway => {
  const { name, hosts = [], fields = [], footers = [], place } = entry;
  const service = SERVICES.find(({ id }) => id === entry.service);
  const names = fields.map((field) => field.replaceAll('*', '.*'));
  return {
    name,
    hosts: [...(service?.marks.hosts ?? []), ...hosts],
    fields: names.length === 0 ? null : new RegExp(`^(?:${names.join('|')})$`),
    footers,
    place,
    guide: entry.guide ?? service!.guides.dkim,
  };
});

export interface FoundGateway {
  gateway: Gateway;
  /** Its server delivered the message, as reverse DNS shows both ways. */
  isCertain: boolean;
  /** One sentence. */
  evidence: string;
}

// Bounds the work on hostile messages.
const MAX_FIELDS = 200;
const MAX_LINKS = 200;
const MAX_FOOTER = 2000;

/** A fact: the gateways on the path of the message, the best evidence first. Each once. */
export async function gatewaysOf(context: Context): Promise<FoundGateway[]> {
  const found = [
    ...(await clientGateways(context)),
    ...receivedGateways(context),
    ...fieldGateways(context),
    ...linkGateways(context),
    ...footerGateways(context),
  ];
  return found.filter(
    ({ gateway }, index) => found.findIndex((other) => other.gateway === gateway) === index,
  );
}

const byHost = suffixIndex(GATEWAYS.map((gateway) => [gateway, gateway.hosts]));

const hint = (gateway: Gateway, evidence: string): FoundGateway => ({
  gateway,
  isCertain: false,
  evidence,
});

async function clientGateways(context: Context): Promise<FoundGateway[]> {
  const names = await context.fact(confirmedNames);
  const proven = names.flatMap((name) =>
    byHost(name).map((gateway) => ({
      gateway,
      isCertain: true,
      evidence: `The sending server is ${name}.`,
    })),
  );
  const helo = fullHostName(context.envelope.helo ?? '');
  const announced = helo === null ? [] : byHost(helo);
  return [
    ...proven,
    ...announced.map((gateway) => hint(gateway, `The sending server announces the name ${helo}.`)),
  ];
}

/** The newest gateway comes first: it handled the message last. */
const receivedGateways = ({ message }: Context): FoundGateway[] =>
  receivedHops(message)
    .toReversed()
    .flatMap(({ by }) => {
      const name = fullHostName(by ?? '');
      return name === null
        ? []
        : byHost(name).map((gateway) => hint(gateway, `${name} passed the message on.`));
    });

const fieldGateways = ({ message }: Context): FoundGateway[] =>
  message.headers
    .slice(0, MAX_FIELDS)
    .flatMap(({ key, name }) =>
      GATEWAYS.filter(({ fields }) => fields?.test(key.slice(0, 100))).map((gateway) =>
        hint(gateway, `The message has the header field ${name.slice(0, 60)}.`),
      ),
    );

const linkGateways = (context: Context): FoundGateway[] =>
  context
    .fact(messageLinks)
    .slice(0, MAX_LINKS)
    .flatMap(({ host }) =>
      host !== null && rewritingGateway(host) !== null
        ? byHost(host).map((gateway) =>
            hint(gateway, `Its links were rewritten to addresses at ${host}.`),
          )
        : [],
    );

function footerGateways({ message }: Context): FoundGateway[] {
  const scanner = fieldValue(message, 'x-antivirus')?.slice(0, 100) ?? '';
  const text = `${(message.text ?? message.html ?? '').slice(-MAX_FOOTER)} ${scanner} antivirus`;
  const words = collapseSpace(text.toLowerCase());
  return GATEWAYS.flatMap((gateway) =>
    gateway.footers.some((footer) => words.includes(footer))
      ? [hint(gateway, 'The text ends with its footer.')]
      : [],
  );
}
