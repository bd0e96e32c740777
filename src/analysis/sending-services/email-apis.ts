/** Services to which programs hand their mail by API or SMTP. Other services send through some of them. */

import { table } from '../../lib/table.ts';
import {
  BY_RETURN_PATH,
  cnames,
  DKIM_IN_CONSOLE,
  guide,
  include,
  type SendingService,
  txt,
} from './service.ts';
import { servicesOf } from './service-table.ts';

export const EMAIL_APIS: SendingService[] = [
  {
    id: 'amazon_ses',
    name: 'Amazon SES',
    isShared: true,
    marks: {
      hosts: ['amazonses.com'],
      signs: ['amazonses.com'],
      mailFrom: ['amazonses.com'],
      fields: ['x-ses-outgoing', 'x-ses-configuration-set'],
    },
    spf: include('amazonses.com'),
    dkim: cnames(
      ['<token1>', '<token1>.dkim.amazonses.com'],
      ['<token2>', '<token2>.dkim.amazonses.com'],
      ['<token3>', '<token3>.dkim.amazonses.com'],
    ),
    returnPath: 'a custom MAIL FROM domain',
    guides: {
      spf: 'https://docs.aws.amazon.com/ses/latest/dg/send-email-authentication-spf.html',
      dkim: 'https://docs.aws.amazon.com/ses/latest/dg/send-email-authentication-dkim.html',
    },
  },
  {
    id: 'sendgrid',
    name: 'SendGrid',
    isShared: true,
    marks: {
      hosts: ['sendgrid.net'],
      signs: ['sendgrid.net', 'sendgrid.info', 'sendgrid.me'],
      mailFrom: ['sendgrid.net', 'sendgrid.me'],
      fields: ['x-sg-eid', 'x-sg-id'],
    },
    spf: include('sendgrid.net'),
    dkim: cnames(
      ['s1', 's1.domainkey.<account>.sendgrid.net'],
      ['s2', 's2.domainkey.<account>.sendgrid.net'],
    ),
    returnPath: 'domain authentication, which adds a CNAME record for the return path',
    guides: guide(
      'https://www.twilio.com/docs/sendgrid/ui/account-and-settings/how-to-set-up-domain-authentication',
    ),
  },
  {
    id: 'mailgun',
    name: 'Mailgun',
    isShared: true,
    marks: {
      hosts: ['mailgun.net', 'mailgun.org', 'mailgun.info', 'mailgun.us'],
      signs: ['mailgun.org', 'mailgun.net'],
      mailFrom: ['mailgun.org', 'mailgun.net'],
      fields: ['x-mailgun-sid', 'x-mailgun-sending-ip'],
    },
    spf: include('mailgun.org'),
    dkim: txt(),
    returnPath: 'a sending domain of your own',
    guides: guide('https://help.mailgun.com/hc/en-us'),
  },
  {
    id: 'postmark',
    name: 'Postmark',
    isShared: true,
    marks: {
      hosts: ['mtasv.net'],
      signs: ['mtasv.net'],
      mailFrom: ['mtasv.net'],
      fields: ['x-pm-message-id', 'x-pm-tag'],
    },
    spf: BY_RETURN_PATH,
    dkim: txt(),
    returnPath: 'a custom Return-Path, a CNAME record from pm-bounces to pm.mtasv.net',
    guides: guide('https://postmarkapp.com/support'),
  },
  {
    id: 'mailchimp_transactional',
    name: 'Mailchimp Transactional',
    isShared: true,
    marks: {
      hosts: ['mandrillapp.com'],
      signs: ['mandrillapp.com'],
      mailFrom: ['mandrillapp.com'],
      fields: ['x-mandrill-user'],
    },
    spf: include('spf.mandrillapp.com'),
    dkim: cnames(['mte1', 'dkim1.mandrillapp.com'], ['mte2', 'dkim2.mandrillapp.com']),
    returnPath: 'a custom return-path domain, a CNAME record to mandrillapp.com',
    guides: guide('https://mailchimp.com/developer/transactional/docs/authentication-delivery/'),
    replacesFrom:
      'https://mailchimp.com/developer/release-notes/new-sending-domain-authentication-requirements/',
  },
  {
    id: 'sparkpost',
    name: 'SparkPost (Bird)',
    isShared: true,
    marks: {
      hosts: ['sparkpostmail.com', 'sparkpostmail1.com', 'sparkpostmail2.com'],
      signs: ['sparkpostmail.com', 'sparkpostmail1.com', 'sparkpostmail2.com'],
      mailFrom: ['sparkpostmail.com', 'sparkpostmail1.com', 'sparkpostmail2.com'],
      fields: ['x-msys-api'],
    },
    spf: BY_RETURN_PATH,
    dkim: txt(),
    returnPath: 'a custom bounce domain',
    guides: guide('https://support.sparkpost.com/'),
  },
  {
    id: 'mailjet',
    name: 'Mailjet',
    isShared: true,
    marks: {
      hosts: ['mailjet.com'],
      signs: ['mailjet.com'],
      mailFrom: ['mailjet.com'],
      fields: ['x-mj-mid', 'x-mj-errorsto', 'x-mailjet-campaign'],
    },
    spf: include('spf.mailjet.com'),
    dkim: txt('mailjet'),
    returnPath: 'a custom return path',
    guides: guide('https://documentation.mailjet.com/hc/en-us'),
  },
  {
    id: 'mailersend',
    name: 'MailerSend',
    isShared: true,
    marks: { hosts: ['mailersend.net'], signs: ['mailersend.net'], mailFrom: ['mailersend.net'] },
    spf: include('_spf.mailersend.net'),
    dkim: cnames(['mlsend2', 'mlsend2._domainkey.mailersend.net']),
    returnPath: 'a return path of your own, a CNAME record to mailersend.net',
    guides: guide('https://www.mailersend.com/help'),
  },
  {
    id: 'zeptomail',
    name: 'Zoho ZeptoMail',
    isShared: true,
    marks: {
      hosts: ['zeptomail.com', 'zeptomail.eu', 'zeptomail.in', 'transmail.net'],
      signs: ['zeptomail.com', 'transmail.net'],
      mailFrom: ['zeptomail.com', 'transmail.net'],
    },
    spf: BY_RETURN_PATH,
    dkim: txt(),
    returnPath: 'a bounce address of your own, a CNAME record to ZeptoMail',
    guides: guide('https://www.zoho.com/zeptomail/help/'),
  },
  {
    id: 'resend',
    name: 'Resend',
    isShared: true,
    marks: { hosts: [], signs: ['resend.dev'], mailFrom: ['resend.dev'] },
    spf: include('amazonses.com'),
    dkim: txt('resend'),
    returnPath: 'the records for a sending domain, which include one for the return path',
    guides: guide('https://resend.com/docs'),
  },
  {
    id: 'loops',
    name: 'Loops',
    isShared: true,
    marks: { hosts: [], signs: ['loops.so', 'loops.email'], mailFrom: ['loops.so', 'loops.email'] },
    spf: BY_RETURN_PATH,
    dkim: DKIM_IN_CONSOLE,
    returnPath: 'the records for a sending domain, which include one for the return path',
    guides: guide('https://loops.so/docs'),
  },
  {
    id: 'elastic_email',
    name: 'Elastic Email',
    isShared: true,
    marks: {
      hosts: ['elasticemail.com'],
      signs: ['elasticemail.com'],
      mailFrom: ['elasticemail.com'],
    },
    spf: include('_spf.elasticemail.com'),
    dkim: txt('api'),
    returnPath: 'a custom bounce domain',
    guides: guide('https://help.elasticemail.com/en/'),
  },
  {
    id: 'smtp2go',
    name: 'SMTP2GO',
    isShared: true,
    marks: {
      hosts: ['smtp2go.com', 'smtpcorp.com'],
      signs: ['smtpservice.net', 'smtpcorp.com', 'smtp2go.net'],
      mailFrom: ['smtpservice.net', 'smtpcorp.com', 'smtp2go.net'],
    },
    spf: BY_RETURN_PATH,
    dkim: cnames(['s<number>', 'dkim.smtp2go.net']),
    returnPath: 'a verified sender domain, which adds a CNAME record to return.smtp2go.net',
    guides: guide('https://support.smtp2go.com/hc/en-gb'),
  },
  {
    id: 'socketlabs',
    name: 'SocketLabs',
    isShared: true,
    marks: {
      hosts: ['email-od.com', 'socketlabs.com'],
      signs: ['email-od.com'],
      mailFrom: ['email-od.com'],
    },
    spf: include('email-od.com'),
    dkim: cnames(['dkim', 'dkim._domainkey.email-od.com']),
    returnPath: 'a custom bounce domain',
    guides: guide('https://help.socketlabs.com/'),
  },
  {
    id: 'oracle_email_delivery',
    name: 'Oracle Email Delivery',
    isShared: true,
    marks: {
      hosts: ['oracleemaildelivery.com'],
      signs: ['oracleemaildelivery.com'],
      mailFrom: ['oracleemaildelivery.com'],
    },
    spf: include(
      'rp.oracleemaildelivery.com',
      'eu.rp.oracleemaildelivery.com',
      'ap.rp.oracleemaildelivery.com',
    ),
    dkim: cnames(['<selector>', '<selector>.{domain}.dkim.<region>.oracleemaildelivery.com']),
    returnPath: 'a custom return path',
    guides: guide('https://docs.oracle.com/en-us/iaas/Content/Email/home.htm'),
  },
  {
    id: 'azure_communication_services',
    name: 'Azure Communication Services',
    isShared: true,
    marks: { hosts: ['azurecomm.net'], signs: ['azurecomm.net'], mailFrom: ['azurecomm.net'] },
    spf: include('spf.protection.outlook.com'),
    dkim: cnames(
      ['selector1-azurecomm-prod-net', 'selector1-azurecomm-prod-net._domainkey.azurecomm.net'],
      ['selector2-azurecomm-prod-net', 'selector2-azurecomm-prod-net._domainkey.azurecomm.net'],
    ),
    returnPath: null,
    guides: guide(
      'https://learn.microsoft.com/en-us/azure/communication-services/quickstarts/email/add-custom-verified-domains',
    ),
  },
  {
    id: 'scaleway_tem',
    name: 'Scaleway Transactional Email',
    isShared: true,
    marks: {
      hosts: ['tem.scaleway.com', 'scw-tem.cloud'],
      signs: ['tem.scaleway.com', 'scw-tem.cloud'],
      mailFrom: ['tem.scaleway.com', 'scw-tem.cloud'],
    },
    spf: include('_spf.tem.scaleway.com'),
    dkim: txt(),
    returnPath: null,
    guides: guide('https://www.scaleway.com/en/docs/transactional-email/'),
  },
  {
    id: 'mailtrap',
    name: 'Mailtrap',
    isShared: true,
    marks: {
      hosts: ['mailtrap.live', 'mailtrap.io'],
      signs: ['mailtrap.live', 'demomailtrap.com'],
      mailFrom: ['mailtrap.live', 'demomailtrap.com'],
    },
    spf: BY_RETURN_PATH,
    dkim: cnames(
      ['rwmt1', 'rwmt1.dkim.smtp.mailtrap.live'],
      ['rwmt2', 'rwmt2.dkim.smtp.mailtrap.live'],
    ),
    returnPath: 'a sending domain, which adds a CNAME record for the return path',
    guides: guide('https://docs.mailtrap.io/'),
  },
  {
    id: 'mailchannels',
    name: 'MailChannels',
    isShared: true,
    marks: {
      hosts: ['mailchannels.net'],
      fields: ['x-mc-relay', 'x-mailchannels-senderid', 'x-mailchannels-auth-id'],
    },
    spf: include('relay.mailchannels.net'),
    dkim: DKIM_IN_CONSOLE,
    returnPath: null,
    guides: guide('https://support.mailchannels.com/hc/en-us'),
  },
  ...servicesOf(table`
Alibaba Cloud Direct Mail | www.alibabacloud.com/help/en/direct-mail | dm.aliyun.com | | spf1.dm.aliyun.com
Aurora SendCloud | www.sendcloud.net/doc/en | sendcloud.org | = | spf.sendcloud.org
AuthSMTP | support.authsmtp.com | authsmtp.com | | authsmtp.com
Mail Baby | www.mail.baby | mailbaby.net | | relay.mailbaby.net
Netcore Email API | emaildocs.netcorecloud.com | pepitrans01.com pepitrans02.com nsmailserv.com | =
SMTP.com | kb.smtp.com | smtp.com | | _spf.smtp.com
Spotler SendPro (Flowmailer) | flowmailer.com | flowmailer.net | =
Tencent Cloud SES | www.tencentcloud.com/document/product/1084 | qcloudmail.com | = | qcloudmail.com
`),
];
