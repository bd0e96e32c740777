/** Business applications that send mail for their customers: sales, support, shops. */

import {
  BY_RETURN_PATH,
  cnames,
  DKIM_IN_CONSOLE,
  guide,
  include,
  type SendingService,
} from './service.ts';

export const BUSINESS_APPS: SendingService[] = [
  {
    id: 'salesforce',
    name: 'Salesforce',
    isShared: true,
    marks: {
      hosts: ['mta.salesforce.com'],
      mailFrom: ['bnc.salesforce.com'],
      fields: ['x-sfdc-lk', 'x-sfdc-user', 'x-sfdc-entityid'],
    },
    spf: include('_spf.salesforce.com'),
    dkim: cnames(
      ['<selector>', '<selector>.<account>.custdkim.salesforce.com'],
      ['<alternate>', '<alternate>.<account>.custdkim.salesforce.com'],
    ),
    returnPath: null,
    guides: guide('https://help.salesforce.com/'),
  },
  {
    id: 'intercom',
    name: 'Intercom',
    isShared: true,
    marks: {
      hosts: [],
      signs: ['intercom-mail.com', 'intercom.io'],
      mailFrom: ['intercom-mail.com', 'intercom.io'],
      fields: ['x-intercom-bin'],
    },
    spf: BY_RETURN_PATH,
    dkim: cnames(['intercom', '<account>.dkim.intercom.io']),
    returnPath: 'a custom return path, a CNAME record to Intercom',
    guides: guide('https://www.intercom.com/help/en/'),
  },
  {
    id: 'zendesk',
    name: 'Zendesk',
    isShared: true,
    marks: {
      hosts: ['zdsys.com', 'zendesk.com'],
      signs: ['zendesk.com'],
      mailFrom: ['zendesk.com'],
      fields: ['x-zendesk-from-account-id', 'x-zendesk-email-id'],
    },
    spf: include('mail.zendesk.com'),
    dkim: cnames(
      ['zendesk1', 'zendesk1._domainkey.zendesk.com'],
      ['zendesk2', 'zendesk2._domainkey.zendesk.com'],
    ),
    returnPath: null,
    guides: guide('https://support.zendesk.com/hc/en-us'),
  },
  {
    id: 'freshdesk',
    name: 'Freshdesk',
    isShared: true,
    marks: {
      hosts: ['freshemail.io', 'freshdesk.com'],
      signs: ['freshemail.io', 'freshdesk.com'],
      mailFrom: ['freshemail.io', 'freshdesk.com'],
    },
    spf: include('email.freshdesk.com'),
    dkim: DKIM_IN_CONSOLE,
    returnPath: null,
    guides: guide('https://support.freshdesk.com/'),
  },
  {
    id: 'help_scout',
    name: 'Help Scout',
    isShared: true,
    marks: {
      hosts: ['helpscoutemail.com', 'helpscout.net'],
      signs: ['helpscout.net'],
      mailFrom: ['helpscout.net', 'helpscoutemail.com'],
      fields: ['x-helpscout-convo', 'x-helpscout-*'],
    },
    spf: include('helpscoutemail.com'),
    dkim: cnames(
      ['strong1', 'strong1._domainkey.helpscout.net'],
      ['strong2', 'strong2._domainkey.helpscout.net'],
    ),
    returnPath: null,
    guides: guide('https://docs.helpscout.com/'),
  },
  {
    id: 'shopify',
    name: 'Shopify',
    isShared: true,
    marks: {
      hosts: ['shopifyemail.com'],
      signs: ['shopifyemail.com'],
      mailFrom: ['shopifyemail.com'],
      fields: ['x-shopify-*'],
    },
    spf: BY_RETURN_PATH,
    dkim: DKIM_IN_CONSOLE,
    returnPath: 'domain authentication, which adds CNAME records',
    guides: guide('https://help.shopify.com/'),
  },
];
