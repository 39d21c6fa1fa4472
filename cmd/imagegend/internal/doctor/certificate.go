package doctor

import (
	"crypto/tls"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
)

// Certificate looks at the files of --tls-cert and --tls-key; nil if none are named. serve starts with a certificate
// that has expired, which it may be about to replace, but no caller accepts it.
func Certificate(s config.Server, now time.Time) []Finding {
	if s.TLSCert == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(s.TLSCert, s.TLSKey)
	if err != nil {
		return []Finding{ok("certificate", "%s with %s: %v", s.TLSCert, s.TLSKey,
			err).fails("check --tls-cert and --tls-key; serve does not start without them")}
	}
	ends := pair.Leaf.NotAfter
	f := ok("certificate", "%s is valid until %s", s.TLSCert, ends.UTC().Format(time.DateTime))
	if now.After(ends) {
		f = f.says("%s has expired at %s", s.TLSCert, ends.UTC().Format(time.DateTime)).
			fails("renew it; serve reads it again when the file changes")
	}
	return []Finding{f}
}
