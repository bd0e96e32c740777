/**
 * Products between a mail system and the internet that can change a message that is already signed: they add
 * disclaimers and footers, rewrite links, and tag subjects.
 */

import { table } from '../../lib/table.ts';
import type { Context } from '../check.ts';
import { confirmedNames, fullHostName } from '../dns/names.ts';
import { messageLinks } from '../links/links.ts';
import { rewritingGateway } from '../links/rewriting-gateways.ts';
import { fieldValue } from '../mime/message.ts';
import { receivedHops } from '../mime/received.ts';
import { suffixIndex } from '../sending-services/service.ts';
import { GATEWAYS as SERVICES } from '../sending-services/services.ts';
import { collapseSpace } from '../text.ts';

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

/**
 * Columns: the name; the id of its sending service, which knows its servers and guide; other hosts. Then the fields, in
 * which `*` matches anything; words of footers, with commas; the place of DKIM; another guide, without `https://`.
 */
const ROWS = table`
Mimecast | mimecast | mimecastprotect.com | x-mc-* x-mimecast-* | | under Gateway, Policies, DNS Authentication – Outbound
Proofpoint Essentials | proofpoint_essentials | | | | under Administration, Domains, DKIM
Proofpoint | proofpoint | urldefense.com urldefense.proofpoint.com urldefense.us | x-proofpoint-* | | under Email Authentication, DKIM Signing
Barracuda | barracuda | linkprotect.cudasvc.com | x-barracuda-* x-bess-* | | in the settings for outgoing mail
Cisco Secure Email (IronPort) | cisco_secure_email_cloud_gateway | secure-web.cisco.com | x-ironport-* ironport-* | | under Mail Policies, Signing Profiles, and with DKIM signing on in the mail flow policy | www.cisco.com/c/en/us/support/security/email-security-appliance/series.html
Exclaimer | exclaimer | | x-exclaimer* | | returns
CodeTwo | | codetwo.com | x-codetwo* | | returns | www.codetwo.com/userguide/email-signatures-for-office-365
Sophos Email | sophos_email | protection.sophos.com | x-sophos-* x-sea-* | scanned by sophos | under Settings, in the domain’s DKIM settings
Hornetsecurity | hornetsecurity | | x-cloud-security-* x-antispameurope-* | | under Security Settings, Email Authentication, DKIM
Trend Micro | trend_micro_email_security | ctp.trendmicro.com | x-tm-* x-tmase-* x-imss-* | | under Outbound Protection, Domain-based Authentication, DKIM Signing
Forcepoint | forcepoint_email_security_cloud | | x-mailcontrol-* x-forcepoint-* | | in the settings for outgoing mail
Symantec Email Security.cloud | symantec_email_security_cloud | clicktime.symantec.com | x-starscan-* x-msg-ref x-viruschecked x-brightmail-* | scanned by the symantec email security.cloud | under Services, Email Services
FortiMail | fortimail_cloud | | x-feas-* x-fe-policy-id x-fe-last-public-client-ip x-fortimail-* | | in the domain’s DKIM settings, and with DKIM signing on in the session profile
Trellix Email Security | trellix_email_security | | x-fireeye* x-trellix-* | | in the settings for outgoing mail
OpenText AppRiver (Zix) | opentext_appriver_zix | | x-zix* x-vpm-msg-id x-vpm-host | | in the settings for outgoing mail
Check Point Harmony Email | check_point_harmony_email | checkpoint.com | x-cloud-sec-av-* | | returns
Retarus | retarus | | x-rmx-* x-retarus-* | | in the settings for outgoing mail
NoSpamProxy | | nospamproxy.com nospamproxy.de | x-nospamproxy-* | | under Identities, in the DKIM keys of the corporate domain | docs.nospamproxy.com
SEPPmail | seppmail_cloud | seppmail.ch | x-sepp* | | under Mail System, Managed Domains
Libraesva | libraesva | urlsand.esvalabs.com urlsand.com | x-libraesva* x-libra-esva* | | in the settings for outgoing mail
Zivver | | zivver.com | x-zivver* | | in the settings of the domain | support.zivver.com
Egress | egress | | x-egress* | | in the settings of the domain
Vade | vade | | x-vade* x-vr-* | | in the settings for outgoing mail
SpamTitan | spamtitan | | x-spamtitan* | | in the settings for outgoing mail
Kaspersky Secure Mail Gateway | | | x-klms-* x-kse-* x-ksmg-* | | in the settings for outgoing mail | support.kaspersky.com
GFI MailEssentials | | | x-gfi* | | before | www.gfi.com
MailScanner | | | x-mailscanner* x-*-mailscanner* | scanned by mailscanner | before | www.mailscanner.info
Avast | | | x-avast* | checked for viruses by avast, virus-free. www.avast.com, avast antivirus | before | support.avast.com
AVG | | | x-avg* | checked by avg | before | support.avg.com
ESET | | | x-eset* | checked by eset | before | help.eset.com
Microsoft 365 | | outbound.protection.outlook.com | | | in the Microsoft Defender portal, under Email authentication settings, DKIM | learn.microsoft.com/defender-office-365/email-authentication-dkim-configure
Google Workspace | | google.com | | | in the Admin console, under Apps, Google Workspace, Gmail, Authenticate email | support.google.com/a/answer/174124
`;

const listOf = (cell: string, separator: RegExp): string[] =>
  cell === '' ? [] : cell.split(separator);

const GATEWAYS: Gateway[] = ROWS.map(
  ([name = '', id = '', hosts = '', names = '', footers = '', place = '', guide = '']) => {
    const service = SERVICES.find((one) => one.id === id);
    return {
      name,
      hosts: [...(service?.marks.hosts ?? []), ...listOf(hosts, / +/)],
      fields:
        names === ''
          ? null
          : new RegExp(`^(?:${names.replaceAll('*', '.*').replace(/ +/g, '|')})$`),
      footers: listOf(footers, /, /),
      place,
      guide: guide === '' ? service!.guides.dkim : `https://${guide}`,
    };
  },
);

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
