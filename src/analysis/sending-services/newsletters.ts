/** Services for newsletters and marketing mail. */

import { table } from '../../lib/table.ts';
import {
  BY_RETURN_PATH,
  cnames,
  DKIM_IN_CONSOLE,
  guide,
  include,
  type SendingService,
  SPF_IN_CONSOLE,
  txt,
} from './service.ts';
import { servicesOf } from './service-table.ts';

/** Mail of services that send only with their own envelope sender until a domain is connected. */
const OWN_DOMAIN = 'a sending domain of your own';

/** A service whose servers, signatures and envelope senders all have names under the same domains. */
const ownDomains = (domains: string[], fields: string[] = []) => ({
  hosts: domains,
  signs: domains,
  mailFrom: domains,
  fields,
});

export const NEWSLETTERS: SendingService[] = [
  {
    id: 'mailchimp',
    name: 'Mailchimp',
    isShared: true,
    marks: ownDomains(
      ['mcsv.net', 'mcdlv.net', 'rsgsv.net', 'mailchimpapp.com', 'mailchimpapp.net'],
      ['x-mc-user'],
    ),
    spf: BY_RETURN_PATH,
    dkim: cnames(['k2', 'dkim2.mcsv.net'], ['k3', 'dkim3.mcsv.net']),
    selectors: ['k1'],
    returnPath: null,
    guides: guide('https://mailchimp.com/help/set-up-email-domain-authentication/'),
    replacesFrom: 'https://mailchimp.com/help/limitations-of-free-email-addresses/',
  },
  {
    id: 'brevo',
    name: 'Brevo',
    isShared: true,
    marks: ownDomains(
      // Brevo was called Sendinblue, and its first domain was mailin.fr.
      ['brevosend.com', 'brevo.com', 'sendinblue.com', 'sender-sib.com', 'mailin.fr'],
      ['x-sib-id', 'x-mailin-eid', 'x-mailin-campaign', 'x-mailin-client'],
    ),
    spf: include('spf.brevo.com', 'spf.sendinblue.com'),
    dkim: cnames(
      ['brevo1', 'b1.{dashed}.dkim.brevo.com'],
      ['brevo2', 'b2.{dashed}.dkim.brevo.com'],
    ),
    selectors: ['mail'],
    returnPath: null,
    guides: guide('https://help.brevo.com/hc/en-us'),
    replacesFrom: 'https://help.brevo.com/hc/en-us/articles/16045394674066',
  },
  {
    id: 'zoho_campaigns',
    name: 'Zoho Campaigns',
    isShared: true,
    marks: ownDomains(['zcsend.net', 'zcsend.eu', 'zcsend.in', 'zcmail.net']),
    spf: include('zcsend.net', 'zcsend.eu', 'zcsend.in'),
    dkim: txt(),
    returnPath: null,
    guides: guide('https://help.zoho.com/portal/en/kb/campaigns'),
  },
  {
    id: 'salesforce_marketing_cloud',
    name: 'Salesforce Marketing Cloud',
    // Most accounts send from addresses of their own.
    isShared: false,
    marks: ownDomains(['exacttarget.com'], ['x-sfmc-stack']),
    spf: include('cust-spf.exacttarget.com'),
    dkim: DKIM_IN_CONSOLE,
    returnPath: 'the Sender Authentication Package',
    guides: guide('https://help.salesforce.com/'),
  },
  {
    id: 'hubspot',
    name: 'HubSpot',
    isShared: true,
    marks: ownDomains([
      'hubspotemail.net',
      'hubspotstarter.net',
      'hubspotfree.net',
      'hs-domain.com',
      'hs-send.com',
    ]),
    spf: SPF_IN_CONSOLE,
    dkim: cnames(
      ['hs1-<account>', '{dashed}.hs<number>a.dkim.hubspotemail.net'],
      ['hs2-<account>', '{dashed}.hs<number>b.dkim.hubspotemail.net'],
    ),
    selectors: ['hs1', 'hs2'],
    returnPath: null,
    guides: guide('https://knowledge.hubspot.com/'),
    replacesFrom:
      'https://knowledge.hubspot.com/marketing-email/verify-the-email-address-used-to-send-marketing-emails',
  },
  {
    id: 'klaviyo',
    name: 'Klaviyo',
    isShared: true,
    marks: ownDomains(['klaviyomail.com'], ['x-kmail-account', 'x-kmail-message']),
    spf: BY_RETURN_PATH,
    dkim: DKIM_IN_CONSOLE,
    selectors: ['kl', 'kl2'],
    returnPath: 'a branded sending domain',
    guides: guide('https://help.klaviyo.com/hc/en-us'),
    replacesFrom: 'https://help.klaviyo.com/hc/en-us/articles/7674941873947',
  },
  {
    id: 'activecampaign',
    name: 'ActiveCampaign',
    isShared: true,
    marks: ownDomains([
      'acems1.com',
      'acems2.com',
      'acems3.com',
      'acems4.com',
      'acems5.com',
      'acemsa1.com',
      'emsd1.com',
      'emsend2.com',
      'activehosted.com',
    ]),
    spf: BY_RETURN_PATH,
    dkim: cnames(['acdkim1', 'dkim.acdkim1.acems1.com'], ['acdkim2', 'dkim.acdkim2.acems2.com']),
    returnPath: 'a mailserver domain of your own',
    guides: guide('https://help.activecampaign.com/hc/en-us'),
  },
  {
    id: 'constant_contact',
    name: 'Constant Contact',
    isShared: true,
    marks: ownDomains(
      ['ccsend.com', 'constantcontact.com'],
      ['x-roving-id', 'x-roving-campaignid', 'x-ctct-id'],
    ),
    spf: BY_RETURN_PATH,
    dkim: cnames(
      ['ctct1', '100._domainkey.dkim1.ccsend.com'],
      ['ctct2', '200._domainkey.dkim2.ccsend.com'],
    ),
    returnPath: null,
    guides: guide('https://knowledgebase.constantcontact.com/'),
    replacesFrom:
      'https://knowledgebase.constantcontact.com/email-digital-marketing/articles/KnowledgeBase/51400',
  },
  {
    id: 'campaign_monitor',
    name: 'Campaign Monitor',
    isShared: true,
    marks: ownDomains(['createsend.com', 'cmail19.com', 'cmail20.com']),
    spf: BY_RETURN_PATH,
    dkim: txt('cm'),
    returnPath: null,
    guides: guide('https://help.campaignmonitor.com/'),
  },
  {
    id: 'getresponse',
    name: 'GetResponse',
    isShared: true,
    marks: ownDomains(['getresponse-mail.com', 'getresponse.com']),
    spf: BY_RETURN_PATH,
    dkim: DKIM_IN_CONSOLE,
    returnPath: null,
    guides: guide('https://www.getresponse.com/help'),
  },
  {
    id: 'mailerlite',
    name: 'MailerLite',
    isShared: true,
    marks: ownDomains(['mlsend.com', 'mailerlite.com']),
    spf: include('_spf.mlsend.com'),
    dkim: cnames(['litesrv', 'litesrv._domainkey.mlsend.com']),
    selectors: ['ml'],
    returnPath: OWN_DOMAIN,
    guides: guide('https://www.mailerlite.com/help'),
  },
  {
    id: 'kit',
    name: 'Kit (ConvertKit)',
    isShared: true,
    marks: ownDomains([
      'convertkit.com',
      'convertkit-mail.com',
      'convertkit-mail2.com',
      'convertkit-mail3.com',
      'convertkit-mail4.com',
    ]),
    spf: BY_RETURN_PATH,
    dkim: cnames(['cka', 'dkim.<account>.convertkit.com']),
    returnPath: 'a verified sending domain, which adds a CNAME record for the return path',
    guides: guide('https://help.kit.com/'),
  },
  {
    id: 'aweber',
    name: 'AWeber',
    isShared: true,
    marks: ownDomains(['aweber.com']),
    spf: include('send.aweber.com'),
    dkim: cnames(
      ['aweber_key_a', 'aweber_key_a.send.aweber.com'],
      ['aweber_key_b', 'aweber_key_b.send.aweber.com'],
      ['aweber_key_c', 'aweber_key_c.send.aweber.com'],
    ),
    returnPath: null,
    guides: guide('https://help.aweber.com/hc/en-us'),
  },
  {
    id: 'drip',
    name: 'Drip',
    isShared: true,
    marks: ownDomains(['dripemail2.com', 'getdrip.com']),
    spf: BY_RETURN_PATH,
    dkim: DKIM_IN_CONSOLE,
    returnPath: 'a custom sending domain',
    guides: guide('https://help.drip.com/'),
  },
  {
    id: 'customer_io',
    name: 'Customer.io',
    isShared: true,
    marks: ownDomains(['customeriomail.com']),
    spf: BY_RETURN_PATH,
    dkim: DKIM_IN_CONSOLE,
    returnPath: 'an authenticated sending domain, which adds records for the return path',
    guides: guide('https://docs.customer.io/'),
  },
  {
    id: 'substack',
    name: 'Substack',
    isShared: true,
    marks: ownDomains(['substack.com']),
    spf: BY_RETURN_PATH,
    dkim: DKIM_IN_CONSOLE,
    returnPath: null,
    guides: guide('https://support.substack.com/hc/en-us'),
  },
  {
    id: 'beehiiv',
    name: 'beehiiv',
    isShared: true,
    marks: ownDomains(['beehiiv.com']),
    spf: BY_RETURN_PATH,
    dkim: DKIM_IN_CONSOLE,
    returnPath: 'a custom email domain',
    guides: guide('https://www.beehiiv.com/support'),
  },
  {
    id: 'omnisend',
    name: 'Omnisend',
    isShared: true,
    marks: ownDomains(['omnisend.com', 'soundestmail.com']),
    spf: BY_RETURN_PATH,
    dkim: DKIM_IN_CONSOLE,
    returnPath: 'a custom sender domain',
    guides: guide('https://support.omnisend.com/'),
    replacesFrom:
      'https://support.omnisend.com/en/articles/9662490-fix-domain-mismatch-in-campaigns-and-automations',
  },
  {
    id: 'cleverreach',
    name: 'CleverReach',
    isShared: true,
    marks: ownDomains(['crsend.com', 'cleverreach.com'], ['x-cr-*']),
    spf: include('spf.crsend.com'),
    dkim: DKIM_IN_CONSOLE,
    returnPath: null,
    guides: guide('https://support.cleverreach.de/'),
  },
  {
    id: 'rapidmail',
    name: 'rapidmail',
    isShared: true,
    marks: ownDomains(['emailsys.net', 'emailsys1a.net', 'emailsys2a.net', 'rapidmail.de']),
    spf: BY_RETURN_PATH,
    dkim: DKIM_IN_CONSOLE,
    returnPath: OWN_DOMAIN,
    guides: guide('https://www.rapidmail.com/help'),
  },
  {
    id: 'adobe_marketo',
    name: 'Adobe Marketo Engage',
    isShared: true,
    marks: ownDomains(['mktomail.com', 'mktdns.com'], ['x-mktmailingid', 'x-mktarchive']),
    spf: include('mktomail.com'),
    dkim: txt(),
    returnPath: 'a branded envelope_from',
    guides: guide('https://experienceleague.adobe.com/'),
  },
  {
    id: 'oracle_eloqua',
    name: 'Oracle Eloqua',
    isShared: true,
    marks: ownDomains(['en25.com'], ['x-elqpod', 'x-elqsiteid']),
    spf: SPF_IN_CONSOLE,
    dkim: DKIM_IN_CONSOLE,
    returnPath: 'a branded bounceback address',
    guides: guide('https://docs.oracle.com/'),
  },
  ...servicesOf(table`
Act-On | connect.act-on.com | act-on.net | | _spf.act-on.net
Action Network | help.actionnetwork.org | actionnetwork.org
APSIS One | help.apsis.one | anpdm.com | =
Attentive | docs.attentive.com | | attentivemobile.com attentive.com
Benchmark Email | kb.benchmarkemail.com | bmsend.com | =
Bento | docs.bentonow.com | | bentonow.com
Blackbaud | kb.blackbaud.com | blackbaud.net convio.net | = | outboundmail.blackbaud.net
BombBomb | support.bombbomb.com | bbemaildelivery.com | =
Bonterra EveryAction | help.everyaction.com | ngpweb.com | =
Braze | www.braze.com/docs/user_guide/message_building_by_channel/email/email_setup/authentication | | braze.com
Cordial | support.cordial.com | cordialmail.net | =
Cuenote | www.cuenote.jp | cuenote.jp
Doppler | help.fromdoppler.com | fromdoppler.com | | spf.fromdoppler.com
Dotdigital | support.dotdigital.com | dotmailer.com dotdigital-email.com dotmailer-email.com | = | | | a custom from address
Emma | support.e2ma.net | e2ma.net | = | e2ma.net | | | help.e2ma.net/article/yahoo-aol-changes-affect-your-deliverability-rates
Epsilon | www.epsilon.com | epsl1.com | =
Flodesk | help.flodesk.com/en/articles/3200817-authenticate-your-domain-via-dkim | | flodesk.com
Ghost | ghost.org/help | | ghost.io
GMass | www.gmass.co/blog | | gmuser.net gmusers.net | | | | www.gmass.co/blog/?p=25781
Granicus govDelivery | support.granicus.com | govdelivery.com | =
Inxmail | help.inxmail.com | inxserver.de inxserver.com | =
Iterable | support.iterable.com/hc/en-us/articles/7130133854612-Email-Setup | | iterable.com
Kajabi | help.kajabi.com | | kajabimail.net kajabimail.com | | | a custom email domain | help.kajabi.com/en/articles/12696261-custom-email-domain-requirements
Keap | help.keap.com | infusionmail.com | = | infusionmail.com
Listrak | help.listrak.com | lstrk.net | =
mailingwork | mailingwork.de | sendnode.com | =
MailPoet | kb.mailpoet.com | | sendingservice.net | own | mailpoet1=dkim1.sendingservice.net mailpoet2=dkim2.sendingservice.net
MailUp | help.mailup.com | musvc.com | = | musvc.com
Marigold Engage (Selligent) | www.meetmarigold.com | emsecure.net slgnt.eu slgnt.us cheetahmail.com | =
Marketing Cloud Account Engagement (Pardot) | help.salesforce.com | pardot.com pd25.com | | aspmx.pardot.com
Moosend | help.moosend.com | mailendo.com | = | spfa.mailendo.com
NewsMAN | kb.newsman.com | newsmanapp.com | =
Omeda | training.omeda.com | omeda.com o-mx.com
Ometria | support.ometria.com | ometria.email | =
Ontraport | ontraport.com/support | ontramail.com | =
Oracle Responsys | docs.oracle.com/en/cloud/saas/marketing | rsys1.com rsys2.com rsys3.com rsys4.com rsys5.com responsys.net | =
Poppulo | www.poppulo.com | nw026.com nw027.com nw028.com | = | nw026.com nw027.com nw028.com
PR Newswire | www.prnewswire.com | prnewswire.com dvcotechnology.com | | email.prnewswire.com
Sailthru | getstarted.sailthru.com | sailthru.com | | aspmx.sailthru.com
SAP Emarsys | help.sap.com/docs/SAP_EMARSYS | emarsys.net emsmtp.com | = | emsmtp.com
Sender | help.sender.net | sendersrv.com | = | sendersrv.com
Sendlane | help.sendlane.com | | sendlane.com
SendPulse | sendpulse.com/knowledge-base | sendpulse.com | | mxsspf.sendpulse.com
Spotler | spotler.com | mailplus.nl gatormail.co.uk
systeme.io | help.systeme.io | | systeme.io | own | systemeio1=key1.systeme.io systemeio2=key2.systeme.io
Unisender | www.unisender.com/en/support | unisender.com | | spf.unisender.com
Zeta | knowledgebase.zetaglobal.net | zetaglobal.net | =
`),
];
