package daemon

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificateAge is how often, at most, the files of a certificate are looked at.
const certificateAge = time.Second

// certificate is the certificate of two files, read again when they change. Files that cannot be used, such as a new
// certificate whose key has not been written yet, leave the former one in use. It is safe for concurrent use; mu
// guards the fields below it.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu     sync.Mutex
	is     *tls.Certificate // the one in use
	seen   [2]stamp         // of the files when they were last read, with or without success
	looked time.Time        // when the files were last looked at
}

// stamp tells whether a file has changed, without reading it.
type stamp struct {
	modified time.Time
	size     int64
}

// newCertificate reads the files. At the start, unlike later, files that cannot be used are an error.
func newCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log, looked: time.Now()}
	var err error
	if c.seen, err = c.stamps(); err == nil {
		c.is, err = c.loadPair()
	}
	if err != nil {
		return nil, fmt.Errorf("the certificate cannot be used; check --tls-cert and --tls-key: %w", err)
	}
	return c, nil
}

// loadPair reads both files, and fails unless the key belongs to the certificate.
func (c *certificate) loadPair() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return nil, fmt.Errorf("%s with %s: %w", c.certFile, c.keyFile, err)
	}
	return &pair, nil
}

// stamps looks at both files. One that is missing has the zero stamp, and is an error.
func (c *certificate) stamps() (all [2]stamp, err error) {
	for i, name := range []string{c.certFile, c.keyFile} {
		info, statErr := os.Stat(name)
		if statErr != nil {
			err = errors.Join(err, statErr)
			continue
		}
		all[i] = stamp{info.ModTime(), info.Size()}
	}
	return all, err
}

// getCertificate is the GetCertificate of a tls.Config. It looks at the files in the handshake, at most once a second,
// so nothing runs while nobody connects; handshakes wait for each other meanwhile.
func (c *certificate) getCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) >= certificateAge {
		c.looked = time.Now()
		c.renew()
	}
	return c.is, nil
}

// renew reads files that have changed. Files that cannot be used are reported once, until they change again. The
// caller holds mu.
func (c *certificate) renew() {
	seen, err := c.stamps()
	// Files that could not be used count as seen too, so that they are logged once.
	if seen == c.seen {
		return
	}
	c.seen = seen
	var pair *tls.Certificate
	if err == nil {
		pair, err = c.loadPair()
	}
	if err != nil {
		c.log.Warn("the certificate's files have changed and cannot be used; the former certificate stays in use",
			"error", err)
		return
	}
	c.is = pair
	c.log.Info("the certificate was read again", "file", c.certFile, "expires", pair.Leaf.NotAfter)
}
