/** Newsletters as the tools of large senders create them: no check may complain about their HTML. */

const FILLER = '&zwnj;&nbsp;&#847;&shy; '.repeat(60);

/** Table layout with ghost tables for Outlook, `font-size:0` around columns, and a bulletproof button. */
export const COLUMNS = `<!doctype html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office">
<head>
<title>Spring at the garden centre</title>
<!--[if !mso]><!--><meta http-equiv="X-UA-Compatible" content="IE=edge"><!--<![endif]-->
<meta http-equiv="Content-Type" content="text/html; charset=UTF-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style type="text/css">
  #outlook a { padding:0; }
  body { margin:0;padding:0;-webkit-text-size-adjust:100%; }
  table, td { border-collapse:collapse; }
  p { display:block;margin:13px 0; }
</style>
<!--[if mso]><noscript><xml><o:OfficeDocumentSettings><o:AllowPNG/></o:OfficeDocumentSettings></xml></noscript><style>.mj-outlook-group-fix { width:100% !important; display:none }</style><![endif]-->
<!--[if !mso]><!--><link href="https://fonts.example.com/css?family=Ubuntu" rel="stylesheet" type="text/css">
<style type="text/css">@import url(https://fonts.example.com/css?family=Ubuntu);</style><!--<![endif]-->
<style type="text/css">
  @media only screen and (min-width:480px) {
    .mj-column-per-50 { width:50% !important; max-width: 50%; }
    .hide-desktop { display:none !important; }
  }
  @media only screen and (max-width:479px) {
    .hide-mobile { display:none !important; }
    .show-mobile { display:block !important; max-height:none !important; font-size:16px !important; }
    table.full, td.full { width:100% !important; }
  }
  @media (prefers-color-scheme: dark) {
    .dark-text { color:#ffffff !important; }
    .dark-logo { display:block !important; }
    .light-logo { display:none !important; }
  }
  [data-ogsc] .dark-text { color:#ffffff !important; }
  u + .body .gmail-blend { background:#000; mix-blend-mode:screen; }
</style>
</head>
<body style="word-spacing:normal;background-color:#f4f4f4;" class="body">
<div style="display:none;font-size:1px;color:#ffffff;line-height:1px;max-height:0px;max-width:0px;opacity:0;overflow:hidden;">Three easy plants for the first warm days, and 20% off all seeds.${FILLER}</div>
<div style="background-color:#f4f4f4;">
<!--[if mso | IE]><table align="center" border="0" cellpadding="0" cellspacing="0" style="width:600px;" width="600" bgcolor="#ffffff"><tr><td style="line-height:0px;font-size:0px;mso-line-height-rule:exactly;"><![endif]-->
<div style="background:#ffffff;background-color:#ffffff;margin:0px auto;max-width:600px;">
<table align="center" border="0" cellpadding="0" cellspacing="0" role="presentation" style="background:#ffffff;width:100%;"><tbody><tr>
<td style="direction:ltr;font-size:0px;padding:20px 0;text-align:center;">
<!--[if mso | IE]><table role="presentation" border="0"><tr><td style="vertical-align:top;width:300px;"><![endif]-->
<div class="mj-column-per-50 mj-outlook-group-fix" style="font-size:0px;text-align:left;display:inline-block;vertical-align:top;width:100%;">
<table border="0" role="presentation" width="100%"><tbody>
<tr><td align="center" style="font-size:0px;padding:10px 25px;word-break:break-word;"><a href="https://www.example.com/?utm_source=mail" target="_blank"><img class="light-logo" alt="Example Garden Centre" height="auto" src="https://cdn.example.com/logo.png" style="border:0;display:block;outline:none;width:100%;" width="150"></a><img class="dark-logo" style="display:none" alt="" src="https://cdn.example.com/logo-dark.png" width="150"></td></tr>
<tr><td align="left" style="font-size:0px;padding:10px 25px;word-break:break-word;"><div class="dark-text" style="font-family:Ubuntu, sans-serif;font-size:13px;line-height:1.5;text-align:left;color:#000000;"><h1>Spring is here</h1><p>Hello Anna,</p><p>the days get longer, and your balcony waits for its first flowers. We have picked three plants that forgive a late frost, need little water and bloom until autumn.</p></div></td></tr>
</tbody></table></div>
<!--[if mso | IE]></td><td style="vertical-align:top;width:300px;"><![endif]-->
<div class="mj-column-per-50" style="font-size:0px;display:inline-block;width:100%;">
<table border="0" role="presentation" width="100%"><tbody>
<tr><td style="font-size:0px;padding:10px 25px;"><img alt="A pot of pansies on a window sill" src="https://cdn.example.com/pansies.jpg" width="250" style="width:100%"></td></tr>
<tr><td style="font-size:0px;"><div style="font-size:14px;color:#333">Pansies stand the cold well. Plant them now, water them once a week, and take off what has faded so that new buds follow. In a pot of twenty centimetres there is room for three.</div></td></tr>
<tr><td align="center" style="font-size:0px;padding:10px 25px;">
<!--[if mso]><v:roundrect xmlns:v="urn:schemas-microsoft-com:vml" href="https://www.example.com/shop" style="height:40px;v-text-anchor:middle;width:200px;" arcsize="10%" fillcolor="#2e7d32"><w:anchorlock/><center style="color:#ffffff;">To the shop</center></v:roundrect><![endif]-->
<a href="https://www.example.com/shop" style="background-color:#2e7d32;border-radius:4px;color:#ffffff;display:inline-block;font-size:13px;line-height:40px;text-align:center;text-decoration:none;width:200px;-webkit-text-size-adjust:none;mso-hide:all;">To the shop</a>
</td></tr>
</tbody></table></div>
<!--[if mso | IE]></td></tr></table><![endif]-->
</td></tr></tbody></table></div>
<!--[if mso | IE]></td></tr></table><![endif]-->
<!--[if !mso]><!--><div class="show-mobile" style="display:none;mso-hide:all;max-height:0;overflow:hidden;font-size:0"><p>Show this page at the till and get a packet of cress for free, only with the telephone in your hand.</p></div><!--<![endif]-->
<table width="100%"><tr><td align="center" style="font-size:12px;color:#777">Example Garden Centre Ltd, 1 Green Lane, Sampletown<br>You get this mail because you signed up in our shop.<br><a href="https://www.example.com/unsubscribe?u=1" style="color:#777777">Unsubscribe</a> or <a href="mailto:hello@example.com">write to us</a>.
</table>
</div>
<img src="https://track.example.com/open.gif?id=1" alt="" width="1" height="1" border="0" style="height:1px !important;width:1px !important;">
</body>
</html>
`;

