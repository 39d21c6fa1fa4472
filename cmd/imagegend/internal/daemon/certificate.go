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

// certificateAge is how long a certificate is used before its files are looked at again.
const certificateAge = time.Second

// certificate is one of two files, read anew when they change. Files that will not do, such as a new certificate
// whose key is still to come, leave the former in use.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu     sync.Mutex
	is     *tls.Certificate
	seen   [2]stamp // of the files that were read last, of whichever outcome
	looked time.Time
}

// stamp changes when a file does.
type stamp struct {
	modified time.Time
	size     int64
}

func newCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log, looked: time.Now()}
	var err error
	if c.seen, err = c.stamps(); err == nil {
		c.is, err = c.read()
	}
	if err != nil {
		return nil, fmt.Errorf("the certificate cannot be used; check --tls-cert and --tls-key: %w", err)
	}
	return c, nil
}

func (c *certificate) read() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return nil, fmt.Errorf("%s with %s: %w", c.certFile, c.keyFile, err)
	}
	return &pair, nil
}

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

// get is a tls.Config's GetCertificate.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) >= certificateAge {
		c.looked = time.Now()
		c.renew()
	}
	return c.is, nil
}

// renew reads files that have changed, once.
func (c *certificate) renew() {
	seen, err := c.stamps()
	if seen == c.seen {
		return
	}
	c.seen = seen
	var pair *tls.Certificate
	if err == nil {
		pair, err = c.read()
	}
	if err != nil {
		c.log.Warn("the certificate's files have changed and cannot be used; the former certificate stays", "error", err)
		return
	}
	c.is = pair
	c.log.Info("the certificate was read anew", "file", c.certFile, "expires", pair.Leaf.NotAfter)
}
