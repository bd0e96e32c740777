/** Companies that send mail for their customers in their own name, so that the customers can publish nothing for it. */

import { table } from '../../lib/table.ts';
import { suffixIndex } from './service.ts';

export interface Vendor {
  name: string;
  domains: string[];
  /** How its customers can send from a domain of their own instead; null if that is not known to be possible. */
  guide: string | null;
}

/** The name, its domains, and the guide without `https://`. */
const VENDORS: Vendor[] = table`
Acuity Scheduling | acuityscheduling.com
Airbnb | airbnb.com
Amazon | amazon.com amazon.co.uk amazon.de amazon.fr amazon.it amazon.es amazon.ca amazon.co.jp
Apple | apple.com
Asana | asana.com
Bandcamp | bandcamp.com
BILL | bill.com
Booking.com | booking.com
Buy Me a Coffee | buymeacoffee.com
Calendly | calendly.com
Canva | canva.com
DHL | dhl.com dhl.de
Discord | discord.com
Doctolib | doctolib.com doctolib.fr doctolib.de doctolib.it
Docusign | docusign.net docusign.com
Doodle | doodle.com
Dropbox | dropbox.com dropboxmail.com
eBay | ebay.com ebay.co.uk ebay.de ebay.fr ebay.it
Etsy | etsy.com
Eventbrite | eventbrite.com
Facebook | facebookmail.com facebook.com
FedEx | fedex.com
Figma | figma.com
Fresha | fresha.com
FreshBooks | freshbooks.com
GitHub | github.com
GitLab | gitlab.com
GoCardless | gocardless.com
GoFundMe | gofundme.com
Google | google.com
Gumroad | gumroad.com
HoneyBook | honeybook.com
Indeed | indeed.com indeedemail.com
Instagram | instagram.com
Intuit QuickBooks | intuit.com
Jobber | getjobber.com
Kickstarter | kickstarter.com
Klarna | klarna.com
Ko-fi | ko-fi.com
Lexware Office | lexoffice.de lexware.de
LinkedIn | linkedin.com
Medium | medium.com
Meetup | meetup.com
Microsoft | microsoft.com
Mindbody | mindbodyonline.com
Mollie | mollie.com
Monday.com | monday.com
MYOB | myob.com
Nextdoor | nextdoor.com
Notion | notion.so
OpenTable | opentable.com opentable.co.uk
PandaDoc | pandadoc.com pandadoc.net
Patreon | patreon.com
PayPal | paypal.com paypal.de paypal.co.uk paypal.fr paypal.it paypal.es | developer.paypal.com/invoicing/use-your-email-domain/set-up-domain
Pinterest | pinterest.com
Revolut | revolut.com
Sage | sage.com
sevdesk | sevdesk.de
Slack | slack.com
Square | squareup.com square.com
Stripe | stripe.com | docs.stripe.com/get-started/account/email-domain
Substack | substack.com
SumUp | sumup.com
SurveyMonkey | surveymonkey.com
Ticketmaster | ticketmaster.com ticketmaster.co.uk ticketmaster.de
TikTok | tiktok.com
Toast | toasttab.com
Trello | trello.com
Tripadvisor | tripadvisor.com
Trustpilot | trustpilot.com trustpilotmail.com
Typeform | typeform.com
Uber | uber.com
UPS | ups.com
Upwork | upwork.com
Vimeo | vimeo.com
Vinted | vinted.com
Vistaprint | vistaprint.com
Wave | waveapps.com
WeTransfer | wetransfer.com
Wise | wise.com
X | x.com twitter.com
Xero | xero.com
Zoho Books | zohobooks.com zohobooks.eu zohobooks.in
Zoho Invoice | zohoinvoice.com zohoinvoice.eu zohoinvoice.in
Zoom | zoom.us zoom.com
`.map(([name = '', domains = '', guide]) => ({
  name,
  domains: domains.split(' '),
  guide: guide === undefined ? null : `https://${guide}`,
}));

const byDomain = suffixIndex(VENDORS.map((vendor) => [vendor, vendor.domains]));

/** The vendor with this domain, or one above it. */
export const vendorOf = (domain: string): Vendor | undefined => byDomain(domain)[0];