/** Classes, omitted optional end tags, a hero with a background image, spacers, obsolete attributes. */
export const CLASSIC = `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">
<html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8" />
<!--[if gte mso 15]><xml><o:OfficeDocumentSettings><o:PixelsPerInch>96</o:PixelsPerInch></o:OfficeDocumentSettings></xml><![endif]-->
<title>*|MC:SUBJECT|*</title>
<style type="text/css"><!--
  .preheader { display: none !important; visibility: hidden; opacity: 0; color: transparent; height: 0; width: 0; }
  #templateHero { background: #1a237e url('https://cdn.example.com/hero.jpg') no-repeat center/cover; }
  #templateHero h1, #templateHero .lead { color: #FFFFFF; }
  .btn td { background-color: #0d47a1 }
  .btn a { color: #ffffff; padding: 12px }
  .white { color: #fff }
  .ExternalClass * { line-height: 100% }
  a:hover { color: #fff }
  .mobileonly { display: none; mso-hide: all; }
  @media screen and (max-width: 600px) { *[class=mobileonly] { display: inline !important } td[class="desktop"] { display: none !important } }
--></style></head>
<body bgcolor="#FFFFFF" text="#333333" leftmargin="0" topmargin="0">
<span class="preheader">New trains from December: Sampletown to Exampleville in fifty minutes.</span>
<center>
<table width="100%" cellpadding="0" cellspacing="0" bgcolor="#ffffff" id="bodyTable"><tr><td align="center" valign="top">
<table width="600" cellpadding="0" cellspacing="0">
<tr><td id="templateHero" background="https://cdn.example.com/hero.jpg" height="300"><h1 class="white">The new timetable</h1><p class="lead white">From the second Sunday of December more trains run, earlier in the morning and later at night.</p>
<tr><td height="20" style="font-size:1px;line-height:20px">&nbsp;<tr><td><img src="https://cdn.example.com/spacer.gif" width="600" height="1" alt="" style="display:block">
<tr><td class="desktop"><font face="Arial, sans-serif" size="2" color="#333333">
<p>Dear customer,
<p>we have listened to what you wrote to us in the survey of last summer. The line to Exampleville gets four more trains a day, the last one leaves at half past eleven, and on weekends bicycles travel free of charge.
<ul><li>Every thirty minutes between six and nine<li>New stop at the hospital<li>Free wireless network on board</ul>
</font>
<table class="btn" cellpadding="0" cellspacing="0" align="center"><tr><td align="center" class="x"><a href="https://www.example.org/timetable?a=1&b=2">See the timetable</a></table>
<tr><td><a name="faq"></a><b>Questions?</b> Call us or <a href="https://www.example.org/help">read the answers to the most frequent ones</a>.<span class="mobileonly"> Tap to call: <a href="tel:+15550100">555 0100</a></span>
<tr><td><a href="https://www.example.org/app"><img src="https://cdn.example.com/app.png" width="564" height="120" alt="Get the app with all departures"></a>
</table>
</td></tr></table></center>
<img height="1" width="1" src="https://click.example.org/open/abc" alt="">
</body></html>
`;

/** An order confirmation: structured data for Gmail, a table with a total, few styles. */
export const RECEIPT = `<html><body>
<script type="application/ld+json">{"@context":"http://schema.org","@type":"Order","orderNumber":"1234"}</script>
<div dir="ltr"><div style="max-height:0;overflow:hidden;mso-hide:all" aria-hidden="true">Your order 1234 has been sent.</div>
<h2>Thank you for your order</h2>
<p>It left our house today and should reach you within two days. Here is what is in the parcel:</p>
<table border=1 cellpadding=6><thead><tr><th>Article<th>Price</thead><tbody><tr><td>Kettle, 1.7 l<td align=right>39.90<tr><td>Tea, 500 g<td align=right>12.50<tfoot><tr><td>Total<td align=right>52.40</table>
<p>If something is missing, answer to this message. <em>Your Example shop</em></p>
<p><small>Example shop Ltd, 2 Market Square, Sampletown</small></p></div>
</body></html>
`;
