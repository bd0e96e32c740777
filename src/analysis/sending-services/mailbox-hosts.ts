/**
 * Services that host the mailboxes of a customer's domain, and web hosts with mail servers. More web hosts are in
 * `hosting-providers.ts`.
 */

import { table } from '../../lib/table.ts';
import {
  AUTOMATIC,
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

export const MAILBOX_HOSTS: SendingService[] = [
  {
    id: 'google_workspace',
    name: 'Google Workspace',
    isShared: true,
    marks: {
      mx: ['aspmx.l.google.com', 'googlemail.com', 'smtp.google.com'],
      hosts: ['google.com'],
      signs: ['gappssmtp.com'],
      fields: ['x-google-dkim-signature', 'x-gm-message-state'],
    },
    spf: include('_spf.google.com'),
    dkim: txt('google'),
    returnPath: null,
    guides: {
      spf: 'https://support.google.com/a/answer/33786',
      dkim: 'https://support.google.com/a/answer/174124',
    },
  },
  {
    id: 'microsoft_365',
    name: 'Microsoft 365',
    isShared: true,
    marks: {
      mx: ['mail.protection.outlook.com', 'mx.microsoft'],
      keys: ['dkim.mail.microsoft'],
      hosts: ['outbound.protection.outlook.com'],
      signs: ['onmicrosoft.com'],
      mailFrom: ['onmicrosoft.com'],
      fields: ['x-ms-exchange-crosstenant-id', 'x-ms-exchange-transport-crosstenantheadersstamped'],
    },
    spf: include('spf.protection.outlook.com'),
    dkim: cnames(
      ['selector1', 'selector1-{dashed}._domainkey.<tenant>.onmicrosoft.com'],
      ['selector2', 'selector2-{dashed}._domainkey.<tenant>.onmicrosoft.com'],
    ),
    returnPath: null,
    guides: {
      spf: 'https://learn.microsoft.com/en-us/defender-office-365/email-authentication-spf-configure',
      dkim: 'https://learn.microsoft.com/en-us/defender-office-365/email-authentication-dkim-configure',
    },
  },
  {
    id: 'zoho_mail',
    name: 'Zoho Mail',
    isShared: true,
    marks: {
      hosts: [
        ...['zoho.com', 'zoho.eu', 'zoho.in', 'zoho.com.au', 'zohocloud.ca'],
        ...['zohomail.com', 'zohomail.eu', 'zohomail.in'],
      ],
      fields: ['x-zohomailclient', 'x-zohomail-*'],
    },
    spf: include('zohomail.com', 'zohomail.eu', 'zohomail.in', 'zoho.com', 'zoho.eu', 'zoho.in'),
    dkim: txt('zmail'),
    selectors: ['zoho'],
    returnPath: null,
    guides: guide('https://www.zoho.com/mail/help/adminconsole/'),
  },
  {
    id: 'fastmail',
    name: 'Fastmail',
    isShared: true,
    marks: {
      mx: ['messagingengine.com'],
      hosts: ['messagingengine.com'],
      signs: ['messagingengine.com'],
      fields: ['x-me-sender', 'x-me-proxy'],
    },
    spf: include('spf.messagingengine.com'),
    dkim: cnames(
      ['fm1', 'fm1.{domain}.dkim.fmhosted.com'],
      ['fm2', 'fm2.{domain}.dkim.fmhosted.com'],
      ['fm3', 'fm3.{domain}.dkim.fmhosted.com'],
    ),
    selectors: ['mesmtp'],
    returnPath: null,
    guides: guide('https://www.fastmail.help/hc/en-us'),
  },
  {
    id: 'proton_mail',
    name: 'Proton Mail',
    isShared: true,
    marks: {
      mx: ['protonmail.ch'],
      hosts: ['protonmail.ch', 'proton.ch'],
      fields: ['x-pm-origin', 'x-pm-encryption*'],
    },
    spf: include('_spf.protonmail.ch'),
    dkim: cnames(
      ['protonmail', 'protonmail.domainkey.<id>.domains.proton.ch'],
      ['protonmail2', 'protonmail2.domainkey.<id>.domains.proton.ch'],
      ['protonmail3', 'protonmail3.domainkey.<id>.domains.proton.ch'],
    ),
    returnPath: null,
    guides: guide('https://proton.me/support'),
  },
  {
    id: 'icloud_mail',
    name: 'iCloud Mail',
    isShared: true,
    marks: { mx: ['mail.icloud.com'], hosts: ['icloud.com', 'me.com', 'mail.icloud.com'] },
    spf: include('icloud.com'),
    dkim: cnames(['sig1', 'sig1.dkim.{domain}.at.icloudmailadmin.com']),
    returnPath: null,
    guides: guide('https://support.apple.com/icloud'),
  },
  {
    id: 'yandex_360',
    name: 'Yandex 360',
    isShared: true,
    marks: {
      mx: ['mx.yandex.net', 'mx.yandex.ru'],
      hosts: ['mail.yandex.net', 'mail.yandex.com'],
      fields: ['x-yandex-fwd'],
    },
    spf: include('_spf.yandex.net'),
    dkim: txt('mail'),
    returnPath: null,
    guides: guide('https://yandex.com/support/'),
  },
  {
    id: 'rackspace_email',
    name: 'Rackspace Email',
    isShared: true,
    marks: { mx: ['emailsrvr.com'], hosts: ['emailsrvr.com'] },
    spf: include('emailsrvr.com'),
    dkim: txt(),
    returnPath: null,
    guides: guide('https://docs.rackspace.com/'),
  },
  {
    id: 'mailbox_org',
    name: 'mailbox.org',
    isShared: true,
    marks: { mx: ['mailbox.org'], hosts: ['mailbox.org'] },
    spf: include('mailbox.org'),
    dkim: cnames(
      ['mbo0001', 'mbo0001._domainkey.mailbox.org'],
      ['mbo0002', 'mbo0002._domainkey.mailbox.org'],
      ['mbo0003', 'mbo0003._domainkey.mailbox.org'],
      ['mbo0004', 'mbo0004._domainkey.mailbox.org'],
    ),
    returnPath: null,
    guides: guide('https://kb.mailbox.org/'),
  },
  {
    id: 'titan_email',
    name: 'Titan Email',
    isShared: true,
    marks: { mx: ['titan.email'], hosts: ['titan.email'] },
    spf: include('spf.titan.email'),
    dkim: txt('titan1'),
    returnPath: null,
    guides: guide('https://support.titan.email/'),
  },
  {
    id: 'namecheap_private_email',
    name: 'Namecheap Private Email',
    isShared: true,
    marks: { mx: ['privateemail.com'], hosts: ['privateemail.com'] },
    spf: include('spf.privateemail.com'),
    dkim: txt('default'),
    returnPath: null,
    guides: guide('https://www.namecheap.com/support/knowledgebase/'),
  },
  {
    id: 'ovhcloud',
    name: 'OVHcloud',
    isShared: true,
    marks: { mx: ['mail.ovh.net'], hosts: ['mail-out.ovh.net'], fields: ['x-ovh-tracer-id'] },
    spf: include('mx.ovh.com'),
    dkim: DKIM_IN_CONSOLE,
    returnPath: null,
    guides: guide('https://help.ovhcloud.com/'),
  },
  {
    id: 'ionos',
    name: 'IONOS',
    isShared: true,
    marks: {
      regionalMx: [
        ...['kundenserver.de', 'perfora.net', '1and1.com', 'ionos.com', 'ionos.de'],
        ...['ionos.co.uk', 'ionos.fr', 'ionos.es', 'ionos.it'],
      ],
      hosts: ['mout.kundenserver.de', 'mout.perfora.net', 'mout.ionos.com'],
      fields: ['x-ui-out-filterresults'],
    },
    spf: include('_spf-eu.ionos.com', '_spf-us.ionos.com'),
    dkim: cnames(['s1-ionos', 's1.dkim.ionos.com'], ['s2-ionos', 's2.dkim.ionos.com']),
    returnPath: null,
    guides: guide('https://www.ionos.com/help/'),
  },
  {
    id: 'hetzner_web_hosting',
    name: 'Hetzner web hosting',
    isShared: true,
    // Rented servers have such names too, but their addresses belong to one customer.
    marks: { hosts: ['your-server.de'], notHosts: ['clients.your-server.de'] },
    spf: SPF_IN_CONSOLE,
    dkim: DKIM_IN_CONSOLE,
    returnPath: null,
    guides: guide('https://docs.hetzner.com/'),
  },
  {
    id: 'strato',
    name: 'STRATO',
    isShared: true,
    marks: {
      regionalMx: ['rzone.de'],
      hosts: ['rzone.de'],
      fields: ['x-rzg-class-id', 'x-rzg-auth'],
    },
    spf: SPF_IN_CONSOLE,
    dkim: AUTOMATIC,
    selectors: ['strato-dkim-0002', 'strato-dkim-0003'],
    returnPath: null,
    guides: guide('https://www.strato.de/faq/'),
  },
  {
    id: 'gandi',
    name: 'Gandi',
    isShared: true,
    marks: { mx: ['mail.gandi.net'], hosts: ['mail.gandi.net'] },
    spf: include('_mailcust.gandi.net'),
    dkim: cnames(
      ['gm1', 'gm1.gandimail.net'],
      ['gm2', 'gm2.gandimail.net'],
      ['gm3', 'gm3.gandimail.net'],
    ),
    returnPath: null,
    guides: guide('https://docs.gandi.net/en/'),
  },
  {
    id: 'godaddy',
    name: 'GoDaddy',
    isShared: true,
    marks: {
      hosts: ['secureserver.net'],
      notHosts: ['ip.secureserver.net', 'host.secureserver.net'],
    },
    spf: include('secureserver.net'),
    dkim: DKIM_IN_CONSOLE,
    returnPath: null,
    guides: guide('https://www.godaddy.com/help'),
  },
  {
    id: 'hostinger',
    name: 'Hostinger',
    isShared: true,
    marks: {
      mx: ['mx1.hostinger.com', 'mx2.hostinger.com'],
      hosts: ['mail.hostinger.com', 'mail.hostinger.io'],
    },
    spf: include('_spf.mail.hostinger.com'),
    dkim: cnames(
      ['hostingermail-a', 'hostingermail-a.dkim.mail.hostinger.com'],
      ['hostingermail-b', 'hostingermail-b.dkim.mail.hostinger.com'],
      ['hostingermail-c', 'hostingermail-c.dkim.mail.hostinger.com'],
    ),
    returnPath: null,
    guides: guide('https://www.hostinger.com/support/'),
  },
  {
    id: 'infomaniak',
    name: 'Infomaniak',
    isShared: true,
    marks: { hosts: ['mail.infomaniak.ch'] },
    spf: include('spf.infomaniak.ch'),
    dkim: DKIM_IN_CONSOLE,
    returnPath: null,
    guides: guide('https://www.infomaniak.com/en/support'),
  },
  {
    id: 'squarespace',
    name: 'Squarespace',
    isShared: true,
    marks: {
      hosts: [],
      signs: ['squarespace-mail.com', 'sqspmail.com'],
      mailFrom: ['squarespace-mail.com', 'sqspmail.com'],
    },
    spf: BY_RETURN_PATH,
    dkim: cnames(['squarespace', 'squarespace-domainkey.squarespace-mail.com']),
    returnPath: null,
    guides: guide('https://support.squarespace.com/hc/en-us'),
    replacesFrom: 'https://support.squarespace.com/hc/en-us/articles/360001280728',
  },
  {
    id: 'wix',
    name: 'Wix',
    isShared: true,
    marks: {
      hosts: [],
      signs: ['wixemails.com', 'wixsiteautomations.com', 'ascendbywix.com'],
      mailFrom: ['wixemails.com', 'wixsiteautomations.com', 'ascendbywix.com'],
    },
    spf: BY_RETURN_PATH,
    dkim: DKIM_IN_CONSOLE,
    returnPath: null,
    guides: guide('https://support.wix.com/'),
    replacesFrom:
      'https://dev.wix.com/docs/rest/business-management/marketing/sender-emails/introduction',
  },
  ...servicesOf(table`
Alibaba Mail | www.alibabacloud.com/help/en/alibaba-mail | mail.aliyun.com !freemail.mail.aliyun.com mx:qiye.aliyun.com mx:mxhichina.com | | spf.qiye.aliyun.com
HEY for Domains | help.hey.com | hey.com mx:hey.com | | _spf.hey.com | heymail=heymail._domainkey.hey.com
Hosted Email (OpenSRS) | help.opensrs.com | hostedemail.com mx:hostedemail.com | | _spf.hostedemail.com
Hushmail | help.hushmail.com | hushmail.com mx:hushmail.com
Intermedia | www.intermedia.com | serverdata.net mx:serverdata.net | | spf.intermedia.net
Kolab Now | kb.kolabnow.com | kolabnow.com mx:kolabnow.com
LINE WORKS | help.worksmobile.com | worksmobile.com mx:worksmobile.com | | spf.worksmobile.com
Mailfence | kb.mailfence.com | mailfence.com contactoffice.com mx:mailfence.com | | _spf.mailfence.com
Migadu | www.migadu.com/guides | migadu.com mx:migadu.com | | spf.migadu.com | key1=key1.{domain}._domainkey.migadu.com key2=key2.{domain}._domainkey.migadu.com key3=key3.{domain}._domainkey.migadu.com
MXroute | mxroutedocs.com | mxroute.com mxrouting.net mx:mxrouting.net | | mxroute.com | txt:x
Purelymail | purelymail.com/docs | purelymail.com mx:purelymail.com | | _spf.purelymail.com | purelymail1=key1.dkimroot.purelymail.com purelymail2=key2.dkimroot.purelymail.com purelymail3=key3.dkimroot.purelymail.com
Runbox | help.runbox.com | runbox.com mx:runbox.com | | spf.runbox.com
Soverin | soverin.com | soverin.net mx:soverin.net | | soverin.net
StartMail | support.startmail.com | startmail.com mx:startmail.com
Tuta | tuta.com/support | tutanota.de mx:tutanota.de | | spf.tutanota.de | s1=s1.domainkey.tutanota.de s2=s2.domainkey.tutanota.de
`),
];
