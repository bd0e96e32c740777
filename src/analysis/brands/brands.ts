/**
 * Brands that phishing mail often names as its sender, with the domains that they send from. A brand
 * also owns the domains whose own label is its name, such as paypal.de.
 */

export interface Brand {
  name: string;
  /** Other spellings of the display name, in lower case. */
  aliases?: string[];
  /** The name is also an ordinary word or a person's name, so that it counts only with a role. */
  needsRole?: true;
  domains: string[];
}

/** Only brands whose names mean nothing else at the start of a display name with a role after it. */
export const BRANDS: Brand[] = [
  // Payments and banks.
  { name: 'PayPal', domains: ['paypal.com', 'paypal-communication.com', 'paypal-notify.com'] },
  { name: 'Stripe', needsRole: true, domains: ['stripe.com'] },
  { name: 'Western Union', domains: ['westernunion.com'] },
  { name: 'Visa', needsRole: true, domains: ['visa.com'] },
  { name: 'Mastercard', domains: ['mastercard.com'] },
  {
    name: 'American Express',
    aliases: ['amex'],
    domains: ['americanexpress.com', 'aexp.com', 'amex.com'],
  },
  {
    name: 'Chase Bank',
    aliases: ['jpmorgan chase'],
    domains: ['chase.com', 'jpmorgan.com', 'jpmchase.com'],
  },
  { name: 'Bank of America', domains: ['bankofamerica.com', 'bofa.com'] },
  { name: 'Wells Fargo', domains: ['wellsfargo.com'] },
  {
    name: 'Citibank',
    needsRole: true,
    aliases: ['citi'],
    domains: ['citi.com', 'citibank.com', 'citicorp.com'],
  },
  { name: 'Capital One', domains: ['capitalone.com'] },
  { name: 'HSBC', domains: ['hsbc.com', 'hsbc.co.uk', 'hsbcgroup.com'] },
  { name: 'Barclays', domains: ['barclays.com', 'barclays.co.uk', 'barclaycard.co.uk'] },
  { name: 'Santander', needsRole: true, domains: ['santander.com', 'gruposantander.com'] },
  { name: 'Deutsche Bank', domains: ['deutsche-bank.de', 'db.com'] },
  { name: 'Sparkasse', domains: ['sparkasse.de', 'sparkasse.com', 's-finanzgruppe.de'] },
  { name: 'ING', needsRole: true, domains: ['ing.com', 'ing.de', 'ing.nl', 'ing-diba.de'] },
  { name: 'Revolut', domains: ['revolut.com'] },
  { name: 'Klarna', domains: ['klarna.com'] },
  { name: 'Coinbase', domains: ['coinbase.com'] },
  { name: 'Binance', domains: ['binance.com'] },
  { name: 'Kraken', needsRole: true, domains: ['kraken.com'] },
  // Technology and mail.
  {
    name: 'Microsoft',
    aliases: ['microsoft 365', 'microsoft account', 'microsoft office'],
    domains: ['microsoft.com', 'microsoftonline.com', 'office.com', 'office365.com', 'azure.com'],
  },
  {
    name: 'Office 365',
    aliases: ['office365'],
    domains: ['microsoft.com', 'microsoftonline.com', 'office.com', 'office365.com'],
  },
  { name: 'Outlook', needsRole: true, domains: ['microsoft.com'] },
  {
    name: 'Google',
    aliases: ['google account', 'google workspace'],
    domains: ['google.com', 'youtube.com', 'withgoogle.com'],
  },
  { name: 'Gmail', domains: ['google.com', 'googlemail.com'] },
  { name: 'Apple', needsRole: true, aliases: ['apple id'], domains: ['apple.com', 'itunes.com'] },
  { name: 'iCloud', domains: ['apple.com'] },
  { name: 'Adobe', domains: ['adobe.com', 'adobesign.com', 'echosign.com'] },
  { name: 'DocuSign', domains: ['docusign.com', 'docusign.net'] },
  { name: 'Dropbox', domains: ['dropbox.com', 'dropboxmail.com'] },
  { name: 'OneDrive', domains: ['microsoft.com', 'office.com', 'sharepointonline.com'] },
  { name: 'SharePoint', domains: ['microsoft.com', 'office.com', 'sharepointonline.com'] },
  { name: 'Zoom', needsRole: true, domains: ['zoom.us', 'zoom.com'] },
  { name: 'Slack', needsRole: true, domains: ['slack.com'] },
  { name: 'GitHub', domains: ['github.com'] },
  { name: 'GoDaddy', domains: ['godaddy.com'] },
  { name: 'IONOS', domains: ['ionos.com', '1und1.de', '1and1.com'] },
  { name: 'McAfee', domains: ['mcafee.com'] },
  {
    name: 'Norton',
    needsRole: true,
    domains: ['norton.com', 'nortonlifelock.com', 'gendigital.com'],
  },
  // Social networks and media.
  { name: 'Facebook', domains: ['facebook.com', 'facebookmail.com', 'meta.com', 'fb.com'] },
  {
    name: 'Meta',
    needsRole: true,
    domains: ['meta.com', 'facebook.com', 'facebookmail.com', 'fb.com', 'metamail.com'],
  },
  { name: 'Instagram', domains: ['instagram.com', 'facebookmail.com', 'meta.com'] },
  { name: 'WhatsApp', domains: ['whatsapp.com', 'facebookmail.com', 'meta.com'] },
  { name: 'LinkedIn', domains: ['linkedin.com'] },
  { name: 'TikTok', domains: ['tiktok.com', 'bytedance.com'] },
  { name: 'Netflix', domains: ['netflix.com'] },
  { name: 'Spotify', domains: ['spotify.com'] },
  { name: 'Steam', needsRole: true, domains: ['steampowered.com', 'valvesoftware.com'] },
  // Shops, travel and parcels.
  { name: 'Amazon', domains: ['amazon.com', 'amazon.co.uk', 'primevideo.com', 'audible.com'] },
  { name: 'eBay', domains: ['ebay.com'] },
  { name: 'Walmart', domains: ['walmart.com'] },
  { name: 'Costco', domains: ['costco.com'] },
  { name: 'Booking.com', needsRole: true, aliases: ['booking'], domains: ['booking.com'] },
  { name: 'Airbnb', domains: ['airbnb.com'] },
  { name: 'DHL', domains: ['dhl.com', 'dhl.de', 'deutschepost.de', 'dpdhl.com'] },
  { name: 'UPS', needsRole: true, domains: ['ups.com', 'upsemail.com'] },
  { name: 'FedEx', domains: ['fedex.com'] },
  { name: 'USPS', domains: ['usps.com', 'usps.gov'] },
  { name: 'Royal Mail', domains: ['royalmail.com', 'royalmail.co.uk'] },
  { name: 'DPD', needsRole: true, domains: ['dpd.com', 'dpd.de', 'dpd.co.uk', 'dpdgroup.com'] },
  // Public services.
  { name: 'IRS', aliases: ['internal revenue service'], domains: ['irs.gov', 'treasury.gov'] },
  { name: 'HMRC', domains: ['hmrc.gov.uk', 'gov.uk'] },
];
