/** Generated from src/analysis/checks by `npm run generate`; do not edit. */

import type { CheckDeclaration } from './check.ts';

export const DECLARATIONS: Record<string, CheckDeclaration> = {
  "dkim": {
    "issueTitle": "No DKIM signature that all mailbox providers accept",
    "publicEvidence": {
      "signatures": {
        "domain": "shown",
        "selector": "shown",
        "algorithm": "shown",
        "bits": "shown",
        "result": "shown",
        "reason": "shown",
        "expires": "shown",
        "body_length_limit": "shown",
        "warnings": "shown"
      },
      "signatures_not_looked_at": "shown"
    }
  },
  "dkim_alignment": {
    "issueTitle": "DKIM is not aligned with the From domain",
    "publicEvidence": {
      "from_domain": "shown",
      "mode": "shown",
      "aligned": "shown",
      "signatures": {
        "domain": "shown",
        "selector": "shown",
        "algorithm": "shown",
        "bits": "shown",
        "result": "shown",
        "reason": "shown",
        "expires": "shown",
        "body_length_limit": "shown",
        "warnings": "shown"
      },
      "signatures_not_looked_at": "shown"
    }
  },
  "dkim_key": {
    "issueTitle": "The DKIM key is weak, revoked or not widely accepted",
    "publicEvidence": {
      "only_ed25519": "shown",
      "signatures": {
        "domain": "shown",
        "selector": "shown",
        "algorithm": "shown",
        "bits": "shown",
        "result": "shown",
        "reason": "shown",
        "expires": "shown",
        "body_length_limit": "shown",
        "warnings": "shown"
      },
      "signatures_not_looked_at": "shown"
    }
  },
  "dkim_coverage": {
    "issueTitle": "A DKIM signature is incomplete or has expired",
    "publicEvidence": {
      "signatures": {
        "domain": "shown",
        "selector": "shown",
        "algorithm": "shown",
        "bits": "shown",
        "result": "shown",
        "reason": "shown",
        "expires": "shown",
        "body_length_limit": "shown",
        "warnings": "shown"
      },
      "signatures_not_looked_at": "shown",
      "judged": "shown",
      "signed": "shown",
      "not_signed": "shown"
    }
  },
  "spf": {
    "issueTitle": "SPF does not pass",
    "publicEvidence": {
      "result": "shown",
      "identity": "shown",
      "checked": "mailbox-domain",
      "domain": "shown",
      "client_ip": "shown",
      "record": "shown",
      "reason": "shown",
      "explanation": "unquoted",
      "assumed": "shown",
      "sending_service": "shown",
      "service_evidence": "shown"
    }
  },
  "spf_alignment": {
    "issueTitle": "SPF is not aligned with the From domain",
    "publicEvidence": {
      "envelope_domain": "shown",
      "from_domain": "shown",
      "mode": "shown",
      "identity": "shown"
    }
  },
  "spf_record": {
    "issueTitle": "The SPF record is missing or has problems",
    "publicEvidence": {
      "domain": "shown",
      "records": "shown",
      "lookups": "shown",
      "void_lookups": "shown",
      "octets": "shown",
      "unanswered": "shown",
      "tree": {
        "domain": "shown",
        "via": "shown",
        "state": "shown",
        "record": "shown",
        "includes": "as-parent"
      }
    }
  },
  "dmarc": {
    "issueTitle": "DMARC does not pass",
    "publicEvidence": {
      "result": "shown",
      "from_domain": "shown",
      "organizational_domain": "shown",
      "record_domain": "shown",
      "record": "shown",
      "policy": "shown",
      "spf": {
        "result": "shown",
        "domain": "shown",
        "aligned": "shown",
        "mode": "shown"
      },
      "dkim": {
        "result": "shown",
        "domain": "shown",
        "aligned": "shown",
        "mode": "shown"
      }
    }
  },
  "dmarc_policy": {
    "issueTitle": "The DMARC policy is missing or not enforced",
    "publicEvidence": {
      "record": "shown",
      "record_domain": "shown",
      "from_domain": "shown",
      "tag": "shown",
      "published": "shown",
      "policy": "shown",
      "testing": "shown",
      "records": "shown"
    }
  },
  "dmarc_record": {
    "issueTitle": "The DMARC record has errors or no working report address",
    "publicEvidence": {
      "record": "shown",
      "record_domain": "shown",
      "obsolete_tags": "shown",
      "unknown_tags": "shown",
      "external_destinations": {
        "domain": "shown",
        "name": "shown",
        "authorized": "shown"
      },
      "discarded": {
        "domain": "shown",
        "texts": "shown",
        "why": "shown"
      },
      "records": "shown",
      "why": "shown"
    }
  },
  "arc": {
    "publicEvidence": {
      "result": "shown",
      "reason": "shown",
      "seals": "shown",
      "chain": {
        "instance": "shown",
        "domain": "shown",
        "cv": "shown"
      },
      "unanswered": "shown"
    }
  },
  "bimi": {
    "publicEvidence": {
      "name": "shown",
      "record": "shown",
      "logo": "shown",
      "certificate": "shown",
      "logo_file": {
        "bytes": "shown",
        "title": "shown",
        "view_box": "shown"
      },
      "certificate_file": {
        "kind": "shown",
        "mark_type": "shown",
        "names": "shown",
        "issuer": "shown",
        "valid_from": "shown",
        "valid_to": "shown",
        "logotype": "shown"
      },
      "problems": "shown",
      "obstacles": "shown",
      "not_found_out": "shown"
    }
  },
  "dkim2": {
    "publicEvidence": {
      "dkim2_signatures": "shown",
      "domains": "shown",
      "result": "shown",
      "reason": "shown",
      "draft": "shown"
    }
  },
  "ip_blocklists": {
    "issueTitle": "The sending IP address is on a blocklist",
    "publicEvidence": {
      "client_ip": "shown",
      "lists": {
        "zone": "shown",
        "name": "shown",
        "tier": "shown",
        "status": "shown",
        "codes": "shown",
        "meaning": "shown",
        "listed": "shown",
        "text": "shown",
        "delisting": "our-page"
      }
    }
  },
  "domain_blocklists": {
    "issueTitle": "A sender domain is on a blocklist",
    "publicEvidence": {
      "domains": {
        "name": "shown",
        "roles": "shown"
      },
      "not_asked": "shown",
      "lists": {
        "zone": "shown",
        "name": "shown",
        "tier": "shown",
        "status": "shown",
        "codes": "shown",
        "meaning": "shown",
        "listed": "shown",
        "text": "shown",
        "delisting": "our-page"
      }
    }
  },
  "link_blocklists": {
    "issueTitle": "A link leads to a domain on a blocklist",
    "publicEvidence": {
      "asked": "shown",
      "not_asked": "shown",
      "lists": {
        "zone": "shown",
        "name": "shown",
        "tier": "shown",
        "status": "shown",
        "codes": "shown",
        "meaning": "shown",
        "listed": "shown",
        "text": "shown",
        "delisting": "our-page"
      }
    }
  },
  "allowlists": {
    "publicEvidence": {
      "client_ip": "shown",
      "lists": {
        "zone": "shown",
        "name": "shown",
        "tier": "shown",
        "status": "shown",
        "codes": "shown",
        "meaning": "shown",
        "listed": "shown",
        "text": "shown",
        "delisting": "our-page"
      }
    }
  },
  "ptr": {
    "issueTitle": "Reverse DNS of the sending IP address is missing or generic",
    "publicEvidence": {
      "client_ip": "shown",
      "asked": "shown",
      "names": "shown",
      "unanswered": "shown"
    }
  },
  "fcrdns": {
    "issueTitle": "The reverse DNS name does not resolve back",
    "publicEvidence": {
      "client_ip": "shown",
      "resolved": {
        "name": "shown",
        "addresses": "shown"
      },
      "unanswered": "shown"
    }
  },
  "helo": {
    "issueTitle": "The HELO name is invalid or does not resolve to the server",
    "publicEvidence": {
      "helo": "shown",
      "client_ip": "shown",
      "addresses": "shown",
      "length": "shown",
      "unanswered": "shown"
    }
  },
  "tls": {
    "issueTitle": "Delivered without TLS, or with an outdated version",
    "publicEvidence": {
      "used": "shown",
      "version": "shown",
      "cipher": "shown"
    }
  },
  "mx": {
    "issueTitle": "MX records are missing or unusable",
    "publicEvidence": {
      "domains": {
        "domain": "shown",
        "kind": "shown",
        "hosts": {
          "name": "shown",
          "preference": "shown",
          "resolves": "shown",
          "ipv6": "shown",
          "problem": "shown"
        }
      },
      "unanswered": "shown"
    }
  },
  "return_path": {
    "issueTitle": "Bounces cannot be delivered",
    "publicEvidence": {
      "mail_from": "mailbox-domain",
      "domain": "shown",
      "kind": "shown",
      "unanswered": "shown"
    }
  },
  "received_path": {
    "publicEvidence": null
  },
  "forwarding": {
    "publicEvidence": {
      "kind": "shown",
      "by": "shown",
      "list_id": "shown",
      "changed": "shown",
      "signs": "shown",
      "seals": {
        "instance": "shown",
        "domain": "shown",
        "results": "shown"
      }
    }
  },
  "ipv6": {
    "publicEvidence": {
      "client_ip": "shown",
      "protocol": "shown",
      "domain": "shown",
      "hosts_with_ipv6": "shown",
      "unanswered": "shown"
    }
  },
  "mta_sts": {
    "publicEvidence": {
      "name": "shown",
      "records": "shown",
      "policy_url": "shown",
      "policy": {
        "": "shown",
        "version": "shown",
        "mode": "shown",
        "max_age": "shown",
        "mx": "shown",
        "content_type": "shown"
      },
      "problems": "shown",
      "unanswered": "shown"
    }
  },
  "tls_rpt": {
    "publicEvidence": {
      "name": "shown",
      "records": "shown",
      "destinations": "shown",
      "needed_by": "shown",
      "unanswered": "shown"
    }
  },
  "dane": {
    "publicEvidence": {
      "hosts": {
        "host": "shown",
        "name": "shown",
        "records": "shown",
        "authenticated": "shown",
        "certificate": "shown"
      },
      "problems": "shown",
      "unanswered": "shown"
    }
  },
  "dnssec": {
    "publicEvidence": {
      "domain": "shown",
      "ds": "shown",
      "validated": "shown",
      "unanswered": "shown"
    }
  },
  "from": {
    "issueTitle": "The From field is missing or invalid",
    "publicEvidence": {
      "address": "shown",
      "name": "shown",
      "values": "shown",
      "from": "shown",
      "problem": "shown",
      "addresses": "shown",
      "sender": "shown",
      "shown": "shown",
      "brand": "shown",
      "signed_by": "shown"
    }
  },
  "date": {
    "issueTitle": "The Date field is missing or invalid",
    "publicEvidence": {
      "date": "shown",
      "sent_at": "shown",
      "received_at": "shown"
    }
  },
  "message_id": {
    "issueTitle": "Message-ID is missing or invalid",
    "publicEvidence": {
      "message_id": "shown",
      "values": "shown"
    }
  },
  "recipients": {
    "issueTitle": "Too many recipients in To and Cc, or none",
    "publicEvidence": {
      "to": "shown",
      "cc": "shown"
    }
  },
  "subject": {
    "issueTitle": "The subject is missing, empty or too long",
    "publicEvidence": {
      "octets": "shown",
      "limit": "shown"
    }
  },
  "header_duplicates": {
    "issueTitle": "Header fields that must be unique are repeated",
    "publicEvidence": {
      "counts": {
        "*": "shown"
      }
    }
  },
  "line_length": {
    "issueTitle": "Lines are too long",
    "publicEvidence": {
      "longest": "shown",
      "line": "shown",
      "too_long": "shown",
      "lines": "shown",
      "recommended": "shown"
    }
  },
  "encoding": {
    "issueTitle": "Bytes or lines that mail standards do not allow",
    "publicEvidence": {
      "nul": "shown",
      "bare_cr": "shown",
      "bare_lf": "shown",
      "eight_bit_header": "shown",
      "eight_bit_body": "shown",
      "limits": "shown",
      "eight_bit_fields": "field-name",
      "structure": {
        "problem": "shown",
        "line": "shown"
      }
    },
    "publicTexts": [
      {
        "matches": "\".*\" has no field name(?= before a colon\\.)",
        "replacement": "The line has no field name"
      }
    ]
  },
  "message_protection": {
    "publicEvidence": {
      "kind": "shown",
      "by": "shown",
      "opaque": "shown"
    }
  },
  "reply_to": {
    "issueTitle": "Reply-To is invalid or at another domain",
    "publicEvidence": {
      "reply_to": "token-free"
    }
  },
  "list_unsubscribe": {
    "issueTitle": "List-Unsubscribe is missing or invalid",
    "publicEvidence": {
      "values": "unquoted",
      "https": "host",
      "mailto": "host",
      "http": "host",
      "problem": "shown"
    }
  },
  "one_click": {
    "issueTitle": "One-click unsubscribe is missing or invalid",
    "publicEvidence": {
      "https": "host",
      "post": "shown"
    }
  },
  "one_click_signed": {
    "issueTitle": "One-click unsubscribe is not covered by DKIM",
    "publicEvidence": {
      "signatures": {
        "domain": "shown",
        "selector": "shown",
        "algorithm": "shown",
        "bits": "shown",
        "result": "shown",
        "reason": "shown",
        "expires": "shown",
        "body_length_limit": "shown",
        "warnings": "shown"
      },
      "signatures_not_looked_at": "shown"
    }
  },
  "unsubscribe_link": {
    "issueTitle": "No working unsubscribe link in the body",
    "publicEvidence": {
      "links": {
        "href": "host",
        "text": "unquoted",
        "part": "shown"
      }
    }
  },
  "feedback_id": {
    "publicEvidence": {
      "feedback_id": "left-out",
      "sender": "shown",
      "fields": "shown"
    }
  },
  "precedence": {
    "publicEvidence": {
      "precedence": "shown",
      "auto_submitted": "shown"
    }
  },
  "no_reply": {
    "publicEvidence": {
      "from": "shown",
      "reply_to": "token-free"
    }
  },
  "text_part": {
    "issueTitle": "The text part is missing or empty",
    "publicEvidence": {
      "text": "shown",
      "html": "shown"
    }
  },
  "text_matches_html": {
    "issueTitle": "Text part and HTML differ",
    "publicEvidence": {
      "html_words": "shown",
      "text_words": "shown",
      "share_of_html_in_text": "shown",
      "share_of_text_in_html": "shown",
      "only_in_html": "unquoted",
      "only_in_text": "unquoted"
    }
  },
  "html_structure": {
    "issueTitle": "The HTML has errors",
    "publicEvidence": {
      "problems": "shown",
      "count": "shown"
    }
  },
  "html_size": {
    "issueTitle": "The HTML is close to or above the Gmail size limit",
    "publicEvidence": {
      "octets": "shown",
      "warn_at": "shown",
      "clipped_near": "shown"
    }
  },
  "message_size": {
    "issueTitle": "The message is large",
    "publicEvidence": {
      "octets": "shown",
      "largest_parts": {
        "type": "shown",
        "filename": "file-name",
        "octets": "shown"
      }
    }
  },
  "image_ratio": {
    "issueTitle": "Too little text for the number of images",
    "publicEvidence": {
      "words": "shown",
      "images": "shown",
      "words_wanted": "shown"
    }
  },
  "image_alt": {
    "issueTitle": "Images without alt text",
    "publicEvidence": {
      "images": "shown",
      "without": "shown",
      "found": {
        "src": "host",
        "problem": "shown"
      }
    }
  },
  "attachments": {
    "issueTitle": "Attachments that mailbox providers block or distrust",
    "publicEvidence": {
      "attachments": "shown",
      "files": "file-name",
      "found": {
        "file": "file-extension",
        "type": "shown",
        "octets": "shown",
        "problem": "archive-member",
        "refused": "shown",
        "blocked_by": "shown"
      }
    },
    "publicTexts": [
      {
        "list": "found",
        "phrase": "Your attachment {file} {problem}"
      }
    ]
  },
  "active_content": {
    "issueTitle": "The HTML has scripts, forms or other active content",
    "publicEvidence": {
      "found": {
        "*": "shown"
      }
    }
  },
  "hidden_text": {
    "issueTitle": "The message contains hidden text",
    "publicEvidence": {
      "characters": "shown",
      "preheader_characters": "shown",
      "hidden": {
        "how": "shown",
        "text": "unquoted"
      }
    }
  },
  "link_text": {
    "issueTitle": "Links show a different domain than they lead to",
    "publicEvidence": {
      "links": "shown",
      "problems": "shown",
      "found": {
        "text": "unquoted",
        "shows": "shown",
        "leads_to": "shown",
        "href": "host"
      }
    }
  },
  "link_host": {
    "issueTitle": "Links to hosts that spam filters distrust",
    "publicEvidence": {
      "links": "shown",
      "problems": "shown",
      "found": {
        "href": "host",
        "text": "unquoted",
        "problem": "shown"
      }
    }
  },
  "link_scheme": {
    "issueTitle": "Links are not encrypted or do not open everywhere",
    "publicEvidence": {
      "links": "shown",
      "problems": "shown",
      "found": {
        "href": "host",
        "text": "unquoted",
        "problem": "shown"
      }
    }
  },
  "link_shorteners": {
    "issueTitle": "Links use a public URL shortener",
    "publicEvidence": {
      "links": "shown",
      "problems": "shown",
      "found": {
        "href": "host",
        "text": "unquoted",
        "problem": "shown"
      }
    }
  },
  "link_status": {
    "issueTitle": "Some links are dead",
    "publicEvidence": {
      "works": "shown",
      "dead": "shown",
      "unknown": "shown",
      "not_asked": "shown",
      "links": {
        "href": "host",
        "status": "shown",
        "reason": "shown"
      }
    }
  },
  "merge_tags": {
    "issueTitle": "Merge tags were not filled in",
    "publicEvidence": {
      "subject": "shown",
      "preheader": "shown",
      "html": "shown",
      "text_part": "shown",
      "header_fields": "shown",
      "unsubscribe_addresses": "shown",
      "links": "shown",
      "images": "shown"
    }
  },
  "subject_style": {
    "issueTitle": "The subject looks like spam",
    "publicEvidence": {
      "subject": "shown",
      "found": "shown"
    }
  },
  "tracking_pixel": {
    "publicEvidence": {
      "found": "host"
    }
  },
  "preheader": {
    "publicEvidence": null
  },
  "client_support": {
    "publicEvidence": {
      "data_of": "shown",
      "clients": "shown",
      "features_used": "shown",
      "features": {
        "feature": "shown",
        "missing_in": "shown",
        "partly_in": "shown",
        "url": "our-page"
      }
    }
  },
  "spamassassin": {
    "issueTitle": "SpamAssassin rates the message as spam or close to it",
    "publicEvidence": {
      "score": "shown",
      "threshold": "shown",
      "engine_score": "shown",
      "rules": {
        "rule": "shown",
        "score": "shown",
        "description": "engine-text"
      },
      "checked_elsewhere": {
        "rule": "shown",
        "score": "shown",
        "description": "engine-text"
      }
    }
  },
  "rspamd": {
    "issueTitle": "Rspamd rates the message as spam or close to it",
    "publicEvidence": {
      "score": "shown",
      "threshold": "shown",
      "engine_score": "shown",
      "rules": {
        "rule": "shown",
        "score": "shown",
        "description": "engine-text"
      },
      "checked_elsewhere": {
        "rule": "shown",
        "score": "shown",
        "description": "engine-text"
      },
      "action": "shown",
      "threshold_of": "shown",
      "reject_at": "shown"
    }
  },
  "caa": {
    "publicEvidence": {
      "domain": "shown",
      "name": "shown",
      "records": "shown",
      "issuers": "shown",
      "problems": "shown",
      "unanswered": "shown"
    }
  },
  "mx_tls": {
    "issueTitle": "Mail servers do not all support verified TLS",
    "publicEvidence": {
      "hosts": {
        "host": "shown",
        "status": "shown",
        "detail": "shown",
        "version": "shown",
        "certificate": {
          "valid": "shown",
          "problem": "shown",
          "names": "shown",
          "issuer": "shown",
          "validTo": "shown"
        }
      },
      "unanswered": "shown"
    }
  },
  "dkim_selector": {
    "issueTitle": "A DKIM key is missing, revoked or weak",
    "publicEvidence": {
      "domain": "shown",
      "selector": "shown",
      "name": "shown",
      "known": "shown",
      "records": "shown",
      "type": "shown",
      "bits": "shown"
    }
  }
};
